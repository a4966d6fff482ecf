// What was last heard of an agent that runs right now: when it wrote something, and which tool it called last. It is read from
// the files that the attempt fills, whoever drives it.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { LastSign } from '../engine/ports.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import { sourceOf } from './live-watch.ts';

/** The end of what it wrote is enough to find its last call. */
const TAIL_BYTES_MAX = 1_048_576;

/** Null where nothing was heard of it yet, and where nobody writes anything. */
export function lastSignOf(stateDir: string, cast: Cast, turn: Turn): LastSign | null {
  const [source] = sourceOf(stateDir, cast, turn);
  const tail = source ? tailOf(source[0]) : null;
  if (!source || !tail) return null;
  let tool: string | null = null;
  for (const event of source[1].reader().push(tail.text)) if (event.kind === 'tool') tool = event.name;
  return { at: tail.at, tool };
}

function tailOf(file: string): { readonly at: number; readonly text: string } | null {
  let from: number | null = null;
  try {
    from = openSync(file, 'r');
    const { size, mtimeMs } = fstatSync(from);
    if (size === 0) return null;
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES_MAX));
    const read = readSync(from, bytes, 0, bytes.length, size - bytes.length);
    return { at: mtimeMs, text: bytes.toString('utf8', 0, read) };
  } catch {
    return null; // It has ended meanwhile.
  } finally {
    if (from !== null) closeSync(from);
  }
}
