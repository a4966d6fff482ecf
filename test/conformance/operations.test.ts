// The three ways in give the same verdicts: every operation is called by the library, the command line and MCP, with the same
// input in folders that were set up alike. A way that leaves an operation out says why in the table.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { actorHere } from '../../src/access/who-acts.ts';
import { openWorkspace } from '../../src/api/open-workspace.ts';
import type { OperationFields as Fields, OperationEntry } from '../../src/app/operation.ts';
import { OPERATIONS, type OperationName } from '../../src/app/operations/table.ts';
import { Workspace } from '../../src/app/workspace.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { allow, type Verdict } from '../../src/kernel/verdict.ts';
import { serverFor } from '../../src/mcp/server.ts';
import { contextIn } from '../../src/mcp/tool.ts';
import { locate } from '../../src/workspace/locate.ts';
import { baton, environment, personToken, project, put } from '../cli/baton.ts';
import { CASES, type Case } from './operation-cases.ts';

type Called = { readonly dir: string; readonly env: NodeJS.ProcessEnv; readonly input: JsonObject };
type Way = 'library' | 'command line' | 'MCP';

const ENTRIES: readonly OperationEntry[] = Object.values(OPERATIONS);
const AGENT = { BATON_ATTEMPT: '1.1' };

const CALL: Readonly<Record<Way, (entry: OperationEntry, called: Called) => Promise<string>>> = {
  library: async ({ name }, { dir, env, input }) => {
    const workspace = openWorkspace(dir, { env });
    const verdict = (await workspace.perform(name as 'status', input as never)) as Verdict;
    await workspace.close();
    return verdict.code;
  },
  'command line': async (entry, { dir, env, input }) => {
    const { args, stdin } = argvOf(entry, input);
    const { code, stdout, stderr } = await baton(dir, args, { env, input: stdin });
    if (code === 0) return 'OK';
    const verdict = stdout === '' ? {} : (JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as JsonObject);
    // A hook speaks the protocol of its host, which has the code in the reason.
    const [, told] = /^baton: ([A-Z_]+): /.exec(stderr) ?? [];
    return String(verdict.code ?? told ?? `exit ${code}: ${stderr}`);
  },
  MCP: async ({ mcp }, { dir, env, input }) => {
    if ('leftOut' in mcp) throw new Error('it is left out');
    const located = locate(dir, env, dir);
    if (!located) throw new Error(`there is no ${dir}`);
    const workspace = new Workspace(located, { env });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const context = contextIn(workspace, actorHere(workspace, { shown: env.BATON_TOKEN ?? null }));
    const server = serverFor({ ...context, personToken: () => allow() }, '0');
    const client = new Client({ name: 'suite', version: '0' }, { capabilities: { elicitation: {} } });
    // The person at the client agrees to what is shown.
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { choice: mcp.choice ?? '' } }));
    await Promise.all([server.connect(theirs), client.connect(ours)]);
    const given = Object.fromEntries(Object.entries(input).filter(([name]) => !mcp.without?.includes(name)));
    const { structuredContent } = await client.callTool({ name: mcp.name, arguments: given });
    await client.close();
    await workspace.close();
    return (structuredContent as Verdict).code;
  },
};

/** Why a way leaves the operation out; null where it has it. */
function leftOut({ cli, mcp }: OperationEntry, way: Way): string | null {
  if (way === 'MCP') return 'leftOut' in mcp ? mcp.leftOut : null;
  return way === 'command line' && typeof cli === 'object' ? cli.leftOut : null;
}

function waysOf(entry: OperationEntry): readonly Way[] {
  return (Object.keys(CALL) as Way[]).filter((way) => leftOut(entry, way) === null);
}

/** The words and options of the command line for an input, as its help spells them. */
function argvOf({ name, cli, fields }: OperationEntry, input: JsonObject) {
  const form = (typeof cli === 'string' ? cli : name.replace('.', ' ')).split(' ');
  const words: string[] = [];
  const options: string[] = [];
  let stdin = '';
  const all: Fields = { ...fields, ...Object.fromEntries(Object.keys(input).flatMap((each) => unknown(fields, each))) };
  for (const [field, about] of Object.entries(all)) {
    const value = input[field];
    if (value === undefined || about.hidden) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (about.type === 'json' && about.isStandardInput) stdin = text;
    else if (about.type === 'json' && about.word !== undefined) {
      // Not in the folder itself, where it would count as a change of the caller.
      const aside = project();
      put(aside, { 'in.json': text });
      words.push(join(aside, 'in.json'));
    } else if (about.word !== undefined) {
      // A text of several words after a list.
      if (about.type === 'text' && about.word.startsWith('-- ')) words.push('--');
      words.push(...([value].flat() as Json[]).map(String));
    } else if (about.type === 'flag') options.push(...(value === true ? [dashed(field)] : []));
    else for (const each of [value].flat()) options.push(`${dashed(field)}=${String(each)}`);
  }
  // Behind `--` all is text. A form that ends with an option takes the next word as its value.
  const isText = words.includes('--');
  const args = isText ? [...form, ...options, '--json', ...words] : [...form, ...words, ...options, '--json'];
  return { args, stdin };
}

function unknown(fields: Fields, name: string): [string, Fields[string]][] {
  return Object.hasOwn(fields, name) ? [] : [[name, { type: 'text', means: 'no field' }]];
}

function dashed(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

async function codesOf(entry: OperationEntry, { setUp, input }: Case, more: NodeJS.ProcessEnv) {
  const codes: Partial<Record<Way, string>> = {};
  for (const way of waysOf(entry)) {
    const made = await setUp();
    const { dir, fence = 0, id = '' } = made;
    const given = typeof input === 'function' ? input(fence, id, made.given ?? {}) : input;
    codes[way] = await CALL[way](entry, { dir, env: environment(dir, { ...more, ...made.env }), input: given });
  }
  return codes;
}

function expected(entry: OperationEntry, code: string) {
  return Object.fromEntries(waysOf(entry).map((way) => [way, code]));
}

const empty: Case['setUp'] = async () => ({ dir: project() });

describe.each(ENTRIES.map((entry) => [entry.name, entry] as const))('%s', (name, entry) => {
  const cases = CASES[name as OperationName];

  const { allowed, refused } = cases ?? {};

  test('has cases, and a reason for every way that leaves it out', () => {
    expect(cases).toBeDefined();
    for (const way of Object.keys(CALL) as Way[]) expect(leftOut(entry, way)).not.toBe('');
  });

  if (allowed) {
    test('is allowed alike', async () => {
      const code = allowed.code ?? 'OK';
      expect(await codesOf(entry, allowed, { BATON_TOKEN: personToken() })).toEqual(expected(entry, code));
    });
  }

  test('is refused alike', async () => {
    const wrong = refused ?? { setUp: empty, input: { ...(inputOf(cases) ?? {}), nonsense: 'x' }, code: 'BAD_USAGE' };
    expect(await codesOf(entry, wrong, { BATON_TOKEN: personToken() })).toEqual(expected(entry, wrong.code ?? ''));
  });

  if (entry.peopleOnly !== undefined) {
    test('is refused to an agent alike', async () => {
      const given = refused ?? { setUp: empty, input: inputOf(cases) ?? {} };
      expect(await codesOf(entry, given, AGENT)).toEqual(expected(entry, 'APPROVER_IS_AGENT'));
    });
  }
});

/** The input of the allowed case, where it is known before. */
function inputOf(cases: (typeof CASES)[OperationName]): JsonObject | null {
  const { allowed } = cases ?? {};
  return typeof allowed?.input === 'object' ? allowed.input : null;
}
