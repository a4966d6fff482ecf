// What the suite of the operations asks of each of them: the same input by every way in, and the code that must come back.

import type { OperationName } from '../../src/app/operations/table.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, baton, flow, pinTeam, project, put } from '../cli/baton.ts';
import { create, packet, RUN, start } from '../cli/ledger-story.ts';
import { coder, repository, row, writes } from '../cli/repository.ts';

/** Makes a folder, and answers values that the input needs. */
type SetUp = () => Promise<{ readonly dir: string; readonly fence?: number; readonly id?: string }>;

export type Case = {
  readonly setUp: SetUp;
  readonly input: JsonObject | ((fence: number, id: string) => JsonObject);
  /** `OK` where it is not said. */
  readonly code?: string;
};

/** Every operation refuses a field that it does not have; a rule of its own is asked where it has one. */
export type Cases = { readonly allowed: Case | { readonly missing: string }; readonly refused?: Case };

const empty: SetUp = async () => ({ dir: project() });

const set: SetUp = async () => {
  const dir = project();
  put(dir, {
    '.baton/config.json': { ...FLOW, context: { sections: { services: {} } } },
    'envelope.json': {},
  });
  return { dir };
};

const FLOW = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });

const casted: SetUp = async () => {
  const dir = project({ '.baton/config.json': FLOW, 'agents.json': { A: ['done'] } });
  await baton(dir, ['cast', '--agents', 'agents.json', 'do it']);
  return { dir };
};

const scripted: SetUp = async () => ({
  dir: project({ '.baton/config.json': FLOW, 'agents.json': { A: ['done'] } }),
});

const CRASH = { $turn: { output: '', fail: 'crash' } };

/** A cast that failed, and whose next turn succeeds. */
const failed: SetUp = async () => {
  const dir = project({ '.baton/config.json': FLOW, 'agents.json': { A: [CRASH, CRASH, 'done'] } });
  await baton(dir, ['cast', '--agents', 'agents.json', 'do it']);
  return { dir };
};

/** A cast that waits for a person. */
const asking: SetUp = async () => {
  const person = flow(
    { A: { ...agent, runner: 'person', prompt: 'Is it good?' } },
    { 'Socket-1': { materia: 'A', parse: 'text' } },
  );
  const dir = project({ '.baton/config.json': person });
  await baton(dir, ['cast', 'do it']);
  return { dir };
};

const WISH = { operation: 'tidy', exact_content: 'rm a.txt', rollback: 'none', verification: 'look' };

/** A permission that waits for a person. */
const wished: SetUp = async () => {
  const dir = project();
  const ran = await baton(dir, ['approvals', 'request', '-'], { input: JSON.stringify(WISH) });
  return { dir, id: (JSON.parse(ran.stdout) as { details: { approval: string } }).details.approval };
};

const worked: SetUp = async () => {
  const dir = repository();
  put(dir, { 'cast.json': row({ Build: coder }, ['Build']), 'agents.json': { Build: [writes({ 'a.txt': 'two\n' })] } });
  await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']);
  return { dir };
};

const tasked: SetUp = async () => {
  const dir = project();
  await create(dir, 'T-1', { lock_scope: ['src'] } as never);
  return { dir };
};

const claimed: SetUp = async () => {
  const { dir } = await tasked();
  return { dir, fence: await start(dir, 'T-1') };
};

const held: SetUp = async () => {
  const made = await tasked();
  await baton(made.dir, ['hold', '--reason', 'release']);
  return made;
};

const team: SetUp = async () => {
  const dir = project({ '.baton/loadouts/one.yaml': 'steps: [{ say: { prompt: Say hello. } }]' });
  return { dir };
};

const pinned: SetUp = async () => {
  const dir = project();
  await pinTeam(dir);
  return { dir };
};

const ok = (setUp: SetUp, input: Case['input'] = {}): Case => ({ setUp, input });
const no = (code: string, setUp: SetUp, input: Case['input'] = {}): Case => ({ setUp, input, code });
const NO_CAST = no('UNKNOWN_CAST', empty, { cast: 'latest' });

