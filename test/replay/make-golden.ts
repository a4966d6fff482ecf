// Writes an old log of the future: the lines of real casts as the program of today chains them, with the texts they refer
// to, and what they come to. Later programs must read it for ever (`golden.test.ts`).
//
// `node test/replay/make-golden.ts 2 && npm run format` makes the log of that number. One that was part of a release is
// never made anew. When a kind of fact is added or gets another form: extend the story below, make the next number, name
// its kinds in `golden.test.ts`, and keep the older logs as they are.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dialects } from '../../src/dialects/index.ts';
import { Desk } from '../../src/engine/desk.ts';
import type { Packet } from '../../src/kernel/cast/packet.ts';
import { check } from '../../src/kernel/graph/check.ts';
import { resolve } from '../../src/kernel/graph/resolve.ts';
import type { Request } from '../../src/kernel/input.ts';
import { isObject, type Json, type JsonObject } from '../../src/kernel/json.ts';
import { packet, RUN } from '../../src/kernel/ledger/fixtures/book.ts';
import { type Blob, dehydrate } from '../../src/log/blob-text.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { graph } from '../loadouts.ts';
import { envelope, result, TEAM } from '../team.ts';
import { outcomeOf } from './outcome.ts';

const config: JsonObject = {
  budget: { maxTokens: 1_000, warnAtPercent: 50 },
  materia: {
    Plan: { tools: 'none', prompt: 'Plan it.', generator: true },
    Build: { tools: 'none', prompt: 'Build {{item.title}}.' },
    Stamp: { type: 'utility', command: ['stamp'], parse: 'json', once: true },
    Eval: { tools: 'none', prompt: 'Evaluate it.' },
    Maintain: { tools: 'none', prompt: 'Tidy up.' },
    Review: { tools: 'none', prompt: 'Is the whole thing right?' },
  },
  loadouts: {
    Work: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Plan', assign: { plan: '$.context' }, edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-3' }] },
        'Socket-3': { materia: 'Stamp', assign: { stamps: '$.stamps' }, edges: [{ when: 'always', to: 'Socket-4' }] },
        'Socket-4': {
          materia: 'Eval',
          parse: 'json',
          edges: [
            { when: 'satisfied', to: 'Socket-5' },
            { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2 },
          ],
        },
        'Socket-5': {
          materia: 'Maintain',
          parse: 'json',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges: [{ when: 'always', to: 'Socket-2' }],
        },
        'Socket-6': {
          materia: 'Review',
          parse: 'json',
          edges: [
            { when: 'satisfied', to: 'end' },
            { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 },
          ],
        },
      },
      loops: {
        items: {
          sockets: ['Socket-2', 'Socket-3', 'Socket-4', 'Socket-5'],
          consumes: { from: 'Socket-1', output: 'workItems' },
          exits: [{ id: 'done', from: 'Socket-5', condition: 'satisfied', targetSocketId: 'Socket-6' }],
        },
      },
    },
    Round: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': {
          materia: 'Eval',
          parse: 'json',
          assign: { verdict: '$' },
          edges: [
            { when: 'satisfied', to: 'end' },
            { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 },
          ],
        },
      },
    },
  },
};

const LONG = 'Every example shows title and context only; what else an item may hold stands in the reference. '.repeat(
  5,
);
const no = { satisfied: false, context: 'The README still links to it.' };
const yes = { satisfied: true };

const work = {
  Plan: [
    'I would rather not.',
    {
      workItems: [
        { title: 'Sparse payloads', context: LONG },
        { title: 'Stale syntax', context: 'Drop it — 🧹.' },
      ],
      context: LONG,
    },
    { workItems: [{ title: 'One more', context: 'Just this.' }], context: 'Once more.' },
  ],
  Build: [
    { $turn: { fail: 'crash' } },
    { $turn: { output: 'Documented.', usage: { input: 300, output: 250, cost: 0.25 } } },
    'Dropped.',
    'Dropped the link too.',
    '$repeat',
  ],
  Eval: [yes, no, yes, '$repeat'],
  Maintain: [yes, '$repeat'],
  Review: [no, yes],
};

