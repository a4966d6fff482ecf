// The order of the checks at both doors. Everything is wrong at first; each row names the check that refuses, its code, and how
// to put that one thing right. So the order of the rows is the order of the checks, and decides which code wins.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { reportOf } from '../../../test/reports.ts';
import { addLock, MAIN_ROOT, withLinks } from '../ledger/lock-tree.ts';
import { deny, firstRefusal } from '../verdict.ts';
import { type AcceptContext, AT_ANSWER, AT_HANDOFF, AT_VERIFICATION, BEFORE_ACCEPT } from './before-accept.ts';
import { BEFORE_DISPATCH, dispatchContext } from './before-dispatch.ts';

// biome-ignore lint/suspicious/noExplicitAny: the contexts are broken on purpose, member by member
type Broken = any;

const CODER = { prompt: 'Do it.', runner: 'command', command: ['x'], tools: 'coding', lockScope: ['src'] };

function brokenDispatch(): Broken {
  const sockets = { 'Socket-1': { materia: 'M', edges: [always('end')] } };
  const { state, cast } = play({ config: graph(sockets, { materia: { M: CODER } }) });
  const own = structuredClone(state);
  const broken: Broken = own.casts[cast.id];
  const turn: Broken = broken.turns[1];
  const task: Broken = Object.values(own.ledger.tasks)[0];
  Object.assign(task, { assigned: false, lockScope: ['.baton', 'out', 'src'], notBefore: 20, dependencies: ['T-9'] });
  Object.assign(own.ledger, { hold: { by: 'ann', reason: 'release', since: 0 } });
  Object.assign(own.ledger.locks, { links: withLinks({}, MAIN_ROOT, { out: '/elsewhere' }) });
  addLock(own.ledger.locks, { root: MAIN_ROOT, path: 'src', mode: 'write', task: 'other' } as never);
  Object.assign(own.day, { date: '1970-01-01', tokens: 5 });
  Object.assign(broken.budget, { maxTokens: 0 });
  broken.rules = structuredClone(broken.rules);
  broken.rules.budget.maxTokensPerDay = 1;
  Object.assign(broken.rules.materia.M, { identity: 'build', id: '' });
  broken.rules.graph.loops = [
    { id: 'Loop', sockets: [], exits: [], iterator: null, consumes: null, maxConcurrency: 0 },
  ];
  turn.lane = 'Loop';
  const prepared = {
    kind: 'turn.prepared',
    unseen: 'no git',
    orders: { '.claude/settings.json': null },
    used: { 'handoff:h': 1 },
    trust: { origin: 'none', registry: null, refusal: null, attestation: null, envelope: { handoff_id: 'H' } },
  };
  return dispatchContext(own, broken, turn, { at: 10, ranUntil: 10, prepared: prepared as never });
}

const DISPATCH: readonly (readonly [string, string, (context: Broken) => unknown])[] = [
  ['handoff id', 'REPLAY', ({ prepared }) => Object.assign(prepared, { used: {} })],
  ['inspectable', 'MISSING_VALIDATOR', ({ prepared }) => delete prepared.unseen],
  ['agent configuration', 'SCOPE_VIOLATION', ({ prepared }) => Object.assign(prepared, { orders: {} })],
  ['budget of the cast', 'BUDGET_EXHAUSTED', ({ cast }) => Object.assign(cast.budget, { maxTokens: null })],
  ['budget of the day', 'DAILY_CAP_REACHED', ({ state }) => Object.assign(state.day, { tokens: 0 })],
  ['trust', 'REGISTRY_UNUSABLE', ({ cast }) => Object.assign(cast.rules.materia.M, { identity: null })],
  ['workspace hold', 'NOT_ALLOWED_NOW', ({ state }) => Object.assign(state.ledger, { hold: null })],
  ['lane', 'NOT_ALLOWED_NOW', ({ turn }) => Object.assign(turn, { lane: null })],
  ['claim: owner', 'MISSING_REQUIRED_INPUT', ({ cast }) => Object.assign(cast.rules.materia.M, { id: 'M' })],
  ['claim: assignment', 'MISSING_REQUIRED_INPUT', ({ task }) => Object.assign(task, { assigned: true })],
  ['claim: governed paths', 'SCOPE_VIOLATION', ({ task }) => Object.assign(task, { lockScope: ['out', 'src'] })],
  ['claim: linked paths', 'SCOPE_VIOLATION', ({ task }) => Object.assign(task, { lockScope: ['src'] })],
  ['claim: retry time', 'NOT_ALLOWED_NOW', ({ task }) => Object.assign(task, { notBefore: null })],
  ['claim: dependencies', 'DEPENDENCY_NOT_MET', ({ task }) => Object.assign(task, { dependencies: [] })],
  ['claim: locks', 'LOCK_CONFLICT', ({ task }) => Object.assign(task, { lockScope: ['docs'] })],
];

