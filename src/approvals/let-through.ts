// What the hook let through in an attempt, by digest, in the folder of the attempt: so that afterwards it can be told from what
// ran unasked. An agent could write there too; whoever lies to it only hides a remark about himself.
import { hash } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { attemptIn } from '../access/attempt.ts';
import type { Variables } from './bound-variables.ts';

const FILE = 'let-through';

/** Keeps nothing outside of an attempt, nor where it cannot be written: then it counts as not asked. */
export function keepLetThrough(command: string, env: Variables, stateDir: string): void {
  const attempt = attemptIn(env, stateDir);
  if (!attempt) return;
  try {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
    const file = openSync(join(attempt.dir, FILE), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      writeSync(file, `${digestOf(command)}\n`);
    } finally {
      closeSync(file);
    }
  } catch {
    // The folder is gone, or may not be written from a sandbox.
  }
}

/** Whether the hook was asked about a command in the attempt of this folder, and let it go. */
export function letThroughIn(attemptDir: string): (command: string) => boolean {
  const digests = new Set(textOf(join(attemptDir, FILE)).split('\n'));
  return (command) => digests.has(digestOf(command));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function digestOf(command: string): string {
  return hash('sha256', command, 'hex');
}
