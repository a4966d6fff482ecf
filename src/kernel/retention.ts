// What may go, and from when on.
import { type Denied, deny } from './verdict.ts';

const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A span such as 12h, 30d or 8w; null for any other text. */
export function spanMs(text: string): number | null {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return unit === '' ? null : Number(count) * (MS[unit] ?? 0);
}

/** Texts that were named and would not be erased; `kept` is how often each belongs to something that is not over. */
type Untouched = readonly { readonly digest: string; readonly kept: number }[];

/** Who names a text wants it gone: that it is not must not look like success. */
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
