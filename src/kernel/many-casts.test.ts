// What holds for several casts that share a workspace: whatever they do and in whatever order, no two write to the same
// paths at once, none waits for ever, and the facts alone tell it all.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hangingCasts } from '../../test/hanging-casts.ts';
import { answerFor, replayed } from '../../test/play.ts';
import { config, data, script } from '../../test/random-casts.ts';
import { envelope, result, TEAM } from '../../test/team.ts';
import { dialects } from '../dialects/index.ts';
import { type Cast, isOver } from './cast/state.ts';
import { decide } from './decide.ts';
import type { Entry } from './fact.ts';
import type { Script } from './graph/config.ts';
import { resolve } from './graph/resolve.ts';
import type { Request } from './input.ts';
import type { JsonObject } from './json.ts';
import { overlaps } from './ledger/path.ts';
import { heldLocks } from './ledger/wire.ts';
import { pending } from './pending.ts';
import { emptyState } from './state.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 150) };
const PATIENCE = { timeout: 120_000 + RUNS.numRuns * 200 };
const STEPS_MAX = 3_000;
const SCOPES: readonly (readonly string[])[] = [['.'], ['src'], ['src/a', 'docs'], ['test/x']];

/** The loadout with a scope on every socket that writes. */
function scoped(authored: JsonObject, lockScope: readonly string[]): JsonObject {
  const materia = authored.materia as Record<string, JsonObject>;
  return { ...authored, materia: { ...materia, Write: { ...materia.Write, lockScope } } };
}

test('casts that share a workspace never write to the same paths at once, and all come to an end', PATIENCE, () => {
  const one = fc.record({ config, script, data, scope: fc.constantFrom(...SCOPES) });
  fc.assert(
    fc.property(fc.array(one, { minLength: 2, maxLength: 4 }), fc.infiniteStream(fc.nat()), (casts, chance) => {
      const state = emptyState();
      const entries: Entry[] = [];
      let now = Date.parse('2026-01-01T00:00:00.000Z');
      const submit = (request: Request) => {
        now += 1;
        const { facts } = decide(dialects, state, { ...request, at: now, by: 'test' } as never);
        for (const fact of facts) {
          entries.push({ v: 1, seq: entries.length + 1, at: new Date(now).toISOString(), prev: '', by: 'test', fact });
        }
        expect(hangingCasts(state, now)).toEqual([]);
        const held = heldLocks(state.ledger).filter(({ mode }) => mode === 'write');
        for (const a of held) for (const b of held) expect(a.run === b.run || !overlaps(a.path, b.path)).toBe(true);
      };
      for (const [index, { config, script, data, scope }] of casts.entries()) {
        const rules = resolve(scoped(config, scope), 'Flow');
        submit({
          kind: 'cast.start',
          cast: `c${index}`,
          request: 'x',
          loadout: 'Flow',
          rules,
          script: script as Script,
          data,
        });
      }
      for (let step = 0; step < STEPS_MAX; step++) {
        const due = Object.values(state.casts).flatMap((cast) => pending(cast).filter(({ kind }) => kind !== 'timer'));
        const effect = due[(chance.next().value ?? 0) % Math.max(1, due.length)];
        if (!effect || effect.kind === 'timer') break;
        const cast = state.casts[effect.cast];
        if (!cast) throw new Error('no cast');
        const { turn, attempt } = effect;
        submit(
          effect.kind === 'prepare'
            ? { kind: 'turn.prepared', cast: cast.id, turn, attempt }
            : answerFor(cast, turn, attempt),
        );
      }
      const waiting = Object.values(state.casts).filter(({ status }) => status === 'waiting');
      for (const { status, turns } of Object.values(state.casts)) {
        // Whoever waits for a person keeps its paths, and another cast may have to wait for them.
        const isHeld = waiting.length > 0 && Object.values(turns).every(({ phase }) => phase === 'held');
        expect(isOver(status) || status === 'waiting' || isHeld).toBe(true);
      }
      if (waiting.length === 0) expect(heldLocks(state.ledger)).toEqual([]);
      expect(replayed(entries)).toEqual(state);
    }),
    RUNS,
  );
});

