// What holds for every cast, whatever the loadout, whatever the agents say, whoever interferes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hangingCasts } from '../../test/hanging-casts.ts';
import { graph } from '../../test/loadouts.ts';
import { answerFor, type Play, play, replayed } from '../../test/play.ts';
import { config, data, script } from '../../test/random-casts.ts';
import { isOver } from './cast/state.ts';
import type { Fact } from './fact.ts';
import type { Request } from './input.ts';
import type { Json, JsonObject } from './json.ts';
import { tasksOf } from './ledger/state.ts';
import { heldLocks } from './ledger/wire.ts';
import { utf8Length } from './text.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 300) };
/** Ample on a busy machine, and for more runs than usual. */
const PATIENCE = { timeout: 120_000 + RUNS.numRuns * 200 };

/** What happens next: mostly an owed answer, sometimes an interference. */
type Deed = { readonly kind: string; readonly turn: number; readonly attempt: number; readonly amount: number };

const deed: fc.Arbitrary<Deed> = fc.record({
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constant('answer') },
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        ...['abort', 'pause', 'resume', 'recast', 'revive', 'lost', 'budget', 'clock', 'again'],
        ...['prepared', 'output', 'failed', 'verified', 'rerun', 'accept', 'fail', 'start', 'elsewhere'],
        ...['hold', 'unhold', 'expire', 'recover', 'recover', 'todo', 'canceled', 'failed-by-hand'],
      ),
    },
  ),
  turn: fc.integer({ min: 0, max: 12 }),
  attempt: fc.integer({ min: 0, max: 4 }),
  amount: fc.integer({ min: -1, max: 200 }),
});

test('a cast keeps its promises whatever happens to it', PATIENCE, () => {
  fc.assert(
    fc.property(config, script, data, fc.array(deed, { maxLength: 40 }), (config, agents, data, deeds) => {
      const cast = play({ config, agents, data, hold: true });
      let last: Request = { kind: 'clock.rang', cast: 'c' };
      for (const each of deeds) {
        const request: Request = each.kind === 'again' ? last : requestOf(cast, each);
        const before = { facts: cast.entries.length, data: cast.cast.data };
        cast.tell(request);
        last = request;
        holdsAfter(cast, before);
      }
      cast.tell({ kind: 'ledger.unhold', reason: 'enough' });
      // Whatever was done to it, somebody who carries it on brings it to an end.
      cast.run();
      for (const verb of ['cast.resume', 'cast.recast', 'cast.revive'] as const) {
        cast.say({ kind: verb, cast: 'c', reason: 'carried on' } as Request);
        hangsNot(cast);
        expect(cast.owed).toEqual([]);
      }
      holdsAtTheEnd(cast, config);
    }),
    RUNS,
  );
});

function requestOf(cast: Play, { kind, turn, attempt, amount }: Deed): Request {
  const at = { cast: 'c', turn, attempt };
  const due = cast.owed.find((effect) => effect.kind === 'prepare' || effect.kind === 'dispatch');
  switch (kind) {
    case 'answer':
      if (!due) return { kind: 'clock.rang', cast: 'c' };
      return due.kind === 'dispatch'
        ? answerFor(cast.cast, due.turn, due.attempt)
        : { kind: 'turn.prepared', cast: 'c', turn: due.turn, attempt: due.attempt };
    case 'lost':
      return {
        kind: 'attempt.lost',
        ...(due?.kind === 'dispatch' ? { cast: 'c', turn: due.turn, attempt: due.attempt } : at),
        mayHaveRun: amount % 2 === 0,
        reason: 'gone',
      };
    case 'abort':
    case 'pause':
    case 'resume':
      return { kind: `cast.${kind}`, cast: 'c', reason: 'because' };
    case 'recast':
    case 'revive':
      return { kind: `cast.${kind}`, cast: 'c' };
    case 'budget':
      return { kind: 'budget.change', cast: 'c', maxTokens: amount };
    case 'prepared':
    case 'verified':
      return { kind: `turn.${kind}`, ...at, seal: amount % 3 === 0 ? 'other' : 'seal' };
    case 'output':
      return { kind: 'attempt.output', ...at, output: '{"satisfied":true}' };
    case 'failed':
      return { kind: 'attempt.failed', ...at, fault: 'crash', reason: 'crash' };
    case 'rerun':
    case 'accept':
    case 'fail': {
      const unknown = Object.values(cast.cast.turns).find(({ phase }) => phase === 'unknown');
      const output = amount % 3 === 0 ? { output: '{"satisfied":true,"workItems":[]}' } : {};
      return { kind: 'turn.decide', cast: 'c', turn: unknown?.id ?? turn, choice: kind, ...output };
    }
    case 'start': {
      const { rules, script } = cast.cast;
      return { kind: 'cast.start', cast: 'c', request: 'again', loadout: 'Flow', rules, script };
    }
    case 'hold':
    case 'unhold':
      return { kind: `ledger.${kind}`, reason: 'because' };
    case 'expire':
      return {
        kind: 'task.expire',
        run: 'c',
        task: `${amount % 2 === 0 ? 'T' : 'turn'}-${turn}`,
        lastHeartbeatAt: null,
        why: 'gone',
      };
    case 'recover': {
      // The tasks may be silent for half an hour; some are found to be so.
      const silent = Date.parse(cast.entries.at(-1)?.at ?? '') + (amount % 3 === 0 ? 3_600_000 : 1);
      cast.tell({ kind: 'cast.recover', cast: 'c', driver: { host: 'h', pid: 1 } }, silent);
      return { kind: 'cast.recover', cast: 'c', driver: { host: 'h', pid: 2 }, seen: { [turn]: 'answered' } };
    }
    case 'todo':
    case 'canceled':
    case 'failed-by-hand': {
      const to = kind === 'failed-by-hand' ? 'failed' : kind;
      const blocked = tasksOf(cast.state.ledger, 'c').find(({ status }) => status === 'blocked');
      const task = amount % 2 === 0 ? (blocked?.id ?? `T-${turn}`) : `T-${turn}`;
      return { kind: 'task.move', run: 'c', task, to, reason: 'because' };
    }
    case 'elsewhere':
      return { kind: 'cast.abort', cast: 'constructor', reason: 'no such cast' };
    default:
      return { kind: 'clock.rang', cast: 'c' };
  }
}

