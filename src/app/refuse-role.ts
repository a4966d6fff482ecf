// Refuses a command to the holder of a token whose role is too low, before the command begins.
import { type Act, actOfForm, mayDo } from '../access/rights.ts';
import { admitToken } from '../access/tokens.ts';
import { ACTS_FOR, callerIdentity, NOBODY } from '../access/who-acts.ts';
import type { Denied } from '../kernel/verdict.ts';
import { noteRefusal } from './note-refusal.ts';
import type { Workspace } from './workspace.ts';

export type CommandForm = {
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
