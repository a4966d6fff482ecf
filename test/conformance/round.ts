// A small cast for tests of what lies around the kernel: build, evaluate, and again, until the last evaluation is
// satisfied. Built on the configuration people write, so that it goes the whole way.
import type { Rules, Script } from '../../src/kernel/graph/config.ts';
import { resolve } from '../../src/kernel/graph/resolve.ts';
import type { Request } from '../../src/kernel/input.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';

export type Round = { readonly loadout: string; readonly rules: Rules; readonly script: Script };

export type RoundOptions = {
  /** How many turns it takes: an even number. */
  readonly turns?: number;
  /** What the builder says each time. */
  readonly build?: Json;
  readonly budget?: JsonObject;
  /** What happens to a builder that was cut off. */
  readonly onCrash?: 'wait';
};

export function round({ turns = 2, build = 'Built as asked.', budget = {}, onCrash }: RoundOptions = {}): Round {
  const rounds = turns / 2;
  const config: JsonObject = {
    budget,
    materia: {
      Build: { tools: 'none', prompt: 'Build it.', ...(onCrash ? { onCrash } : {}) },
      Eval: { tools: 'none', prompt: 'Evaluate it.' },
    },
    loadouts: {
      Round: {
        entry: 'Socket-1',
        sockets: {
          'Socket-1': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
          'Socket-2': {
            materia: 'Eval',
            parse: 'json',
            edges: [
              { when: 'satisfied', to: 'end' },
              { when: 'not_satisfied', to: 'Socket-1', maxTraversals: rounds },
            ],
          },
        },
      },
    },
  };
  const evaluations = Array.from({ length: rounds }, (_, index) => ({ satisfied: index === rounds - 1 }));
  const script = { Build: [build, '$repeat'], Eval: evaluations };
  return { loadout: 'Round', rules: resolve(config, 'Round'), script };
}

export function startOf(cast: string, options: RoundOptions = {}): Request {
  return { kind: 'cast.start', cast, request: 'do it', ...round(options) };
}
