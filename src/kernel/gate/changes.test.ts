// What a turn was seen to change, held against what it may change.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { asBlock, reportOf } from '../../../test/reports.ts';
import { envelope, TEAM } from '../../../test/team.ts';
import { agentIdOfTurn } from '../cast/rules.ts';
import type { JsonObject } from '../json.ts';
import { addLock, MAIN_ROOT } from '../ledger/lock-tree.ts';
import { keyOf, type Task } from '../ledger/state.ts';

const program = (tools: string, more: JsonObject = {}): JsonObject => ({
  ...{ prompt: 'Do it.', runner: 'command', command: ['x'], tools },
  ...more,
});

/** A cast of one socket that has answered; the test says what was seen of it. */
function answered(M: JsonObject, root?: string) {
  const sockets = { 'Socket-1': { materia: 'M', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Write' } };
  const cast = play({ config: graph(sockets, { materia: { M } }), ...(root ? { root } : {}) });
  const at = { cast: 'c', turn: 1, attempt: 1 } as const;
  cast.tell({ kind: 'turn.prepared', ...at, seal: 's' });
  cast.tell({ kind: 'attempt.output', ...at, output: 'x' });
  const see = (changes: Record<string, string | null>) =>
    cast.tell({ kind: 'turn.verified', ...at, seal: 's', changes });
  return { cast, see };
}

const CHANGED = { 'a.txt': 'sha256:1', 'b.txt': null };
const tool = { type: 'utility', command: ['x'] };

test.each<[string, JsonObject, string, string]>([
  ['tools that only read', program('readOnly'), 'SCOPE_VIOLATION', 'because its tools are readOnly'],
  ['no tools', program('none'), 'SCOPE_VIOLATION', 'because its tools are none'],
  ['an empty scope', program('coding', { lockScope: [] }), 'SCOPE_VIOLATION', 'because its lockScope is empty'],
  ['a utility with an empty scope', { ...tool, lockScope: [] }, 'SCOPE_VIOLATION', 'because its lockScope is empty'],
  ['a scope that covers a part', program('coding', { lockScope: ['a.txt'] }), 'SCOPE_VIOLATION', 'lock_scope'],
  ['a utility with such a scope', { ...tool, lockScope: ['a.txt'] }, 'SCOPE_VIOLATION', 'lock_scope'],
  ['tools that write', program('coding'), 'OK', 'accepted'],
  ['a utility', tool, 'OK', 'accepted'],
])('in a worktree, with %s', (_what, M, code, reason) => {
  const { cast, see } = answered(M, 'trees/c');
  const verdict = see(CHANGED);
  expect([verdict.code, verdict.reason]).toEqual([code, expect.stringContaining(reason)]);
  const [noted] = [...cast.all('turn.accepted'), ...cast.all('attempt.refused')];
  expect(noted?.touched).toEqual(CHANGED);
});

test('who changed nothing is accepted, whatever it may change', () => {
  for (const M of [program('readOnly'), program('none'), tool]) expect(answered(M).see({}).code).toBe('OK');
});

test.each<[string, JsonObject, string]>([
  ['tools that only read', program('readOnly'), 'OK'],
  ['no tools', program('none'), 'OK'],
  ['an empty scope', program('coding', { lockScope: [] }), 'OK'],
  ['a utility with an empty scope', { ...tool, lockScope: [] }, 'OK'],
  ['a utility', tool, 'OK'],
  ['a scope that covers a part', program('coding', { lockScope: ['a.txt'] }), 'SCOPE_VIOLATION'],
  ['a reader with such a scope', program('readOnly', { lockScope: ['a.txt'] }), 'SCOPE_VIOLATION'],
  ['a utility with such a scope', { ...tool, lockScope: ['a.txt'] }, 'SCOPE_VIOLATION'],
])('in the directory itself, where anybody may have done it, with %s', (_what, M, code) => {
  const { cast, see } = answered(M);
  expect(see(CHANGED).code).toBe(code);
  const [noted] = [...cast.all('turn.accepted'), ...cast.all('attempt.refused')];
  expect(noted?.touched).toEqual(CHANGED);
});

test('a turn that cannot be looked at and has to be ends with a code and the way out', () => {
  const { cast } = answered(program('coding'));
  const at = { cast: 'c', turn: 1, attempt: 1, seal: '' } as const;
  const verdict = cast.tell({ kind: 'turn.verified', ...at, unseen: 'too many files; ignore some' });
  expect([verdict.code, verdict.reason]).toEqual(['MISSING_VALIDATOR', expect.stringContaining('; ignore some')]);
  expect(cast.cast).toMatchObject({ status: 'failed', code: 'MISSING_VALIDATOR' });
});

test.each<[string, Record<string, string | null>, string]>([
  ['nothing changed there', {}, 'OK'],
  ['a file changed there', { 'src/x.js': 'sha256:1', '../top.js': null }, 'SCOPE_VIOLATION'],
  ['a task there has locked it', { 'docs/a.md': 'sha256:1' }, 'OK'],
  ['only one of them is locked', { 'docs/a.md': 'sha256:1', 'src/x.js': 'sha256:1' }, 'SCOPE_VIOLATION'],
])('the checkout of the user around a worktree: %s', (_what, changes, code) => {
  const { cast } = answered(program('coding'), '/trees/c');
  addLock(cast.state.ledger.locks, { root: MAIN_ROOT, path: 'docs', mode: 'write', task: 'another' });
  const main = { dir: '/home/ada/project', changes };
  const verdict = cast.tell({ kind: 'turn.verified', cast: 'c', turn: 1, attempt: 1, seal: 's', main });
  expect(verdict.code).toBe(code);
  if (code === 'OK') return;
  const outside = Object.keys(changes).filter((path) => path !== 'docs/a.md');
  expect(verdict.details).toMatchObject({ checkout: main.dir, outside, count: outside.length });
  expect(verdict.reason).toContain(`"src/x.js"${outside.length > 1 ? ' (and 1 more)' : ''} changed in ${main.dir}`);
  expect(cast.all('attempt.refused')).toMatchObject([{ repair: true }]);
});

test('what no commit of the branch can hold is given back with what can be done about it', () => {
  const { cast } = answered(program('coding'), 'trees/c');
  const unkept = { sub: 'sub is a repository; remove sub/.git' };
  const at = { cast: 'c', turn: 1, attempt: 1, seal: 's' } as const;
  const verdict = cast.tell({ kind: 'turn.verified', ...at, changes: { 'sub/f': 'sha256:1' }, unkept });
  expect(verdict).toMatchObject({ code: 'SCOPE_VIOLATION', reason: 'Socket-1: sub is a repository; remove sub/.git.' });
  expect(cast.all('attempt.refused')).toMatchObject([{ repair: true, verdict: { details: { unkept: ['sub'] } } }]);
});

test.each<[string, JsonObject, string, string]>([
  ['a lock file of packages', program('coding'), '../../package-lock.json', 'OK'],
  [
    'the same where the scope names it',
    program('coding', { lockScope: ['pnpm-lock.yaml'] }),
    '../pnpm-lock.yaml',
    'OK',
  ],
  ['the same outside of the scope', program('coding', { lockScope: ['src'] }), '../uv.lock', 'SCOPE_VIOLATION'],
  ['the same for one that only reads', program('readAndRun'), '../../package-lock.json', 'SCOPE_VIOLATION'],
  ['the lock file of a neighbour', program('coding'), '../two/package-lock.json', 'SCOPE_VIOLATION'],
  ['a folder of that name', program('coding'), '../yarn.lock/x', 'SCOPE_VIOLATION'],
  ['one in the workspace that no commit holds', program('coding'), 'yarn.lock', 'SCOPE_VIOLATION'],
  ['the list of packages', program('coding'), '../../package.json', 'SCOPE_VIOLATION'],
])('above the workspace, %s', (_, materia, path, code) => {
  const { cast } = answered(materia, 'trees/c');
  const at = { cast: 'c', turn: 1, attempt: 1, seal: 's' } as const;
  expect(cast.tell({ kind: 'turn.verified', ...at, unkept: { [path]: 'outside' } }).code).toBe(code);
});

test('the refusal names the files and the way out', () => {
  const verdict = answered(program('readOnly'), 'trees/c').see(CHANGED);
  expect(verdict.reason).toBe(
    'Socket-1 changed "a.txt" (and 1 more) and may change no file, because its tools are readOnly; take back what it changed and nothing else. If it is meant to change files, give it "tools": "coding" or a lockScope.',
  );
  expect(verdict.details).toMatchObject({ socket: 'Socket-1', outside: ['a.txt', 'b.txt'], count: 2, lock_scope: [] });
});

test('what others hold in the same folder, or were seen to change, is not held against one who only reads', () => {
  const { cast, see } = answered(program('readOnly'));
  const other = keyOf({ run: 'r', id: 'T-9' } as Task);
  addLock(cast.state.ledger.locks, { task: other, root: MAIN_ROOT, path: 'a.txt', mode: 'write' });
  Object.assign(cast.turn.excused, { 'b.txt': null });
  expect(see(CHANGED).code).toBe('OK');
  const again = answered(program('readOnly'), 'trees/c');
  addLock(again.cast.state.ledger.locks, { task: other, root: MAIN_ROOT, path: 'a.txt', mode: 'write' });
  expect(again.see(CHANGED).code).toBe('SCOPE_VIOLATION');
});

test('who may change nothing where anybody writes clears nobody else of what changed', () => {
  for (const [M, root, excused] of [
    [program('readOnly'), undefined, {}],
    [tool, undefined, CHANGED],
    [program('coding'), 'trees/c', CHANGED],
  ] as const) {
    const { cast, see } = answered(M, root);
    const other = { ...cast.turn, id: 9, excused: {} };
    Object.assign(cast.cast.turns, { 9: other });
    expect(see(CHANGED).code).toBe('OK');
    expect(other.excused).toEqual(excused);
  }
});

const ORDER = { '.claude/settings.json': 'sha256:1' };

test.each<[string, JsonObject, string | undefined, string]>([
  ['everything in a worktree', program('coding'), 'trees/c', 'SCOPE_VIOLATION'],
  ['everything in the directory itself', program('coding'), undefined, 'SCOPE_VIOLATION'],
  ['nothing in the directory itself', program('none'), undefined, 'SCOPE_VIOLATION'],
  ['what a utility wants', tool, 'trees/c', 'SCOPE_VIOLATION'],
  ['the same in the directory itself', tool, undefined, 'SCOPE_VIOLATION'],
  ['another part by name', program('coding', { lockScope: ['.', '.claude/skills'] }), 'trees/c', 'SCOPE_VIOLATION'],
  ['its folder by name', program('coding', { lockScope: ['.', '.claude'] }), 'trees/c', 'OK'],
  ['the file by name', program('coding', { lockScope: ['.claude/settings.json'] }), 'trees/c', 'OK'],
  ['its folder by name, as a utility', { ...tool, lockScope: ['.claude'] }, undefined, 'OK'],
])('who may change %s, and changes what agent programs obey', (_what, M, root, code) => {
  const { cast, see } = answered(M, root);
  expect(see(ORDER).code).toBe(code);
  // It would govern the second attempt, so there is none.
  if (code !== 'OK') expect(cast.cast).toMatchObject({ status: 'failed', code: 'SCOPE_VIOLATION' });
});

test('orders in the lock of another are its own only where that names them', () => {
  for (const [lockScope, code] of [
    [['.claude'], 'OK'],
    [['.'], 'SCOPE_VIOLATION'],
  ] as const) {
    const { cast, see } = answered(program('none'));
    const other = { run: 'r', id: 'T-9', lockScope } as unknown as Task;
    cast.state.ledger.tasks[keyOf(other)] = other;
    addLock(cast.state.ledger.locks, { task: keyOf(other), root: MAIN_ROOT, path: lockScope[0], mode: 'write' });
    expect(see(ORDER).code).toBe(code);
  }
});

test('no attempt is begun under orders that the one before it changed', () => {
  for (const [lockScope, code] of [
    [['.'], 'SCOPE_VIOLATION'],
    [['.', '.claude'], 'OK'],
  ] as const) {
    const { cast } = answered(program('coding', { lockScope: [...lockScope], contract: 'materia' }), 'trees/c');
    const at = { cast: 'c', turn: 1 } as const;
    cast.tell({ kind: 'turn.verified', ...at, attempt: 1, seal: 's', changes: { '../x': null } });
    expect(cast.turn).toMatchObject({ phase: 'owed', attempt: 1 });
    expect(cast.tell({ kind: 'turn.prepared', ...at, attempt: 2, seal: 's', orders: ORDER }).code).toBe(code);
  }
});

test('a changed seal names what may not change', () => {
  const { cast } = answered(program('coding'));
  const verdict = cast.tell({ kind: 'turn.verified', cast: 'c', turn: 1, attempt: 1, seal: 'other' });
  expect(verdict).toMatchObject({ code: 'SCOPE_VIOLATION', details: { socket: 'Socket-1', scope: '.baton' } });
});

test('a refusal lists twenty paths', () => {
  const paths = Array.from({ length: 25 }, (_, index) => `src/f${index}`);
  const at = { cast: 'c', turn: 1, attempt: 1, seal: 's' } as const;
  const changes = Object.fromEntries(paths.map((path) => [path, 'sha256:1']));
  const unkept = Object.fromEntries(paths.map((path) => [path, 'no commit holds it']));
  for (const [seen, member] of [
    [{ main: { dir: '/home/ada', changes } }, 'outside'],
    [{ changes, unkept }, 'unkept'],
  ] as const) {
    const verdict = answered(program('coding'), 'trees/c').cast.tell({ kind: 'turn.verified', ...at, ...seen });
    expect(verdict.details[member]).toEqual(paths.slice(0, 20));
  }
});

test('a lock of another that only reads does not own a change', () => {
  const { cast, see } = answered(program('readOnly', { lockScope: ['b.txt'] }));
  addLock(cast.state.ledger.locks, {
    task: keyOf({ run: 'r', id: 'T-9' } as Task),
    root: MAIN_ROOT,
    path: 'a.txt',
    mode: 'read',
  });
  expect(see(CHANGED).code).toBe('SCOPE_VIOLATION');
});

test('orders that another turn was seen to change are not held against this one', () => {
  const { cast, see } = answered(program('none'));
  Object.assign(cast.turn.excused, ORDER);
  expect(see(ORDER).code).toBe('OK');
});

type Team = { loadouts: { Flow: { sockets: { 'Socket-2': JsonObject } } } } & JsonObject;
const reporting = structuredClone(TEAM);
Object.assign(reporting, { checkers: { test: { command: ['npm', 'test'] } } });
Object.assign((reporting as Team).loadouts.Flow.sockets['Socket-2'], { contract: 'gaia', parse: 'json' });

test.each([
  ['nothing was checked', {}, 'MISSING_VALIDATOR'],
  ['the checker found otherwise', { 'it works': { pass: false, found: 'exit 1' } }, 'ACCEPTANCE_FAILED'],
  ['the checker agrees', { 'it works': { pass: true, found: 'exit 0' } }, 'OK'],
])('an agent reports COMPLETE for a task with a checker, and %s', (_what, checks, code) => {
  const cast = play({ config: reporting });
  const say = (output: string) => {
    const at = { cast: 'c', turn: cast.turn.id, attempt: 1 } as const;
    cast.tell({ kind: 'turn.prepared', ...at, seal: 's' });
    cast.tell({ kind: 'attempt.output', ...at, output });
    return at;
  };
  const planned = say(JSON.stringify(envelope({ id: 'T-1', x_checkers: { 'it works': 'test' } })));
  cast.tell({ kind: 'turn.verified', ...planned, seal: 's' });
  const at = say(asBlock(reportOf('COMPLETE', { agent_id: agentIdOfTurn(cast.cast, cast.turn) })));
  expect(cast.tell({ kind: 'turn.verified', ...at, seal: 's', checks }).code).toBe(code);
});
