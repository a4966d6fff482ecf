// The ledger within an attempt: what is known of the task at hand is filled in, and what is asked for beyond it is refused.
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Cast } from '../kernel/state.ts';
import { LEDGER_TOOLS } from './ledger-tools.ts';
import type { Scene, Wire } from './tool.ts';

type Ran = { readonly args: readonly string[]; readonly input: string | undefined };

const ATTEMPT = { cast: 'C', turn: 1, attempt: 1, fence: 3, dir: '/d' };
const TURN = { phase: 'running', attempt: 1, fence: 3, task: 'T-1' };
const OK = { allow: true, code: 'OK', reason: 'fine', details: {} };
const wire: Wire = { signal: new AbortController().signal, progress: async () => {} };

/** Answers each command by its first word, `lock` by whether a fence is shown. */
function within(answers: Readonly<Record<string, Json>>): Scene & { readonly ran: Ran[] } {
  const ran: Ran[] = [];
  return {
    ran,
    attempt: ATTEMPT,
    isAgent: true,
    isOwn: async () => true,
    cast: async () => ({ runId: 'R', root: 'tree', turns: { 1: TURN } }) as unknown as Cast,
    async baton(args, how = {}) {
      ran.push({ args, input: how.input });
      const word = args[0] === 'lock' && args.includes('--fence=3') ? 'own' : String(args[0]);
      return {
        exit: 0,
        value: word === 'task' ? [{ task_id: 'T-1', owner: 'ann' }] : (answers[word] ?? OK),
        stderr: '',
      };
    },
  };
}

function call(name: string, given: JsonObject, scene: Scene) {
  const tool = LEDGER_TOOLS.find((one) => one.name === name);
  if (!tool) throw new Error(`there is no ${name}`);
  return tool.call(given, scene, wire);
}

const ENTRY = { action: 'look', files_touched: [], decision: 'none', result: 'seen', next_step: 'go on' };

test('an entry of the worklog needs only what the attempt cannot know', async () => {
  const scene = within({});
  expect(await call('worklog_add', { entry: ENTRY }, scene)).toMatchObject({ allow: true });
  const { args, input } = scene.ran.at(-1) ?? { args: [], input: '' };
  expect(args).toEqual(['worklog', '--fence=3', '--run=C', '--', 'add', 'T-1', '-']);
  const entry = JSON.parse(input ?? '') as JsonObject;
  expect(entry).toMatchObject({ ...ENTRY, run_id: 'R', task_id: 'T-1', actor: 'ann' });
  expect(Date.parse(String(entry.timestamp))).toBeGreaterThan(0);
  await call('worklog_add', { entry: { ...ENTRY, actor: 'bob' } }, scene);
  expect(scene.ran.at(-1)?.input).toContain('"actor":"bob"');
});

test('an entry is asked for field by field', () => {
  const { input } = LEDGER_TOOLS.find(({ name }) => name === 'worklog_add') ?? { input: {} };
  expect(input).toMatchObject({ properties: { entry: { required: Object.keys(ENTRY) } } });
});

const conflict = (task: string, fence: number): JsonObject => ({
  path: 'src/a',
  holder: { run: 'C', task, owner: 'ann', fence, path: 'src', mode: 'write' },
});
const inTheWay = (...conflicts: JsonObject[]): JsonObject => ({
  ...{ allow: false, code: 'LOCK_CONFLICT', reason: 'held', details: { conflicts } },
});
const outside = { allow: false, code: 'SCOPE_VIOLATION', reason: 'src/a is not in docs.', details: {} };

test.each<[string, Readonly<Record<string, Json>>, string, RegExp]>([
  ['no path', { lock: { ...outside, code: 'SCHEMA_INVALID', reason: 'no path' } }, 'SCHEMA_INVALID', /no path/],
  [
    'held by another',
    { lock: inTheWay(conflict('T-1', 3), conflict('T-2', 4)) },
    'LOCK_CONFLICT',
    /^T-2 \(ann\) holds "src";/,
  ],
  ['its own already', { lock: inTheWay(conflict('T-1', 3)) }, 'OK', /yours already/],
  [
    'free, and not in its scope',
    { own: outside },
    'SCOPE_VIOLATION',
    /fixed by its assignment: src\/a is not in docs\..*planner/,
  ],
])('paths that are asked for are %s', async (_, answers, code, reason) => {
  const scene = within(answers);
  const verdict = await call('lock_request', { paths: ['src/a'] }, scene);
  expect(verdict).toMatchObject({ code, reason: expect.stringMatching(reason) });
  expect(scene.ran[1]?.args).toEqual(['lock', '--root=tree', '--', 'check', 'src/a']);
});
