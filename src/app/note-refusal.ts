// Notes in the log that somebody was turned away, at most once for each of them, for each code and minute, however often it
// happens; of an agent, once for each thing that it tried.
import type { Denied } from '../kernel/verdict.ts';
import type { Workspace } from './workspace.ts';

export type TurnedAway = {
  /** As facts name him. */
  readonly who: string;
  /** The command or tool, where that is to be told apart. */
  readonly what?: string;
  readonly times?: number;
  /** When the server ended that had counted them. */
  readonly ended?: string;
};

/** Answers whether it was noted. Where nothing ever happened there is no log, and none is begun for this. */
export async function noteRefusal(
  workspace: Workspace,
  verdict: Denied,
  turned: TurnedAway,
  note: (line: string) => void,
): Promise<boolean> {
  if (!workspace.hasLog()) return false;
  const request = { kind: 'access.refuse', verdict, minute: minuteOf(Date.now()), times: 1, ...turned } as const;
  try {
    const { details } = await workspace.ledgerStore().submit(request, { name: turned.who });
    return details.noted === true;
  } catch (error) {
    // He is turned away all the same.
    note(`it could not be noted that ${turned.who} was turned away: ${(error as Error).message}`);
    return false;
  }
}

type Counted = TurnedAway & { readonly verdict: Denied; minute: string; waiting: number };

/** Counts refusals for a server, so that one who knocks without end costs it a number and not a fact each time. */
export class RefusalCount {
  readonly #note: (verdict: Denied, turned: TurnedAway) => Promise<boolean>;
  readonly #known = new Map<string, Counted>();

  constructor(note: (verdict: Denied, turned: TurnedAway) => Promise<boolean>) {
    this.#note = note;
  }

  async add(verdict: Denied, turned: TurnedAway, now: number): Promise<void> {
    const minute = minuteOf(now);
    const key = [turned.who, verdict.code, turned.what ?? ''].join(' ');
    const known = this.#known.get(key);
    const counted = { ...turned, verdict, minute, waiting: (known?.waiting ?? 0) + 1 };
    this.#known.set(key, counted);
    if (known?.minute === minute) return;
    const times = counted.waiting;
    counted.waiting = 0;
    // Another process may have told of this minute: then these wait for the next one.
    if (!(await this.#note(verdict, { ...turned, times }))) this.#takeBack(key, times);
  }

  /** Those that were counted and not noted yet; for a server that ends. */
  async close(now: number): Promise<void> {
    const ended = new Date(now).toISOString();
    for (const { who, what, verdict, waiting: times } of this.#known.values())
      if (times > 0) await this.#note(verdict, { who, ...(what === undefined ? {} : { what }), times, ended });
    this.#known.clear();
  }

  #takeBack(key: string, times: number): void {
    const counted = this.#known.get(key);
    if (counted) counted.waiting += times;
  }
}

function minuteOf(now: number): string {
  return new Date(now).toISOString().slice(0, 16);
}
