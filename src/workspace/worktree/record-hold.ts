// The records of a cast's worktrees as the process that drives the cast wrote them. They say what was accepted, and while a
// cast is driven nobody else has to write them: what an agent makes of them is put back, and held against who ran meanwhile.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WORKTREES } from '../locate.ts';
import { namedBy } from './branch.ts';

type Hold = { readonly texts: Map<string, string>; breaches: number };

const holds = new Map<string, Hold>();

/** From now on, until they are let go, the records are as they are now and as this process writes them. */
export function holdRecords(stateDir: string, cast: string): void {
  const texts = new Map(filesOf(stateDir, cast).map((file) => [file, textOf(file) ?? '']));
  holds.set(keyOf(stateDir, cast), { texts, breaches: 0 });
}

export function letRecordsGo(stateDir: string, cast: string): void {
  holds.delete(keyOf(stateDir, cast));
}

/** Null where it was taken away. */
export function noteRecord(stateDir: string, cast: string, file: string, text: string | null): void {
  const texts = holds.get(keyOf(stateDir, cast))?.texts;
  if (text === null) texts?.delete(file);
  else texts?.set(file, text);
}

/** Puts back what somebody else changed, added or removed. Answers how often that was found so far. */
export function mendRecords(stateDir: string, cast: string): number {
  const hold = holds.get(keyOf(stateDir, cast));
  if (!hold) return 0;
  const foreign = filesOf(stateDir, cast).filter((file) => !hold.texts.has(file));
  // The link of a worktree goes with its folder.
  const changed = [...hold.texts].filter(([file, text]) => textOf(file) !== text && existsSync(dirname(file)));
  for (const file of foreign) rmSync(file, { recursive: true, force: true });
  for (const [file, text] of changed) {
    rmSync(file, { recursive: true, force: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
  if (foreign.length + changed.length > 0) hold.breaches += 1;
  return hold.breaches;
}

function filesOf(stateDir: string, cast: string): readonly string[] {
  const folder = join(stateDir, WORKTREES);
  const names = namesIn(folder).filter((name) => name.endsWith('.json'));
  return names
    .filter((name) => namedBy(name.slice(0, -'.json'.length)).cast === cast)
    .map((name) => join(folder, name));
}

function keyOf(stateDir: string, cast: string): string {
  return join(stateDir, WORKTREES, cast);
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
