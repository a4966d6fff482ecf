// Files that an operation would write into a workspace. They are shown as a diff, and written when a person agreed. A file with another
// text is replaced only by a second yes.
import { changedLines, readPlain, refusalOfLink, writePlain } from '../hooks/install/plan.ts';
import type { JsonObject } from '../kernel/json.ts';
import { counted } from '../kernel/text.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { AsksPerson } from './refused.ts';
import type { Workspace } from './workspace.ts';

export type ProposedFile = { readonly path: string; readonly text: string };

type Agreement = { readonly yes?: boolean | undefined; readonly replace?: boolean | undefined };

/**
 * `files` lie below the folder of the workspace; the last one is written last, so that it never names one that is not there. `details`
 * is a part of every answer, `reason` says what is proposed.
 */
export function proposeFiles(
  { dir }: Pick<Workspace, 'dir'>,
  files: readonly ProposedFile[],
  { yes = false, replace = false }: Agreement,
  { reason, details }: { readonly reason: string; readonly details: JsonObject },
): Verdict {
  for (const { path } of files) {
    const refusal = refusalOfLink(dir, path);
    if (refusal) return refusal;
  }
  const changes = files
    .map(({ path, text }) => ({ path, text, before: readPlain(dir, path) }))
    .filter(({ text, before }) => text !== before);
  const replaced = changes.filter(({ before }) => before !== null).map(({ path }) => path);
  const answered = { ...details, files: changes.map(({ path }) => path), replaced };
  if (changes.length === 0) return allow('every file is there already', { ...answered, written: false });
  const diff = changes.flatMap(({ path, text, before }) => [...changedLines(path, before, text)]);
  if (!yes) {
    const fix = `Nothing was written. Say --yes${replaced.length > 0 ? ' --replace' : ''} to write ${changes.length === 1 ? 'it' : 'them'}.`;
    return deny('CONFIRMATION_NEEDED', `${reason}: ${counted(changes.length, 'file')}. ${fix}`, {
      ...answered,
      written: false,
      diff,
    });
  }
  if (replaced.length > 0 && !replace) {
    const what = `${replaced.join(', ')} ${replaced.length === 1 ? 'is there with another text' : 'are there with other texts'}`;
    const refusal = deny(
      'CONFIRMATION_NEEDED',
      `${what}. Say --replace to replace ${replaced.length === 1 ? 'it' : 'them'}.`,
      {
        ...answered,
        written: false,
        diff,
      },
    );
    throw new AsksPerson(refusal, `${what}. Replace ${replaced.length === 1 ? 'it' : 'them'}?`, { flag: 'replace' });
  }
  for (const { path, text } of changes) writePlain(dir, path, text);
  return allow(`wrote ${counted(changes.length, 'file')}`, { ...answered, written: true });
}