export const CASES: Partial<Record<OperationName, Cases>> = {
  'cast.start': {
    allowed: ok(scripted, { request: 'do it', agents: 'agents.json' }),
    refused: no('BAD_USAGE', scripted, { request: 'do it', loadout: 'Nobody' }),
  },
  'cast.plan': {
    allowed: ok(scripted, { request: 'do it', agents: 'agents.json' }),
    refused: no('BAD_USAGE', scripted, { request: 'do it', agents: 'missing.json' }),
  },
  'cast.resume': {
    allowed: { missing: 'needs a driver that was killed' },
    refused: NO_CAST,
  },
  'cast.recast': { allowed: ok(failed, { cast: 'latest' }), refused: NO_CAST },
  'cast.revive': { allowed: ok(failed, { cast: 'latest' }), refused: NO_CAST },
  'cast.continue': { allowed: ok(failed, { cast: 'latest' }), refused: NO_CAST },
  'cast.answer': {
    allowed: ok(asking, { cast: 'latest', answer: 'yes' }),
    refused: no('UNKNOWN_CAST', empty, { cast: 'latest', answer: 'yes' }),
  },
  'cast.decide': {
    allowed: { missing: 'needs a turn of unknown outcome' },
    refused: no('UNKNOWN_CAST', empty, { turn: 'latest:7', choice: 'rerun' }),
  },
  approve: {
    allowed: ok(wished, (_, id) => ({ id })),
    refused: no('UNKNOWN_APPROVAL', empty, { id: 'P-0c2f81d4' }),
  },
  reject: {
    allowed: ok(wished, (_, id) => ({ id })),
    refused: no('UNKNOWN_APPROVAL', empty, { id: 'P-0c2f81d4' }),
  },
  'cast.abort': { allowed: ok(asking, { cast: 'latest' }), refused: NO_CAST },
  'cast.budget': {
    allowed: ok(asking, { cast: 'latest', minutes: 60 }),
    refused: no('UNKNOWN_CAST', empty, { cast: 'latest', minutes: 60 }),
  },
  'cast.list': { allowed: ok(casted) },
  'cast.show': { allowed: ok(casted, { cast: 'latest' }), refused: NO_CAST },
  'cast.why': { allowed: ok(casted, { cast: 'latest' }), refused: NO_CAST },
  'cast.watch': { allowed: ok(casted, { cast: 'latest' }), refused: NO_CAST },
  'cast.wait': { allowed: ok(casted, { cast: 'latest' }), refused: NO_CAST },
  'cast.turn': { allowed: ok(casted, { cast: 'latest', turn: 1 }), refused: no('UNKNOWN_CAST', empty, { turn: 1 }) },
  status: { allowed: ok(casted) },
  metrics: { allowed: ok(tasked) },
  init: { allowed: ok(empty, { agent: 'claude' }), refused: no('BAD_USAGE', pinned, { agent: 'claude' }) },
  doctor: { allowed: { missing: 'its findings depend on the machine' } },
  'agents.list': { allowed: ok(empty) },
  'agents.test': {
    allowed: { missing: 'asks real agents' },
    refused: no('BAD_USAGE', empty, { name: 'nothing' }),
  },
  install: {
    allowed: ok(empty, { agent: 'codex', yes: true }),
    refused: no('BAD_USAGE', empty, { agent: 'codex', skill: true, yes: true }),
  },
  'hooks.verify': { allowed: { missing: 'starts the real Claude Code' } },
  'task.create': {
    allowed: ok(empty, { packet: packet('T-1') }),
    refused: no('MISSING_REQUIRED_INPUT', empty, { packet: {} }),
  },
  'task.claim': {
    allowed: ok(tasked, { task: 'T-1', owner: 'ann' }),
    refused: no('INVALID_TRANSITION', claimed, { task: 'T-1', owner: 'bob' }),
  },
  'task.next': { allowed: ok(tasked, { owner: 'ann' }), refused: no('NOT_ALLOWED_NOW', claimed, { owner: 'bob' }) },
  'task.finish': {
    allowed: { missing: 'needs a result that fits what was changed' },
    refused: no('MISSING_REQUIRED_INPUT', claimed, (fence) => ({ result: {}, fence })),
  },
  'task.move': {
    allowed: ok(tasked, { task: 'T-1', status: 'canceled', reason: 'x' }),
    refused: no('INVALID_TRANSITION', tasked, { task: 'T-1', status: 'done', reason: 'x' }),
  },
  'task.list': { allowed: ok(tasked) },
  'task.apply': {
    allowed: ok(tasked, { stream: [], run: RUN }),
  },
  heartbeat: {
    allowed: ok(claimed, (fence) => ({ task: 'T-1', owner: 'ann', fence })),
    refused: no('CONCURRENCY_CONFLICT', claimed, { task: 'T-1', owner: 'ann', fence: 99 }),
  },
  'lock.list': { allowed: ok(claimed) },
  'lock.check': {
    allowed: ok(claimed, { paths: ['docs'] }),
    refused: no('LOCK_CONFLICT', claimed, { paths: ['src/x.ts'] }),
  },
  'lock.request': { allowed: { missing: 'needs an attempt of a cast around it' } },
  'worklog.add': { allowed: { missing: 'needs an entry that fits the claim' } },
  'worklog.show': { allowed: ok(claimed, { task: 'T-1' }) },
  reconcile: { allowed: ok(tasked) },
  bundle: { allowed: ok(tasked) },
  hold: { allowed: ok(tasked, { reason: 'release' }) },
  unhold: { allowed: ok(held) },
  watchdog: { allowed: ok(claimed) },
  gate: {
    allowed: ok(tasked, { name: 'lock-update', payload: [] }),
    refused: no('BAD_USAGE', tasked, { name: 'nothing', payload: {} }),
  },
  check: { allowed: ok(set), refused: no('BAD_USAGE', empty, { file: 'missing.json' }) },
  compile: { allowed: ok(team), refused: no('BAD_USAGE', empty, { loadout: 'missing.yaml' }) },
  graph: { allowed: ok(team), refused: no('BAD_USAGE', empty, { of: 'missing' }) },
  validate: {
    allowed: ok(empty, { kind: 'materia', payload: '{"satisfied": true}' }),
    refused: no('NOT_JSON', empty, { kind: 'materia', payload: 'oops' }),
  },
  explain: { allowed: ok(empty, { code: 'LOCK_CONFLICT' }), refused: no('BAD_USAGE', empty, { code: 'NOTHING' }) },
  'registry.lock': { allowed: ok(pinned, { reason: 'x' }) },
  'registry.verify': { allowed: ok(pinned) },
  'registry.list': { allowed: ok(pinned) },
  'registry.quarantine': { allowed: ok(pinned) },
  'registry.release': { allowed: { missing: 'needs something that is blocked' } },
  'registry.import': { allowed: { missing: 'needs a registry of another folder' } },
  'handoff.verify': { allowed: { missing: 'needs an envelope that was signed just now' } },
  'context.show': { allowed: ok(set) },
  'context.diff': { allowed: { missing: 'needs a section with versions' } },
  'context.history': { allowed: { missing: 'needs a section with versions' } },
  'context.revert': { allowed: { missing: 'needs a section with versions' } },
  'context.set': { allowed: ok(set, { section: 'services', value: { web: { port: 1 } } }) },
  'memory.list': { allowed: ok(set) },
  'memory.accept': { allowed: { missing: 'needs a suggestion of an agent' } },
  'memory.drop': { allowed: { missing: 'needs a suggestion of an agent' } },
  'token.create': {
    allowed: ok(empty, { role: 'viewer' }),
    refused: no('BAD_USAGE', empty, { role: 'king' }),
  },
  'token.list': { allowed: ok(empty) },
  'token.revoke': { allowed: { missing: 'the tokens of the user are the same for every way in' } },
  trust: { allowed: ok(empty) },
  log: { allowed: ok(casted, { after: 0 }), refused: NO_CAST },
  'audit.verify': { allowed: ok(casted), refused: no('UNKNOWN_CAST', empty) },
  'audit.prove': { allowed: ok(casted, { seq: 1 }), refused: no('BAD_USAGE', casted, {}) },
  'audit.checkpoint': { allowed: ok(casted), refused: no('UNKNOWN_CAST', empty) },
  'audit.key': { allowed: ok(empty) },
  'audit.outside': { allowed: ok(empty) },
  export: {
    allowed: ok(casted, { cast: 'latest', output: 'run.baton' }),
    refused: no('UNKNOWN_CAST', empty, { cast: 'latest', output: 'run.baton' }),
  },
  verify: {
    allowed: ok(
      async () => {
        const made = await casted();
        await baton(made.dir, ['export', 'latest', '-o', 'run.baton']);
        return made;
      },
      { file: 'run.baton' },
    ),
    refused: no('BAD_USAGE', empty, { file: 'missing.baton' }),
  },
  'cast.diff': { allowed: ok(worked, { cast: 'latest' }), refused: NO_CAST },
  'cast.merge': {
    allowed: ok(worked, { cast: 'latest', squash: true, message: 'Take it over' }),
    refused: no('NOT_ALLOWED_NOW', casted, { cast: 'latest' }),
  },
  'cast.undo': { allowed: ok(worked, { cast: 'latest', yes: true }), refused: no('NOT_ALLOWED_NOW', worked, {}) },
  gc: { allowed: ok(casted, { dryRun: true }), refused: no('BAD_USAGE', casted, { olderThan: 'soon' }) },
  'approvals.list': { allowed: ok(wished) },
  'approvals.request': {
    allowed: ok(empty, { request: WISH }),
    refused: no('CONTRACT_VIOLATION', empty, { request: {} }),
  },
  'cast.trace': { allowed: ok(worked, { what: 'a.txt' }) },
  exec: {
    allowed: { missing: 'needs an approval that its person has given' },
    refused: no('UNKNOWN_APPROVAL', empty, { approval: 'P-0c2f81d4', argv: ['rm', 'a.txt'] }),
  },
};
