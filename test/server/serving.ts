// A server of a workspace in the process of the test, and a client that speaks to it as a page does.
import { request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Actor } from '../../src/access/actor.ts';
import { callerWith } from '../../src/access/server-callers.ts';
import { Workspace } from '../../src/app/workspace.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Denied, Verdict } from '../../src/kernel/verdict.ts';
import { LOOPBACK_HOST, type ServeOptions, startServer } from '../../src/server/serve.ts';
import { locate } from '../../src/workspace/locate.ts';
import { agent, always, baton, environment, flow, project } from '../cli/baton.ts';

export const TOKEN = 'the-token-of-the-person-who-started-it';
export const BEARER = { authorization: `Bearer ${TOKEN}` };

const ANN: Actor = { name: 'user:ann', kind: 'person', role: 'admin', attempt: null };

export type Served = {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly workspace: Workspace;
  /** Who was turned away. */
  readonly refused: readonly Denied[];
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  readonly post: (name: string, input?: JsonObject, headers?: Record<string, string>) => Promise<Response>;
  readonly ask: (name: string, input?: JsonObject) => Promise<Verdict>;
  readonly close: () => Promise<void>;
};

type Options = Partial<ServeOptions> & { readonly env?: NodeJS.ProcessEnv };

/** Until the test is over. */
export async function served(dir = project(), more: Options = {}): Promise<Served> {
  const made = await servedUntilClosed(dir, more);
  onTestFinished(made.close);
  return made;
}

export async function servedUntilClosed(dir: string, more: Options = {}): Promise<Served> {
  const env = environment(dir, more.env);
  const located = locate(dir, env, dir);
  if (!located) throw new Error(`there is no ${dir}`);
  const workspace = new Workspace(located, { env });
  const here = more.here ?? ANN;
  const refused: Denied[] = [];
  const listening = await startServer({
    workspace,
    here,
    version: '0',
    host: LOOPBACK_HOST,
    port: 0,
    pageDir: `${dir}/page`,
    admit: (shown) => callerWith(env, here, TOKEN, shown),
    onRefused: (verdict) => void refused.push(verdict),
    newMcp: () => {
      throw new Error('no MCP here');
    },
    ...more,
  });
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await listening.close();
    await workspace.close();
  };
  const { url, port } = listening;
  const get: Served['get'] = (path, headers = BEARER) => fetch(url + path, { headers });
  const post: Served['post'] = (name, input = {}, headers = BEARER) =>
    fetch(`${url}/api/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
  const ask: Served['ask'] = async (name, input) => (await post(name, input)).json() as Promise<Verdict>;
  return { url, port, dir, workspace, refused, get, post, ask, close } satisfies Served;
}

/** A request whose headers no browser and no `fetch` would send. */
export function forged(port: number, path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
    const sent = request({ host: LOOPBACK_HOST, port, path, method, headers: { ...BEARER, ...headers } }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

export const LINE = flow(
  { A: agent, B: agent },
  {
    'Socket-1': { materia: 'A', parse: 'text', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'B', parse: 'text' },
  },
);

/** A project with a cast that is completed, and the id of the cast. */
export async function castIn(dir: string, request = 'do it'): Promise<string> {
  const { stdout } = await baton(dir, ['cast', '--json', '--in-place', '--agents', 'agents.json', request]);
  return String((JSON.parse(stdout) as JsonObject).cast);
}

export function lineProject(answers: readonly string[] = ['one', 'two']): string {
  const [first = '', second = ''] = answers;
  return project({
    '.baton/config.json': LINE,
    'agents.json': { A: [first, '$repeat'], B: [second, '$repeat'] },
  });
}

export type Event = { readonly id?: number; readonly event: string; readonly data: JsonObject };

/** Reads a stream of events until `isEnough` says so, then leaves it. */
export async function eventsUntil(
  url: string,
  isEnough: (events: readonly Event[]) => boolean,
  headers: Record<string, string> = {},
): Promise<readonly Event[]> {
  const stop = new AbortController();
  const answer = await fetch(url, { headers: { ...BEARER, ...headers }, signal: stop.signal });
  if (!answer.body) throw new Error(`no stream: ${answer.status}`);
  const events: Event[] = [];
  let rest = '';
  try {
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) events.push(eventIn(block));
      if (isEnough(events)) break;
    }
  } finally {
    stop.abort();
  }
  return events;
}

function eventIn(block: string): Event {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const id = fields.id === undefined ? {} : { id: Number(fields.id) };
  return { ...id, event: fields.event ?? '', data: JSON.parse(fields.data ?? '{}') as JsonObject };
}

export const isHead = (events: readonly Event[]) => events.some(({ event }) => event === 'head');

/** The numbers of the entries among the events. */
export function seqsIn(events: readonly Event[]): readonly number[] {
  return events.flatMap(({ event, id }) => (event === 'entry' && id !== undefined ? [id] : []));
}
