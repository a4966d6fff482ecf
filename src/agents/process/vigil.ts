// Tells a slow child from a dead one. A child that prints, changes files or uses the processor is at work, however long it
// takes; one that does none of it for as long as its task allows is taken for dead. A program that only waits uses a little of
// the processor too, which is no sign of life. What was seen last is put into words for the log.
import { setTimeout as sleep } from 'node:timers/promises';
import { processState, stateInWords } from './process-identity.ts';
import { type ProcessTree, treeMembers } from './process-tree.ts';

/** Looked at this often at most, and at least a few times before the limit. */
const LOOK_MS_MAX = 5_000;
const LOOKS_PER_LIMIT = 4;
/** A program that only waits wakes up now and then: so much from one look to the next is no work, or so large a part of it. */
const IDLE_CPU_S = 0.05;
const IDLE_SHARE = 1 / 30;

type Vigil = {
  /** Resolves when the child has given no sign of life for as long as it may. */
  readonly silent: Promise<'silent'>;
  /** What was seen of the child, in words. */
  told(): string;
  stop(): void;
};

export type SignOfLife = {
  /** What it printed. */
  readonly bytes: number;
  /** What it wrote to files; 0 if unknown. */
  readonly fileBytes?: number;
  readonly cpuS: number | null;
  readonly state: string;
};

export function keepVigil(
  tree: ProcessTree,
  bytes: () => number,
  silentMs: number | null,
  look: (tree: ProcessTree, bytes: number) => SignOfLife = lookAt,
  lookMsMax = LOOK_MS_MAX,
): Vigil {
  const ended = new AbortController();
  let last: SignOfLife = { bytes: 0, cpuS: null, state: 'there' };
  let lookedAt = performance.now();
  let heardAt = lookedAt;
  const refresh = () => {
    const at = performance.now();
    const seen = look(tree, bytes());
    // What was used is held against the look before, never against the beginning: a little each minute adds up to much.
    const now = { ...seen, cpuS: seen.cpuS ?? last.cpuS };
    const usedS = Math.abs((now.cpuS ?? 0) - (last.cpuS ?? 0));
    const worked = usedS > Math.max(IDLE_CPU_S, ((at - lookedAt) / 1000) * IDLE_SHARE);
    const changed = (now.fileBytes ?? 0) > (last.fileBytes ?? 0);
    if (now.bytes > last.bytes || changed || worked) heardAt = at;
    last = now;
    lookedAt = at;
  };
  const wait = async (): Promise<'silent'> => {
    // The last sign of life is recorded without a limit too, because a timeout reports it.
    const limitMs = silentMs ?? Number.POSITIVE_INFINITY;
    for (;;) {
      const left = heardAt + limitMs - performance.now();
      if (left <= 0) return 'silent';
      await sleep(Math.min(left, lookMsMax, limitMs / LOOKS_PER_LIMIT), undefined, { signal: ended.signal });
      refresh();
    }
  };
  // A stopped vigil never resolves.
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

function lookAt(tree: ProcessTree, bytes: number): SignOfLife {
  const seen = treeMembers(tree).flatMap(({ pid }) => processState(pid) ?? []);
  if (seen.length === 0) return { bytes, cpuS: null, state: 'there' };
  const cpuS = seen.reduce((sum, stat) => sum + stat.cpuS, 0);
  const letter = seen.some((stat) => stat.letter === 'R') ? 'R' : (seen[0]?.letter ?? 'S');
  return { bytes, fileBytes: seen.reduce((sum, stat) => sum + stat.fileBytes, 0), cpuS, state: stateInWords(letter) };
}
