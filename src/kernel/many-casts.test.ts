// What holds for several casts that share a workspace: whatever they do and in whatever order, no two write to the same
// paths at once, none waits for ever, and the facts alone tell it all.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerFor, replayed } from '../../test/play.ts';
import { config, data, script } from '../../test/random-casts.ts';
import { dialects } from '../dialects/index.ts';
import { decide } from './decide.ts';
import type { Entry } from './fact.ts';
import type { Script } from './graph/config.ts';
import { resolve } from './graph/resolve.ts';
import type { Request } from './input.ts';
import type { JsonObject } from './json.ts';
import { overlaps } from './ledger/overlap.ts';
import { heldLocks } from './ledger/wire.ts';
import { pending } from './pending.ts';
import { emptyState, isOver } from './state.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 150) };
const PATIENCE = { timeout: 30_000 + RUNS.numRuns * 200 };
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