function hangsNot(cast: Play): void {
  expect(hangingCasts(cast.state, Date.parse(cast.entries.at(-1)?.at ?? ''))).toEqual([]);
}

const MOVES: readonly Fact['kind'][] = ['turn.accepted', 'edge.taken', 'exit.taken', 'cursor.advanced', 'rework.noted'];

function holdsAfter(cast: Play, before: { readonly facts: number; readonly data: JsonObject }): void {
  if (cast.cast.status !== 'running') expect(cast.owed).toEqual([]);
  hangsNot(cast);
  const facts = cast.facts.slice(before.facts);
  const refused = facts.find((fact) => fact.kind === 'attempt.refused');
  if (!refused) return;
  expect(facts.map(({ kind }) => kind).filter((kind) => MOVES.includes(kind))).toEqual([]);
  // A utility that could not do its job may say so in the data; nothing else of a refused output stays.
  if (refused.changes === undefined) expect(cast.cast.data).toEqual(before.data);
  else expect(cast.cast.code).toBe('UTILITY_FAILED');
}

function holdsAtTheEnd(cast: Play, { limits }: JsonObject): void {
  // Not only equal: a text made from the state must not show whether the cast was read back.
  expect(JSON.stringify(replayed(cast.entries))).toBe(JSON.stringify(cast.state));
  for (const kind of ['turn.started', 'turn.accepted'] as const) {
    const turns = cast.all(kind).map(({ turn }) => turn);
    expect(new Set(turns).size).toBe(turns.length);
  }
  const left = [...cast.all('edge.taken'), ...cast.all('exit.taken')].flatMap(({ turn }) =>
    turn === null ? [] : [turn],
  );
  expect(new Set(left).size).toBe(left.length);
  const accepted = cast.all('turn.accepted').map(({ turn }) => turn);
  expect(left.filter((turn) => !accepted.includes(turn))).toEqual([]);
  if (isOver(cast.cast.status)) {
    expect(heldLocks(cast.state.ledger)).toEqual([]);
    expect(tasksOf(cast.state.ledger, 'c').filter(({ status }) => status === 'in_progress')).toEqual([]);
  }
  if (cast.cast.status === 'aborted') {
    const rows = tasksOf(cast.state.ledger, 'c').filter(({ id }) => /^[0-9a-f-]{36}$/.test(id));
    expect(rows.filter(({ status }) => status === 'blocked')).toEqual([]);
  }
  const bytesMax = (limits as JsonObject).maxBriefBytes as number;
  for (const { brief } of cast.all('attempt.started')) expect(utf8Length(brief)).toBeLessThanOrEqual(bytesMax);
}

test('a cast that costs nothing still ends, or keeps finishing items', PATIENCE, () => {
  fc.assert(
    fc.property(config, script, data, ({ budget: _, ...config }, agents, data) => {
      const cast = play({ config, agents, data, hold: true });
      let turns = 0;
      for (let step = 0; step < 600 && cast.owed.length > 0; step++) {
        const facts = cast.entries.length;
        cast.tell(requestOf(cast, { kind: 'answer', turn: 0, attempt: 0, amount: 0 }));
        hangsNot(cast);
        const news = cast.facts.slice(facts);
        if (news.some((fact) => fact.kind === 'cursor.advanced' && fact.item !== null)) turns = 0;
        turns += news.filter(({ kind }) => kind === 'turn.started').length;
        expect(turns).toBeLessThan(300);
      }
    }),
    RUNS,
  );
});

test('without items the guard and the retry budgets end every cast, though nothing costs anything', PATIENCE, () => {
  const ids = ['Socket-1', 'Socket-2', 'Socket-3', 'Socket-4'];
  const edge = fc.record({ to: fc.constantFrom(...ids), maxTraversals: fc.option(fc.integer({ min: 1, max: 3 })) });
  const edges = fc.tuple(edge, edge).map(([good, bad]) =>
    [
      { when: 'satisfied', ...good },
      { when: 'not_satisfied', ...bad },
    ].map(({ maxTraversals, ...rest }) => {
      return maxTraversals === null ? rest : { ...rest, maxTraversals };
    }),
  );
  const said = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.tuple(edges, edges, edges, edges), fc.tuple(said, said, said, said), (all, outcomes) => {
      const sockets = Object.fromEntries(ids.map((id, index) => [id, { materia: 'Judge', edges: all[index] as Json }]));
      const turns = (outcomes: readonly boolean[]) => [...outcomes.map((satisfied) => ({ satisfied })), '$repeat'];
      const agents = Object.fromEntries(ids.map((id, index) => [id, turns(outcomes[index] ?? [])]));
      const cast = play({ config: graph(sockets), agents });
      hangsNot(cast);
      const { code } = cast.cast;
      expect(['NO_PROGRESS', 'EDGE_BUDGET_EXHAUSTED']).toContain(code);
    }),
    RUNS,
  );
});
