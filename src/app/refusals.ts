// Refusals of callers: a decision that is not proved to be a person's, a role that is too low. The log has each once for each caller,
// code and minute, however often it happens; of an agent, once for each thing that it tried.
import { type Actor, whyNotPerson } from '../access/actor.ts';
import { type Act, actOfForm, mayDo, refusalToAgent } from '../access/rights.ts';
import type { Denied } from '../kernel/verdict.ts';
import { formOf, type OperationEntry } from './operation.ts';
import { OPERATIONS, type OperationName } from './operations/table.ts';
import type { Workspace } from './workspace.ts';

/** The refusal of a decision that is not shown to be a person's; null where it is. `cast` is the one it is about, and `may` what
 * only a person may, where the entry does not say it. */
export function refusalOfDecision(
  { program }: { readonly program: string },
  operation: OperationName,
  actor: Actor,
  cast: string | null = null,
  may?: string,
): Denied | null {
  const entry: OperationEntry = OPERATIONS[operation];
  const form = formOf(entry);
  const why = actor.proof ? actor.proof(form, cast, program) : whyNotPerson(actor, form, cast, program);
  return why === null ? null : refusalToAgent(may ?? entry.peopleOnly ?? 'decide', { operation }, why);
}

type CommandForm = {
  readonly command: string;
  /** What it does; where its forms differ, by its first word. */
  readonly act: Act | Readonly<Record<string, Act>>;
  readonly word: string | undefined;
};

/** The refusal, which is noted in the log; null where the role is high enough, and for agents, which have no role. */
export async function refusalOfRole(
  workspace: Workspace,
  { command, act, word }: CommandForm,
  shown: string | null,
  tell: (line: string) => void,
): Promise<Denied | null> {
  const [{ admitToken }, { ACTS_FOR, callerIdentity, NOBODY }] = await Promise.all([
    import('../access/tokens.ts'),
    import('../access/who-acts.ts'),
  ]);
  const { env } = workspace;
  const { role, name } = callerIdentity(env, process.pid, Date.now(), undefined, shown);
  const form = typeof act === 'string' ? command : `${command} ${word ?? ''}`.trim();
  const may = role === null ? null : mayDo(role, actOfForm(act, word), `\`${form}\``);
  if (!may || may.allow) return null;
  if (name === NOBODY && shown !== null && !env[ACTS_FOR]) {
    const admitted = admitToken(env, shown, Date.now());
    if (!admitted.ok) return admitted.verdict;
  }
  await noteRefusal(workspace, may, { who: name }, tell);
  return may;
}

export type TurnedAway = {
  /** The name in facts. */
  readonly who: string;
  /** The command or tool, where they differ. */
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
    // The refusal holds without a note in the log.
    note(`it could not be noted that ${turned.who} was turned away: ${(error as Error).message}`);
    return false;
  }
}

type Counted = TurnedAway & { readonly verdict: Denied; minute: string; waiting: number };

/** Counts refusals for a server, so that a caller who tries without end costs one fact a minute. */
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
    // Another process may have noted this minute: then these wait for the next one.
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
