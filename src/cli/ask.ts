// A question to the person at the terminal. Where there is none, the answer is no: nothing is granted unseen.
import { createInterface } from 'node:readline/promises';
import { safe } from './safe-text.ts';

export async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${safe(question)} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
