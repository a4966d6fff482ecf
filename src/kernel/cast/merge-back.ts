// Merging the worktree of a cast into the project: when it is allowed, and the message of the commit.
import type { Fact } from '../fact.ts';
import { counted } from '../text.ts';
import { allow, deny, type Verdict } from '../verdict.ts';

// What may be taken over of a cast that worked in a worktree of its own, and what is said of it.
/** `none`: the cast works in the directory itself. */
export type WorkState = 'none' | 'ready' | 'merged' | 'undone';

/** Whether there is work to merge. */
export function isMergeable(cast: string, work: WorkState): Verdict {
  if (work === 'ready') return allow();
  if (work === 'none')
    return deny('NOT_ALLOWED_NOW', `cast ${cast} works in the directory itself; there is nothing to merge`);
  const what = work === 'merged' ? 'merged already' : 'taken back';
  return deny('NOT_ALLOWED_NOW', `the work of cast ${cast} was ${what}; there is nothing to merge`, { cast });
}

export type MergeAsked = {
  readonly cast: string;
  readonly status: string;
  /** Somebody agreed to merge what was accepted so far. */
  readonly yes: boolean;
  readonly squash: boolean;
  /** How the caller calls this program. */
  readonly program: string;
};

/** Half a piece of work is merged only if a person says so, and never as one commit: the rest could not follow it. */
export function isWholeEnough({ cast, status, yes, squash, program }: MergeAsked): Verdict {
  if (status === 'completed' || (yes && !squash)) return allow();
  const how = `merge what was accepted so far with \`${program} merge ${cast} --yes\``;
  const why = squash ? `; --squash takes over whole work only` : '';
  return deny('NOT_ALLOWED_NOW', `cast ${cast} is ${status}, not completed${why}; ${how}`, { cast, status });
}

/** The turns of a cast whose work was accepted, and not reopened since. */
export function acceptedTurns(facts: readonly Fact[]): ReadonlySet<string> {
  const accepted = new Set<string>();
  for (const fact of facts) {
    if (fact.kind === 'turn.accepted') accepted.add(`${fact.turn}`);
    if (fact.kind === 'turn.reopened') accepted.delete(`${fact.turn}`);
  }
  return accepted;
}

/** The work that would be lost, in words; null where none would be. */
export function lostText(commits: number, files: number): string | null {
  const parts = [
    ...(commits > 0 ? [counted(commits, 'unmerged commit')] : []),
    ...(files > 0 ? [counted(files, 'uncommitted file')] : []),
  ];
  return parts.length === 0 ? null : parts.join(' and ');
}

const SUBJECT_CHARS_MAX = 72;

const TITLE_CHARS_MAX = 200;

/** The message of one commit for a whole cast. Titles are agents' texts: each stays on its line, and adds no trailer. */
export function squashMessage(cast: string, request: string, titles: readonly string[]): string {
  const subject = oneLine(request, SUBJECT_CHARS_MAX) || `What cast ${cast} did`;
  const items = titles.map((title) => oneLine(title, TITLE_CHARS_MAX)).filter((title) => title !== '');
  const list = items.length === 0 ? '' : `${items.map((title) => `- ${title}`).join('\n')}\n\n`;
  return `${subject}\n\n${list}Baton-Cast: ${cast}\n`;
}

function oneLine(text: string, charsMax: number): string {
  const line = text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax - 1).trimEnd()}…`;
}
