// Tells a slow child from a dead one. A child that writes or uses the processor is at work, however long it takes; one that
// does neither for as long as its task allows is taken for dead. What was seen last is put into words for the log.
import { setTimeout as sleep } from 'node:timers/promises';
import { processState, stateInWords } from './process-state.ts';
import { membersOf, type Tree } from './process-tree.ts';

/** Looked at this often at most, and at least a few times before the limit. */
const LOOK_MS_MAX = 15_000;
const LOOKS_PER_LIMIT = 4;
/** A program that only waits still wakes up now and then. */
const IDLE_CPU_S = 0.05;

export type Vigil = {
  /** Resolves when the child has given no sign of life for as long as it may. */
  readonly silent: Promise<'silent'>;
  /** What was seen of the child, in words. */
  told(): string;
  stop(): void;
};

type Sign = { readonly bytes: number; readonly cpuS: number | null; readonly state: string };

export function keepVigil(tree: Tree, bytes: () => number, silentMs: number | null): Vigil {
  const ended = new AbortController();
  let last: Sign = { bytes: 0, cpuS: null, state: 'there' };
  let heardAt = performance.now();
  const refresh = () => {
    const now = look(tree, bytes());
    const worked = Math.abs((now.cpuS ?? 0) - (last.cpuS ?? 0)) > IDLE_CPU_S;
    if (now.bytes > last.bytes || worked) heardAt = performance.now();
    last = worked || now.bytes > last.bytes ? now : { ...last, cpuS: last.cpuS ?? now.cpuS, state: now.state };
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

function look(tree: Tree, bytes: number): Sign {
  const seen = membersOf(tree).flatMap(({ pid }) => processState(pid) ?? []);
  if (seen.length === 0) return { bytes, cpuS: null, state: 'there' };
  const cpuS = seen.reduce((sum, stat) => sum + stat.cpuS, 0);
  const letter = seen.some((stat) => stat.letter === 'R') ? 'R' : (seen[0]?.letter ?? 'S');
  return { bytes, cpuS, state: stateInWords(letter) };
}
