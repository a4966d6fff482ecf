// What commands of the ledger share that are not made from operations yet: opening it, and answering with a verdict.

import { actorHere } from '../access/actor-here.ts';
import { ledgerSession, type LedgerSession as Session } from '../app/ledger-session.ts';
import { asDamage } from '../app/state-folder.ts';
import type { Door } from '../engine/door.ts';
import type { Log } from '../engine/ports.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { again, type Call, exitOf, note, outJson, Refused, text, UsageError } from './command.ts';
import { withWorkspace } from './open-workspace.ts';

export type LedgerSession = Session & { readonly call: Call; readonly log: Log; readonly door: Door };

/** Runs `work` on the ledger of the workspace. Where there is none, one is made only for a command that begins it. */
export async function withLedger<T>(
  call: Call,
  work: (session: LedgerSession) => Promise<T>,
  how: { readonly begins?: boolean } = {},
): Promise<T> {
  return withWorkspace(call, async (workspace) => {
    const onEvent = (event: { readonly kind: string; readonly text?: string }) => note(event.text ?? '');
    const session = ledgerSession(workspace, { actor: actorHere(workspace), onEvent }, how);
    try {
      return await work({ ...session, call, log: session.store.log, door: session.store });
    } catch (error) {
      throw asDamage(error, workspace);
    }
  });
}

/** Prints the verdict, which is all that goes to standard output, and answers its exit code. */
export function answer(verdict: Verdict): number {
  outJson(verdict);
  return exitOf(verdict);
}

/** Answers with the refusals that end a command early, too. */
export async function answering(work: () => Promise<Verdict>): Promise<number> {
  try {
    return answer(await work());
  } catch (error) {
    if (error instanceof Refused) return answer(error.verdict);
    throw error;
  }
}

export function integer({ values }: Call, name: string): number | undefined {
  const given = text(values, name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!/^[0-9]+$/.test(given) || !Number.isSafeInteger(value)) {
    throw new UsageError(`--${name} must be a whole number, 0 or above, not ${given}`);
  }
  return value;
}

export function needed(call: Call, name: string): string {
  const given = text(call.values, name);
  if (given !== undefined && given.trim() !== '') return given;
  throw new UsageError(`say --${name} … (\`${again(call)} ${call.command.name} --help\`)`);
}

export function neededInteger(call: Call, name: string): number {
  needed(call, name);
  return integer(call, name) ?? 0;
}
