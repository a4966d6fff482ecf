// Tasks and locks: teams whose tasks run side by side, casts that stand in each other's way, a merge that clashes, a process
// that is gone, and the ledger by hand.
import type { JsonObject } from '../../../src/kernel/json.ts';
import { result as handedIn, OTHER_RUN, packet, RUN } from '../../../src/kernel/ledger/fixtures/book.ts';
import { always, graph, notSatisfied, satisfied } from '../../loadouts.ts';
import { envelope, result, TEAM } from '../../team.ts';
import { SEAL, type Stage } from './stage.ts';

const WRITER = graph({ 'Socket-1': { materia: 'Write' } });
const stuck = (id: string, note: string): JsonObject =>
  result(id, { status: 'blocked', acceptance_check: [], notes_for_orchestrator: [note] });

export async function tellOfLedger(stage: Stage): Promise<void> {
  await besideOneAnother(stage);
  await inTheWay(stage);
  await cutOff(stage);
  await merged(stage);
  await strayed(stage);
  await leftEarly(stage);
  await byHand(stage);
}

/** One item finds no way on and is judged again; the other one leaves the loop by an edge, as the last that is in it. */
async function leftEarly(stage: Stage): Promise<void> {
  const edges = [satisfied('Socket-2'), notSatisfied('Socket-3', 1)];
  const judge = { materia: 'Judge', parse: 'json', edges, advance: WALK };
  const sockets = {
    'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
    'Socket-2': { ...judge, edges: [satisfied('Socket-4')], advance: { ...WALK, when: 'not_satisfied' } },
    'Socket-3': { materia: 'Sum' },
    'Socket-4': judge,
  };
  const loops = { work: { sockets: ['Socket-2', 'Socket-4'], consumes: { from: 'Socket-1', output: 'workItems' } } };
  const none = { tools: 'none', prompt: 'Do it.' };
  const config = graph(sockets, { loops, materia: { Lead: { ...none, generator: true }, Sum: none } });
  const [yes, no] = [{ satisfied: true }, { satisfied: false, context: 'not worth it' }];
  const script = {
    Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })],
    'Socket-2': [no, yes],
    'Socket-4': [no],
    Sum: ['One was left.'],
  };
  await stage.start('left', { config, request: 'golden left', script });
  await stage.play('left');

  const open = graph(
    { ...sockets, 'Socket-2': { ...judge, edges: [satisfied('Socket-2')] }, 'Socket-4': { materia: 'Sum' } },
    {
      loops: { work: { ...loops.work, sockets: ['Socket-2'] } },
      materia: { Lead: { ...none, generator: true }, Sum: none },
    },
  );
  await stage.start('again', {
    config: open,
    request: 'golden again',
    script: { ...script, 'Socket-2': [no, yes, yes] },
  });
  await stage.play('again');
  await stage.tell({ kind: 'cast.resume', cast: 'again', reason: 'judge it again' });
  await stage.play('again');
}

const WALK = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };

/** One task is blocked, a person holds the workspace, lets go and carries on. */
async function besideOneAnother(stage: Stage): Promise<void> {
  const script = {
    Lead: [envelope({ id: 'T-1' }, { id: 'T-2' }, { id: 'T-3', dependencies: ['T-1'] })],
    Worker: [stuck('T-1', 'the key is missing'), result('T-2'), result('T-1'), result('T-3')],
    Sum: ['All of it.'],
  };
  await stage.start('team', { config: TEAM, request: 'golden team', script });
  await stage.play('team');
  await stage.tell({ kind: 'ledger.hold', reason: 'deploying' });
  await stage.tell({ kind: 'cast.resume', cast: 'team', reason: 'the key is there' });
  await stage.tell({ kind: 'ledger.unhold', reason: 'deployed' });
  await stage.play('team');
}

/** Casts that write to the same paths: the others are put off until the first is done, a team with all its lanes. */
async function inTheWay(stage: Stage): Promise<void> {
  const script = { Write: ['Written.'] };
  for (const cast of ['first', 'second']) await stage.start(cast, { config: WRITER, request: 'write', script });
  const team = { Lead: [envelope({ id: 'T-1' })], Worker: [result('T-1')], Sum: ['Done.'] };
  await stage.start('queue', { config: TEAM, request: 'golden queue', script: team });
  await stage.play('queue');
  await stage.play('first');
  await stage.play('second');
  await stage.play('queue');
}

/** The process that drove a team is gone: who was silent for too long loses the task, the other one begins again. */
async function cutOff(stage: Stage): Promise<void> {
  const script = {
    Lead: [envelope({ id: 'T-1', timeout_seconds: 60, heartbeat_interval_seconds: 10 }, { id: 'T-2' })],
    Worker: [result('T-1'), result('T-2'), '$repeat'],
    Sum: ['Both.'],
  };
  const runId = OTHER_RUN;
  await stage.start('cut', { config: TEAM, request: 'golden cut', script, runId });
  await stage.playTo('cut', 'Socket-2');
  stage.wait(120_000);
  await stage.tell({ kind: 'cast.recover', cast: 'cut', driver: { host: 'golden', pid: 7 } });
  for (const task of ['T-1', 'T-2']) {
    const at = await stage.turn('cut', task);
    await stage.tell({ kind: 'attempt.lost', ...at, mayHaveRun: true, reason: 'its process is gone' });
  }
  await stage.play('cut');
}