const memory = new MemoryLog();
let time = Date.parse('2026-01-01T00:00:00.000Z');
const opened = { kind: 'workspace.opened', origin: 'golden' } as const;
await memory.commit(0, () => [{ fact: opened, by: 'user:golden', at: time }]);
const desk = await Desk.open(memory, dialects, { now: () => (time += 250), snapshotEvery: 20 });
const stamps = new Map<string, number>();

async function submit(request: Request): Promise<void> {
  const { verdict } = await desk.submit(request, 'user:golden');
  console.log(request.kind, verdict.code, verdict.reason);
}

async function start(cast: string, loadout: string, script: Record<string, readonly Json[]>): Promise<void> {
  const request = `golden ${loadout}`;
  await submit({ kind: 'cast.start', cast, request, loadout, rules: resolve(config, loadout), script });
}

/** Does what is owed until nothing is, or until the named attempt is; answers that one's packet. */
async function playTo(cast: string, socket: string | null): Promise<Packet | null> {
  for (;;) {
    const owed = desk.owed(cast, () => true).find(({ effect }) => effect.kind !== 'timer');
    if (!owed || owed.effect.kind === 'timer') return null;
    const { turn, attempt } = owed.effect;
    if (!owed.packet) await submit({ kind: 'turn.prepared', cast, turn, attempt });
    else if (owed.packet.socket === socket) return owed.packet;
    else await submit(answerOf(owed.packet));
  }
}

