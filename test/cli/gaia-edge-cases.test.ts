// What a person's consent covers and what it does not, from the request to the one run, through the command line.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApprovalView } from '../../src/kernel/approval/state.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, type Ran } from './baton.ts';

async function ask(dir: string, request: JsonObject): Promise<string> {
  const input = JSON.stringify({ operation: 'does it', rollback: 'none', verification: 'look', ...request });
  const asked = await baton(dir, ['approvals', 'request', '-'], { input });
  return json<{ details: { approval: string } }>(asked).details.approval;
}

const answerOf = (ran: Ran) => [ran.code, json(ran).code];
const decide = async (dir: string, verb: 'approve' | 'reject', word: string) =>
  answerOf(await baton(dir, [verb, '--json', word]));
const open = async (dir: string) => json<readonly ApprovalView[]>(await baton(dir, ['approvals', '--json']));
const kinds = async (dir: string) =>
  json<{ kind: string }[]>(await baton(dir, ['log', '--json', '--after', '0'])).map(({ kind }) => kind);

/** Exit 0 and `OK` where it ran, else what it was refused with. */
async function exec(dir: string, id: string, line: string): Promise<readonly unknown[]> {
  const ran = await baton(dir, ['exec', '--json', '--approval', id, '--', ...line.split(' ')]);
  return ran.code === 0 ? [0, 'OK'] : answerOf(ran);
}

test('the same wish is one approval while it waits, asked for once, and a new one when it was decided', async () => {
  const dir = project();
  const first = await ask(dir, { exact_content: 'rm a' });
  expect(await ask(dir, { exact_content: 'rm a', rationale: 'please' })).toBe(first);
  expect(await kinds(dir)).toEqual(['approval.requested']);
  expect(await decide(dir, 'reject', first)).toEqual([0, 'OK']);
  expect(await ask(dir, { exact_content: 'rm a' })).not.toBe(first);
});

test.each<[string, readonly ('approve' | 'reject')[], string]>([
  ['approved', ['approve'], 'NOT_ALLOWED_NOW'],
  ['rejected', ['reject'], 'APPROVAL_REJECTED'],
  ['approved and then taken back', ['approve', 'reject'], 'APPROVAL_REJECTED'],
])('what was %s cannot be approved', async (_, before, code) => {
  const dir = project();
  const id = await ask(dir, { exact_content: 'rm a' });
  for (const verb of before) expect(await decide(dir, verb, id)).toEqual([0, 'OK']);
  expect(await decide(dir, 'approve', id)).toEqual([1, code]);
});

test('an id that nobody was given cannot be decided about', async () => {
  const dir = project();
  await ask(dir, { exact_content: 'rm a' });
  for (const verb of ['approve', 'reject'] as const)
    expect(await decide(dir, verb, `P-${'0'.repeat(32)}`)).toEqual([1, 'UNKNOWN_APPROVAL']);
});

test('consent is given to an id and not by words around it', async () => {
  const dir = project();
  const id = await ask(dir, { exact_content: 'rm a' });
  const short = id.slice(0, 10);
  for (const word of [
    `approve -- rm [${short}]`,
    `Approve -- rm [${short}]`,
    short.toLowerCase(),
    id.slice(0, 9),
    'P-',
  ])
    expect([word, ...(await decide(dir, 'approve', word))]).toEqual([word, 1, 'UNKNOWN_APPROVAL']);
  expect(await open(dir)).toMatchObject([{ id, status: 'pending' }]);
});

test('what was approved runs as it was written, once: no other order of its flags, no other argument', async () => {
  const dir = project({ a: '1', b: '2' });
  const id = await ask(dir, { exact_content: 'rm -f -v a' });
  await decide(dir, 'approve', id);
  for (const line of ['rm -v -f a', 'rm -f -v b', 'rm -fv a', 'rm -f -v a b'])
    expect([line, ...(await exec(dir, id, line))]).toEqual([line, 1, 'APPROVAL_MISMATCH']);
  expect(existsSync(join(dir, 'a'))).toBe(true);
  expect(await exec(dir, id, 'rm -f -v a')).toEqual([0, 'OK']);
  expect([existsSync(join(dir, 'a')), existsSync(join(dir, 'b'))]).toEqual([false, true]);
  expect(await exec(dir, id, 'rm -f -v a')).toEqual([1, 'APPROVAL_USED']);
});

test('of a list with one command that changes state, that one is asked for and nothing else', async () => {
  const dir = project({ a: '1' });
  const id = await ask(dir, { command_set: [{ command: 'rm a', rationale: 'old' }, { command: 'ls -la' }] });
  const [view] = await open(dir);
  expect(view?.commands.map(({ command, tier }) => [command, tier])).toEqual([['rm a', 'T3']]);
  await decide(dir, 'approve', id);
  expect(await exec(dir, id, 'ls -la')).toEqual([1, 'APPROVAL_MISMATCH']);
  expect(await exec(dir, id, 'rm a')).toEqual([0, 'OK']);
});
