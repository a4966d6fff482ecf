// What a process is doing, as far as the system tells: its state in a word, and the processor time it has used.
import { readFileSync } from 'node:fs';

export type ProcessState = {
  readonly letter: string;
  readonly cpuS: number;
  /** What it has written to files. */
  readonly fileBytes: number;
};

const TICKS_PER_SECOND = 100;

/** Null for a process that ended, and on a system that does not tell. */
export function processState(pid: number): ProcessState | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const cpuS = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    return { letter: fields[0] ?? '', cpuS, fileBytes: fileBytesOf(pid) };
  } catch {
    return null;
  }
}

/** 0 where the system does not tell. */
function fileBytesOf(pid: number): number {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  R: 'running',
  S: 'waiting',
  D: 'waiting for a disk',
  T: 'stopped',
  t: 'stopped by a debugger',
  I: 'idle',
  Z: 'dead',
};

export function stateInWords(letter: string): string {
  return WORDS[letter] ?? letter;
}