const wish = fc.record({
  lock_scope: fc.constantFrom(['src'], ['src/a'], ['docs'], ['docs/x', 'test']),
  priority: fc.constantFrom('low', 'normal', 'critical'),
  type: fc.constantFrom('parallelizable', 'parallelizable', 'serial'),
});
const TEAMS = fc.array(fc.array(wish, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 3 });
const deed = fc.record({
  kind: fc.constantFrom('work', 'work', 'work', 'blocked', 'pause', 'abort', 'resume', 'recast', 'wait'),
  which: fc.nat(20),
});

test('teams that share a workspace and are stopped and carried on never hang, and all come to an end', PATIENCE, () => {
  fc.assert(
    fc.property(TEAMS, fc.array(deed, { maxLength: 60 }), (teams, deeds) => {
      const state = emptyState();
      let now = Date.parse('2026-01-01T00:00:00.000Z');
      const submit = (request: Request, later = 1) => {
        now += later;
        decide(dialects, state, { ...request, at: now, by: 'test' } as never);
        expect(hangingCasts(state, now)).toEqual([]);
      };
      const casts = teams.map((_, index) => `c${index}`);
      for (const [index, wishes] of teams.entries()) {
        const plan = envelope(...wishes.map((each, place) => ({ id: `T-${place + 1}`, ...each })));
        const script = { Lead: [plan], Worker: ['x', '$repeat'], Sum: ['ok', '$repeat'] } as Script;
        const how = { request: 'x', loadout: 'Flow', rules: resolve(TEAM, 'Flow'), script };
        submit({ kind: 'cast.start', cast: casts[index] ?? '', ...how });
      }
      const work = (which: number, over: JsonObject = {}): boolean => {
        const due = Object.values(state.casts).flatMap((cast) => pending(cast).filter(({ kind }) => kind !== 'timer'));
        const effect = due[which % Math.max(1, due.length)];
        const turn = effect && 'turn' in effect ? state.casts[effect.cast]?.turns[effect.turn] : undefined;
        if (!effect || !turn || effect.kind === 'timer') return false;
        const at = { cast: effect.cast, turn: turn.id, attempt: effect.attempt };
        if (effect.kind === 'prepare') submit({ kind: 'turn.prepared', ...at });
        else if (turn.lane === null || turn.task === null)
          submit(answerFor(state.casts[at.cast] as Cast, turn.id, at.attempt));
        else submit({ kind: 'attempt.output', ...at, output: JSON.stringify(result(turn.task, over)) });
        return true;
      };
      const ring = () => {
        const timers = Object.values(state.casts).flatMap((cast) =>
          pending(cast).filter((each) => each.kind === 'timer'),
        );
        const [first] = timers.toSorted((a, b) => a.at - b.at);
        if (first) submit({ kind: 'clock.rang', cast: first.cast }, Math.max(1, first.at - now));
        return first !== undefined;
      };
      const steer = (cast: string) => {
        const status = state.casts[cast]?.status;
        if (status === 'failed' || status === 'aborted') submit({ kind: 'cast.recast', cast });
        else if (status === 'paused' || status === 'waiting') submit({ kind: 'cast.resume', cast, reason: 'go on' });
      };
      for (const { kind, which } of deeds) {
        const cast = casts[which % casts.length] ?? '';
        if (kind === 'work') work(which);
        else if (kind === 'blocked') work(which, { status: 'blocked', acceptance_check: [] });
        else if (kind === 'wait') ring();
        else if (kind === 'recast') submit({ kind: 'cast.recast', cast });
        else submit({ kind: `cast.${kind}` as 'cast.pause', cast, reason: 'because' });
      }
      const isOpen = () => Object.values(state.casts).some(({ status }) => status !== 'completed');
      for (let step = 0; step < STEPS_MAX && isOpen(); step++) {
        if (work(step) || ring()) continue;
        for (const cast of casts) steer(cast);
      }
      expect(Object.values(state.casts).map(({ status }) => status)).toEqual(casts.map(() => 'completed'));
      expect(heldLocks(state.ledger)).toEqual([]);
    }),
    RUNS,
  );
});
