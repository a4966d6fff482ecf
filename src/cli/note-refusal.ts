// Notes in the log that somebody was turned away, at most once for each of them and minute, however often it happens.
import type { Denied } from '../kernel/verdict.ts';
import { type Call, note } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { withLedger } from './ledger-session.ts';
import { hasLog } from './state-folder.ts';

/** `who` is named as facts name him. Where nothing ever happened there is no log, and none is begun for this. */
export async function noteRefusal(call: Call, verdict: Denied, who: string, times = 1): Promise<void> {
  if (!hasLog(workspaceOf(call))) return;
  const minute = minuteOf(Date.now());
  try {
    await withLedger(call, ({ door }) => door.submit({ kind: 'access.refuse', who, verdict, minute, times }, who));
  } catch (error) {
    // He is turned away all the same.
    note(`it could not be noted that ${who} was turned away: ${(error as Error).message}`);
  }
}

type Counted = { minute: string; waiting: number; verdict: Denied };

/** Counts refusals for a server, so that one who knocks without end costs it a number and not a fact each time. */
export class RefusalCount {
  readonly #note: (verdict: Denied, who: string, times: number) => Promise<void>;
  readonly #known = new Map<string, Counted>();

  constructor(note: (verdict: Denied, who: string, times: number) => Promise<void>) {
    this.#note = note;
  }

  async add(verdict: Denied, who: string, now: number): Promise<void> {
    const minute = minuteOf(now);
    const known = this.#known.get(who);
    const waiting = (known?.waiting ?? 0) + 1;
    const isDue = known?.minute !== minute;
    this.#known.set(who, { minute, verdict, waiting: isDue ? 0 : waiting });
    if (isDue) await this.#note(verdict, who, waiting);
  }

  /** Those that were counted and not noted yet; for a server that ends. */
  async close(): Promise<void> {
    for (const [who, { verdict, waiting }] of this.#known) if (waiting > 0) await this.#note(verdict, who, waiting);
    this.#known.clear();
  }
}

function minuteOf(now: number): string {
  return new Date(now).toISOString().slice(0, 16);
}