function answerOf({ cast, turn, attempt, scripted }: Packet): Request {
  const common = { cast, turn, attempt };
  if (!scripted) {
    const count = (stamps.get(cast) ?? 0) + 1;
    stamps.set(cast, count);
    return { kind: 'attempt.output', ...common, output: JSON.stringify({ stamps: count }) };
  }
  const said = scripted.turn;
  if (said === undefined) return { kind: 'attempt.failed', ...common, fault: 'unscripted', reason: 'nothing to say' };
  if (!isObject(said) || !isObject(said.$turn)) return { kind: 'attempt.output', ...common, output: asText(said) };
  const { output = '', usage, fail } = said.$turn;
  if (fail === 'crash') return { kind: 'attempt.failed', ...common, fault: 'crash', reason: 'it crashed' };
  return {
    kind: 'attempt.output',
    ...common,
    output: asText(output),
    ...(isObject(usage) ? { usage: usage as never } : {}),
  };
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const errors = check(config).filter(({ level }) => level === 'error');
if (errors.length > 0) throw new Error(JSON.stringify(errors));

// Everything that can happen on the way: a repair, a crash, a lost attempt, an outcome nobody knows, a pause, rework.
await start('work', 'Work', work);
const lost = await playTo('work', 'Socket-2');
if (lost) await submit({ kind: 'attempt.lost', ...placeOf(lost), mayHaveRun: true, reason: 'the process is gone' });
const unknown = await playTo('work', 'Socket-3');
if (unknown) {
  await submit({ kind: 'attempt.lost', ...placeOf(unknown), mayHaveRun: true, reason: 'the process is gone' });
  const decision = { choice: 'accept', output: '{"stamps":1}', reason: 'the file is there' } as const;
  await submit({ kind: 'turn.decide', cast: 'work', turn: unknown.turn, ...decision });
}
await playTo('work', 'Socket-4');
await submit({ kind: 'cast.pause', cast: 'work', reason: 'lunch' });
await submit({ kind: 'cast.resume', cast: 'work', reason: 'back' });
await submit({ kind: 'budget.change', cast: 'work', maxTokens: 900, maxCost: 5 });
await playTo('work', null);

// An edge that is spent: worked on once more from there, then revived.
await start('spent', 'Round', { Build: ['Built.', '$repeat'], Eval: [no, no, no, yes] });
await playTo('spent', null);
await submit({ kind: 'cast.recast', cast: 'spent' });
await playTo('spent', null);
await submit({ kind: 'cast.revive', cast: 'spent' });
await playTo('spent', null);

// Aborted and carried on; one that fails for good; one that is still open.
await start('stopped', 'Round', { Build: ['Built.', '$repeat'], Eval: [yes] });
await submit({ kind: 'cast.abort', cast: 'stopped', reason: 'the wrong thing' });
await submit({ kind: 'cast.recast', cast: 'stopped' });
await playTo('stopped', null);
await start('silent', 'Round', { Build: ['Built.'], Eval: ['no', 'never'] });
await playTo('silent', null);
await start('open', 'Round', { Build: ['Built.', '$repeat'], Eval: [no, yes] });
await playTo('open', 'Socket-2');

// A team whose tasks run side by side: one is blocked, a person holds the workspace, lets go and carries on.
const plan = envelope({ id: 'T-1' }, { id: 'T-2' }, { id: 'T-3', dependencies: ['T-1'] });
const stuck = result('T-1', {
  status: 'blocked',
  acceptance_check: [],
  notes_for_orchestrator: ['the key is missing'],
});
const team = {
  Lead: [plan],
  Worker: [stuck, result('T-2'), result('T-1'), result('T-3')],
  Sum: ['All of it.'],
};
const rules = resolve(TEAM, 'Flow');
await submit({ kind: 'cast.start', cast: 'team', request: 'golden team', loadout: 'Flow', rules, script: team });
await playTo('team', null);
await submit({ kind: 'ledger.hold', reason: 'deploying' });
await submit({ kind: 'cast.resume', cast: 'team', reason: 'the key is there' });
await submit({ kind: 'ledger.unhold', reason: 'deployed' });
await playTo('team', null);

// Two casts that write to the same paths: the second is put off until the first is done.
const writer = resolve(graph({ 'Socket-1': { materia: 'Write' } }), 'Flow');
for (const cast of ['first', 'second']) {
  const common = { request: 'write', loadout: 'Flow', rules: writer, script: { Write: ['Written.'] } };
  await submit({ kind: 'cast.start', cast, ...common });
}
await playTo('first', null);
await playTo('second', null);

// The ledger by hand: a claim, one refused, an entry of a worklog, deltas, an end.
const byHand = { run: RUN, task: 'T-1' };
await submit({ kind: 'ledger.configure', foldCase: true });
await submit({ kind: 'task.create', packet: packet('T-1', { lock_scope: ['Src'] }) });
await submit({ kind: 'task.create', packet: packet('T-2', { lock_scope: ['src/a'] }) });
await submit({ kind: 'task.claim', ...byHand, owner: 'ann' });
await submit({ kind: 'task.claim', ...byHand, task: 'T-2', owner: 'bob' });
const entry = { run_id: RUN, task_id: 'T-1', actor: 'ann', action: 'edit', result: 'half done' };
await submit({ kind: 'worklog.add', ...byHand, entry });
const delta = { task_id: 'T-9', status: 'todo', owner: 'unassigned', reason: 'later', delta_id: 'd-1', x_create: true };
await submit({ kind: 'deltas.apply', run: RUN, stream: [delta] });
await submit({ kind: 'task.move', ...byHand, to: 'canceled', reason: 'not wanted' });

function placeOf({ cast, turn, attempt }: Packet): { cast: string; turn: number; attempt: number } {
  return { cast, turn, attempt };
}

const entries = await memory.read({ after: 0 });
const lines = await memory.lines(0, entries.length);
const head = await memory.head();
const note =
  'The lines of a log as they were chained, with the texts they refer to. Never edited and never made anew once released; make-golden.ts says how to add the next one.';
const records = entries.map(({ seq, fact }) => {
  const blobs: Blob[] = [];
  dehydrate(fact as unknown as JsonObject, blobs);
  return { line: lines[seq - 1]?.line, texts: Object.fromEntries(blobs.map(({ digest, text }) => [digest, text])) };
});
const path = (end: string) => fileURLToPath(new URL(`./golden-${process.argv[2] ?? '2'}${end}`, import.meta.url));
writeFileSync(path('.jsonl'), `${[{ note }, ...records].map((record) => JSON.stringify(record)).join('\n')}\n`);
writeFileSync(path('.out.json'), `${JSON.stringify({ head, ...outcomeOf(entries) }, null, 2)}\n`);