/** What no cast can break: an earlier check, or the way a cast makes its tasks, keeps it right. `claim.test.ts` has them. */
const BY_HAND = ['claim: hold', 'claim: version', 'claim: status', 'claim: serial', 'claim: turn in line'];

test('before dispatch, the first check that is broken refuses', () => {
  const context = brokenDispatch();
  for (const [name, code, repair] of DISPATCH) {
    const refused = firstRefusal(BEFORE_DISPATCH, context);
    expect([refused?.by.name, refused?.refusal.code]).toEqual([name, code]);
    repair(context);
  }
  expect(firstRefusal(BEFORE_DISPATCH, context)).toBeNull();
  const rows = DISPATCH.map(([name]) => name);
  expect(BEFORE_DISPATCH.map(({ name }) => name).filter((name) => !BY_HAND.includes(name))).toEqual(rows);
});

function brokenAccept(): Broken {
  const sockets = { 'Socket-1': { materia: 'M', contract: 'gaia', edges: [always('end')] } };
  const { state, cast } = play({ config: graph(sockets, { materia: { M: CODER } }), root: 'trees/c' });
  const own = structuredClone(state);
  const its: Broken = own.casts[cast.id];
  const turn: Broken = its.turns[1];
  Object.assign(turn, { seal: 's', fence: 1, progress: { status: 'NEEDS_INPUT', inProgressCount: 0 } });
  const task: Broken = { ...Object.values(own.ledger.tasks)[0], fence: null, checkers: { 'it works': 'tests' } };
  return {
    ...{ state: own, cast: its, turn, task, isVouched: false },
    reading: { ok: false, verdict: deny('NOT_JSON', 'no') },
    handoff: { outcome: 'done', satisfied: null, payload: reportOf('COMPLETE') },
    seen: {
      unseen: 'no git',
      seal: 'other',
      changes: { '.claude/settings.json': null, 'out.txt': null },
      main: { dir: '/main', changes: { 'a.txt': null } },
      unkept: { 'big.bin': 'big.bin is a socket' },
      checks: { 'it works': { ok: false, found: 'exit 1' } },
    },
    plan: { ok: false, refusal: deny('SCHEMA_INVALID', 'no') },
  };
}

const ACCEPT: readonly (readonly [string, string, (context: Broken) => unknown])[] = [
  ['claim', 'CONCURRENCY_CONFLICT', (context) => Object.assign(context, { isVouched: true })],
  ['contract', 'NOT_JSON', (context) => Object.assign(context, { reading: { ok: true } })],
  ['claim kept', 'CONCURRENCY_CONFLICT', ({ task }) => Object.assign(task, { fence: 1 })],
  ['inspectable', 'MISSING_VALIDATOR', ({ seen }) => delete seen.unseen],
  ['seal', 'SCOPE_VIOLATION', ({ seen }) => Object.assign(seen, { seal: 's' })],
  ['agent configuration', 'SCOPE_VIOLATION', ({ seen }) => delete seen.changes['.claude/settings.json']],
  ['lock scope', 'SCOPE_VIOLATION', ({ seen }) => Object.assign(seen, { changes: {} })],
  ['main checkout', 'SCOPE_VIOLATION', ({ seen }) => delete seen.main],
  ['committable', 'SCOPE_VIOLATION', ({ seen }) => delete seen.unkept],
  ['status', 'ILLEGAL_TRANSITION', ({ turn }) => Object.assign(turn.progress, { status: 'IN_PROGRESS' })],
  ['result', 'ACCEPTANCE_FAILED', (context) => Object.assign(context, { task: null })],
  ['permission', 'CONTRACT_VIOLATION', ({ handoff }) => Object.assign(handoff, { outcome: 'done' })],
  ['plan', 'SCHEMA_INVALID', (context) => Object.assign(context, { plan: { ok: true, facts: [] } })],
];

/** These need the approvals of a whole cast; `report.test.ts` has them. */
const OF_APPROVALS = ['commands', 'open command'];

test('before accept, the first check that is broken refuses', () => {
  const context = brokenAccept();
  for (const [name, code, repair] of ACCEPT) {
    if (name === 'permission') context.handoff.outcome = 'approval';
    const refused =
      firstRefusal(AT_ANSWER, context) ??
      firstRefusal(AT_VERIFICATION, context) ??
      firstRefusal(AT_HANDOFF, context as AcceptContext);
    expect([refused?.by.name, refused?.refusal.code]).toEqual([name, code]);
    repair(context);
  }
  const rows = ACCEPT.map(([name]) => name);
  expect(BEFORE_ACCEPT.map(({ name }) => name).filter((name) => !OF_APPROVALS.includes(name))).toEqual(rows);
});

test('every check says why it is where it is, and no name is used twice at a door', () => {
  for (const door of [BEFORE_DISPATCH, BEFORE_ACCEPT]) {
    expect(door.filter(({ why }) => why === '')).toEqual([]);
    expect(new Set(door.map(({ name }) => name)).size).toBe(door.length);
  }
});
