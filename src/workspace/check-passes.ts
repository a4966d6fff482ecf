// Checks that passed, so that the same command is not run again on the same files. Agents can write to the state folder, so that
// each pass is sealed with a key of the user.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Passes = { has(what: string): boolean; add(what: string): void };

/** What is checked, and the passes of it so far. */
export type Checked = { readonly about: string; readonly passes: Passes };

const KEPT_MAX = 500;

export function passesIn(stateDir: string, seal: (text: string) => string): Passes {
  const file = join(stateDir, 'check-passes.json');
  return {
    has: (what) => sealsIn(file).includes(seal(what)),
    add(what) {
      const own = seal(what);
      const seals = [...sealsIn(file).filter((each) => each !== own), own].slice(-KEPT_MAX);
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      const draft = `${file}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(seals), { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}

/** Names what a turn has changed: where it began is the same for the whole turn. */
export function aboutTurn(cast: string, turn: number, changes: Readonly<Record<string, string | null>>): string {
  const sorted = Object.keys(changes)
    .sort()
    .map((path) => [path, changes[path]]);
  return `turn ${cast} ${turn} ${hash('sha256', JSON.stringify(sorted), 'hex')}`;
}

function sealsIn(file: string): readonly unknown[] {
  try {
    const seals: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(seals) ? seals : [];
  } catch {
    return [];
  }
}
