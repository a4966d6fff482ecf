// A snapshot is the state as it stood after a fact, so that a start need not read the whole log. It is a cache: the log
// holds a fact with its digest right after that place, and what does not fit this fact is not believed.
import type { Fact } from '../kernel/fact.ts';
import { closedRuns, withoutRuns } from '../kernel/ledger/forget.ts';
import { isOver, type State } from '../kernel/state.ts';
import type { Log, Snapshot } from './ports.ts';

/** To be raised whenever the shape of the state changes: a snapshot of another shape is not believed either. */
const FORMAT = 14;

export type Restored = { readonly state: State; readonly through: number; readonly bytes: number };

/** Ended casts and closed runs are left out; whoever asks for one reads it back from its facts. */
export function takeSnapshot(state: State, through: number): Snapshot {
  const open = Object.entries(state.casts).filter(([, cast]) => !isOver(cast.status));
  const ended = Object.keys(state.casts).filter((id) => isOver(state.casts[id]?.status ?? 'running'));
  const ledger = withoutRuns(state.ledger, [...ended, ...closedRuns(state.ledger)]);
  const body = JSON.stringify({ format: FORMAT, ...state, casts: Object.fromEntries(open), ledger });
  return { through, digest: sha256(body), body };
}

/** The fact that vouches for a snapshot. It must come right after the last fact the snapshot holds. */
export function factOf({ through, digest }: Snapshot): Fact {
  return { kind: 'snapshot.taken', through, digest };
}

/** The newest snapshot, if there is one and the log vouches for it. */
export async function restore(log: Log): Promise<Restored | null> {
  const snapshot = await log.snapshot();
  if (!snapshot) return null;
  const { through, body } = snapshot;
  const [entry] = await log.read({ after: through, limit: 1 });
  if (entry?.seq !== through + 1 || entry.fact.kind !== 'snapshot.taken') return null;
  if (sha256(body) !== entry.fact.digest) return null;
  const { format, ...state } = JSON.parse(body) as State & { format?: number };
  return format === FORMAT ? { state, through, bytes: body.length } : null;
}

/** Loaded here, because whoever looks at a log without a snapshot has no use for it and would wait. */
function sha256(text: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex');
}
