// The SDK's own client, connected to `baton mcp`: in this process, or as a program of its own.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type ElicitRequest, ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { BATON, environment, start, until } from '../cli/baton.ts';
import { type OpenCall, openCall } from '../cli/in-process.ts';
import type { Answer } from '../cli/ledger-story.ts';

export type Connected = {
  readonly client: Client;
  /** Calls a tool and answers its verdict, which must come in both forms. */
  ask(name: string, args?: JsonObject): Promise<Answer>;
  names(): Promise<string[]>;
};

type Variables = NodeJS.ProcessEnv;

/** What the person at the client answers to a form; with it the client declares that it shows forms. */
export type Person = (form: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;

/** `baton mcp` in this process, by its standard input and output. */
export function overStdio(dir: string, env: Variables = {}, person?: Person): Promise<Connected> {
  return connected(transportOf(openCall(['mcp'], { cwd: dir, env: environmentIn(dir, env) })), person);
}

function transportOf({ send, end, onOutput, ended }: OpenCall): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      onOutput((text) => {
        buffer.append(Buffer.from(text));
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
      ended.then(
        () => transport.onclose?.(),
        (error: Error) => transport.onerror?.(error),
      );
    },
    send: async (message) => send(serializeMessage(message)),
    async close() {
      end();
      await ended;
    },
  };
  return transport;
}

/** The same as a program: for what its parents, its start or its streams are to show. */
export function overProgram(
  dir: string,
  env: Variables = {},
  [command = BATON, ...args]: readonly string[] = [BATON, 'mcp'],
): Promise<Connected> {
  const server = { command, args: [...args], cwd: dir, env: environmentIn(dir, env) as Record<string, string> };
  return connected(new StdioClientTransport({ ...server, stderr: 'inherit' }));
}

function environmentIn(dir: string, env: Variables): Variables {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, TMPDIR: dir, ...env };
}

export async function overHttp(
  dir: string,
  env: Variables = {},
  person?: Person,
): Promise<Connected & { readonly url: string; readonly token: string }> {
  const served = await httpServer(dir, env);
  const headers = { authorization: `Bearer ${served.token}` };
  const transport = new StreamableHTTPClientTransport(new URL(served.url), { requestInit: { headers } });
  return { ...(await connected(transport as Transport, person)), ...served };
}

/** Starts `baton mcp --http` on a free port in this process, or a program that takes the same options. */
export async function httpServer(
  dir: string,
  env: Variables = {},
  program: readonly string[] | null = null,
): Promise<{ url: string; token: string }> {
  const { stderr } = program ? start(dir, ['--http', '0'], { env, program }) : serving(dir, env);
  const url = await until('the address', () => /MCP at (\S+)/.exec(stderr())?.[1]);
  const given = env.BATON_MCP_TOKEN;
  const token = given ?? (await until('the token', () => /Bearer (\S+)/.exec(stderr())?.[1]));
  return { url, token };
}

function serving(dir: string, env: Variables): OpenCall {
  const call = openCall(['mcp', '--http', '0'], { cwd: dir, env: environment(dir, env) });
  onTestFinished(async () => {
    call.signal('SIGTERM');
    await call.ended;
  });
  return call;
}

async function connected(transport: Transport, person?: Person): Promise<Connected> {
  const capabilities = person ? { elicitation: {} } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities });
  if (person) client.setRequestHandler(ElicitRequestSchema, ({ params }) => person(params));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    async ask(name, args = {}) {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
      const verdict = structuredContent as Answer;
      const [part] = content as readonly { readonly text?: string }[];
      if (JSON.stringify(JSON.parse(part?.text ?? '')) !== JSON.stringify(verdict) || isError === verdict.allow) {
        throw new Error(`two different answers: ${part?.text} and ${JSON.stringify(verdict)}`);
      }
      return verdict;
    },
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
  };
}