/** Items in worktrees of their own: what one did clashes with the other, is done again, and then there is nothing to merge. */
async function merged(stage: Stage): Promise<void> {
  const script = {
    Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })],
    Worker: [result('T-1'), result('T-2'), result('T-1')],
    Sum: ['Joined.'],
  };
  await stage.start('joined', { config: TEAM, request: 'golden joined', script, root: 'trees/joined' });
  await stage.playTo('joined', 'Socket-2');
  for (const task of ['T-1', 'T-2']) await stage.say(await stage.turn('joined', task), result(task));
  const first = await stage.turn('joined', 'T-1');
  const clash = { ok: false, reason: 'it cannot be merged', files: ['src/T-1.ts', 'docs/both.md'] } as const;
  await stage.tell({ kind: 'turn.merged', ...first, merge: clash }, 'MERGE_CONFLICT');
  const second = await stage.turn('joined', 'T-2');
  await stage.tell({ kind: 'turn.merged', ...second, merge: { ok: true, commit: 'c0ffee' } });
  await stage.play('joined');
}

/** Agents that are looked at: a stray change is refused, not forgiven by going on, and taken back in the end. */
async function strayed(stage: Stage): Promise<void> {
  const sealed = { seal: SEAL };
  await stage.start('stray', { config: TEAM, request: 'golden stray' });
  await stage.prepare('stray', sealed);
  const lead = await stage.turn('stray');
  await stage.say(lead, envelope({ id: 'T-1' }));
  await stage.verify(lead);
  const agent = { runner: 'claude', model: 'golden-1' };
  for (const changes of [{ 'stray.txt': 'one' }, { 'stray.txt': 'two' }]) {
    await stage.prepare('stray', sealed);
    const at = await stage.turn('stray');
    await stage.say(at, result('T-1'), { agent });
    await stage.verify(at, { changes }, 'SCOPE_VIOLATION');
  }
  await stage.tell({ kind: 'cast.resume', cast: 'stray', reason: 'look again' });
  await stage.prepare('stray', sealed);
  const blocked = await stage.turn('stray');
  await stage.say(blocked, stuck('T-1', 'the file is not ours'), { agent });
  await stage.verify(blocked, { changes: { 'src/T-1.ts': null } }, 'MISSING_REQUIRED_INPUT');
}

/** A claim, one refused, an entry of a worklog, deltas, two ends, and a run that is opened once more. */
async function byHand(stage: Stage): Promise<void> {
  const task = { run: RUN, task: 'T-1' };
  await stage.tell({ kind: 'ledger.configure', foldCase: true });
  await stage.tell({ kind: 'ledger.link', root: 'main', links: { lnk: 'src' } });
  await stage.tell({ kind: 'task.create', packet: packet('T-1', { lock_scope: ['Src'] }) });
  await stage.tell({ kind: 'task.create', packet: packet('T-2', { lock_scope: ['lnk/a'] }) });
  await stage.tell({ kind: 'task.claim', ...task, owner: 'ann' });
  await stage.tell({ kind: 'task.claim', ...task, task: 'T-2', owner: 'bob' }, 'LOCK_CONFLICT');
  const entry = { run_id: RUN, task_id: 'T-1', actor: 'ann', action: 'edit', result: 'half done' };
  await stage.tell({ kind: 'worklog.add', ...task, entry });
  const later = { task_id: 'T-9', status: 'todo', owner: 'unassigned', reason: 'later', delta_id: 'd-1' };
  await stage.tell({ kind: 'deltas.apply', run: RUN, stream: [{ ...later, x_create: true }] });
  await stage.tell({ kind: 'task.move', ...task, to: 'canceled', reason: 'not wanted' });
  const { details } = await stage.tell({ kind: 'task.claim', ...task, task: 'T-2', owner: 'bob' });
  const done = handedIn('T-2', { changes: [{ resource: 'src/a', action: 'edit' }] });
  await stage.tell({ kind: 'task.finish', ...task, task: 'T-2', fence: Number(details.fence), result: done });
  const again = '0b0c7a52-1f6e-4a86-9d3c-6f5f2f9a1d10';
  await stage.tell({ kind: 'task.create', packet: packet('T-1', { run: again }) });
  await stage.tell({ kind: 'task.move', run: again, task: 'T-1', to: 'canceled', reason: 'too early' });
  await stage.tell({ kind: 'task.create', packet: packet('T-2', { run: again }) });
}
