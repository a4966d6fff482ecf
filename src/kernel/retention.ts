// After a cast: when its worktree may be merged into the project, when it may go, and which texts may be erased.
import type { Fact } from './fact.ts';
import { counted } from './text.ts';
import { allow, type Denied, deny, type Verdict } from './verdict.ts';

const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A span such as 12h, 30d or 8w; null for any other text. */
export function spanMs(text: string): number | null {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return unit === '' ? null : Number(count) * (MS[unit] ?? 0);
}

/** Texts that were named and would not be erased; `kept` is how often each belongs to something that is not over. */
type Untouched = readonly { readonly digest: string; readonly kept: number }[];

/** Texts that were named and are not erased are a refusal, so that the command does not look successful. */
export function refusalOfUntouched(untouched: Untouched): Denied | null {
  const [first] = untouched;
  if (!first) return null;
  const { digest, kept } = first;
  const details = { untouched: untouched.map((each) => ({ ...each })) };
  if (kept === 0) {
    const reason = `no text of the log has the digest ${digest}, so nothing was erased: it is gone already, or was never stored beside a line`;
    return deny('BAD_USAGE', reason, details);
  }
  const reason = `nothing was erased: the text ${digest} belongs to something that is not over; let its cast or task end, or decide the approval, then erase it`;
  return deny('NOT_ALLOWED_NOW', reason, details);
}

export type CastEnd = {
  readonly status: string;
  readonly isOver: boolean;
  readonly isDriven: boolean;
};

/** Why the worktree of a cast stays, in words; null where it may go. A cast that the log does not know is over. */
export function whyWorktreeStays(cast: CastEnd | null, stoppedToo: boolean): string | null {
  if (!cast) return null;
  if (!cast.isOver || cast.isDriven) return `its cast is ${cast.status}`;
  if (cast.status === 'completed' || stoppedToo) return null;
  return `its cast is ${cast.status} and could be carried on; with --stopped it goes`;
}

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

type MergeRequest = {
  readonly cast: string;
  readonly status: string;
  /** A person agreed to merge what was accepted so far. */
  readonly yes: boolean;
  readonly squash: boolean;
  /** How the caller calls this program. */
  readonly program: string;
};

/** Unfinished work is merged only if a person agrees, and never as one commit: the rest could not follow it. */
export function isWholeEnough({ cast, status, yes, squash, program }: MergeRequest): Verdict {
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
