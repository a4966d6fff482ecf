// Casts to measure with: a round of two sockets that goes on for as long as its edge budget lasts.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runners } from '../src/agents/index.ts';
import { Engine } from '../src/engine/drive.ts';
import type { Store } from '../src/engine/store.ts';
import type { Rules, Script } from '../src/kernel/graph/config.ts';
import { resolve } from '../src/kernel/graph/resolve.ts';
import type { JsonObject } from '../src/kernel/json.ts';

export function scratch(): string {
  return mkdtempSync(join(tmpdir(), 'baton-bench-'));
}

/** A cast of `turns` turns: build, evaluate, reject, build … until the last evaluation is satisfied. */
export function roundTrip(turns: number): { rules: Rules; script: Script } {
  const rounds = Math.floor(turns / 2);
  const config: JsonObject = {
    materia: {
      Build: { tools: 'none', prompt: 'Build it.' },
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
            edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: rounds - 1 }],
          },
        },
      },
    },
  };
  const script = {
    Build: ['Built as asked; see the change.', '$repeat'],
    Eval: [{ satisfied: false }, '$repeat'],
  };
  return { rules: resolve(config, 'Round'), script };
}

export async function runCast(store: Store, id: string, turns: number, cwd: string): Promise<void> {
  const { rules, script } = roundTrip(turns);
  const begin = async () => {
    await store.submit(
      { kind: 'cast.start', cast: id, request: 'bench', loadout: 'Round', rules, script },
      { name: 'bench' },
    );
  };
  await new Engine({ store, runners, cwd, configDir: cwd, stateDir: cwd }).drive(id, begin);
}
