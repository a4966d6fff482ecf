// Tells a slow child from a dead one. A child that writes or uses the processor is at work, however long it takes; one that
// does neither for as long as its task allows is taken for dead. What was seen last is put into words for the log.
import { setTimeout as sleep } from 'node:timers/promises';
import { processState, stateInWords } from './process-state.ts';
import { membersOf, type Tree } from './process-tree.ts';

/** Looked at this often at most, and at least a few times before the limit. */
const LOOK_MS_MAX = 15_000;
const LOOKS_PER_LIMIT = 4;
/**
 * A program that only waits still wakes up now and then: so much from one look to the next is no work, and in a longer time
 * so large a part of it.
 */
const IDLE_CPU_S = 0.05;
const IDLE_SHARE = 1 / 300;

export type Vigil = {
  /** Resolves when the child has given no sign of life for as long as it may. */
  readonly silent: Promise<'silent'>;
  /** What was seen of the child, in words. */
  told(): string;
  stop(): void;
};

export type Sign = { readonly bytes: number; readonly cpuS: number | null; readonly state: string };

export function keepVigil(
  tree: Tree,
  bytes: () => number,
  silentMs: number | null,
  look: (tree: Tree, bytes: number) => Sign = lookAt,
): Vigil {
  const ended = new AbortController();
  let last: Sign = { bytes: 0, cpuS: null, state: 'there' };
  let lookedAt = performance.now();
  let heardAt = lookedAt;
  const refresh = () => {
    const at = performance.now();
    const seen = look(tree, bytes());
    // What was used is held against the look before, never against the beginning: a little each minute adds up to much.
    const now = { ...seen, cpuS: seen.cpuS ?? last.cpuS };
    const usedS = Math.abs((now.cpuS ?? 0) - (last.cpuS ?? 0));
    const worked = usedS > Math.max(IDLE_CPU_S, ((at - lookedAt) / 1000) * IDLE_SHARE);
    if (now.bytes > last.bytes || worked) heardAt = at;
    last = now;
    lookedAt = at;
  };
  const wait = async (): Promise<'silent'> => {
    if (silentMs === null) return new Promise(() => undefined);
    for (;;) {
      const left = heardAt + silentMs - performance.now();
      if (left <= 0) return 'silent';
      await sleep(Math.min(left, LOOK_MS_MAX, silentMs / LOOKS_PER_LIMIT), undefined, { signal: ended.signal });
      refresh();
    }
  };
  // A vigil that was stopped never resolves, and that is nobody's failure.
  const silent = wait().catch(() => new Promise<'silent'>(() => undefined));
  return {
    silent,
    told() {
      refresh();
      const quietS = Math.round((performance.now() - heardAt) / 1000);
      const cpu = last.cpuS === null ? '' : `, had used ${last.cpuS.toFixed(1)} s of CPU time`;
      return `it was ${last.state}${cpu}, had written ${last.bytes} bytes and gave its last sign of life ${quietS} s before`;
    },
    stop: () => ended.abort(),
  };
}

function lookAt(tree: Tree, bytes: number): Sign {
  const seen = membersOf(tree).flatMap(({ pid }) => processState(pid) ?? []);
  if (seen.length === 0) return { bytes, cpuS: null, state: 'there' };
  const cpuS = seen.reduce((sum, stat) => sum + stat.cpuS, 0);
  const letter = seen.some((stat) => stat.letter === 'R') ? 'R' : (seen[0]?.letter ?? 'S');
  return { bytes, cpuS, state: stateInWords(letter) };
}
