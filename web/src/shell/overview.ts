// What every view knows of the workspace: which casts are open, what waits for a person, whether it is paused.
import { useMemo } from 'react';
import type { InboxRow } from '../../../src/app/views/cast-page.ts';
import type { Status } from '../parts/glyphs.tsx';
import { type Answer, useLook } from '../workspace.ts';

/** A row of `cast.list`. */
export type CastRow = {
  readonly cast: string;
  readonly status: 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'aborted';
  readonly code: string | null;
  readonly reason: string;
  /** The reason with names. */
  readonly why?: string;
  readonly loadout: string;
  readonly request: string;
  readonly startedAt: string;
  readonly changedAt: string;
  readonly elapsedMs: number;
  readonly items?: { readonly done: number; readonly total: number };
  readonly step?: string;
  readonly cost?: number;
  readonly currency?: string;
};

export const CAST_CHANGES = ['cast.', 'turn.', 'attempt.', 'items.', 'lane', 'item.'];
const INBOX_CHANGES = ['cast.', 'turn.', 'attempt.', 'approval.', 'item.', 'memory.', 'quarantine.', 'registry.'];

/** The sign of what waits, and the verb of its button. */
export const KINDS: Readonly<Record<InboxRow['kind'], { readonly glyph: Status; readonly verb: string }>> = {
  approval: { glyph: 'waits', verb: 'Review' },
  question: { glyph: 'question', verb: 'Answer' },
  talk: { glyph: 'question', verb: 'Talk' },
  unknown: { glyph: 'unknown', verb: 'Decide' },
  blocked: { glyph: 'failed', verb: 'Decide' },
  spent: { glyph: 'rework', verb: 'Decide' },
  quarantine: { glyph: 'quarantine', verb: 'Compare' },
  parked: { glyph: 'parked', verb: 'Decide' },
  memory: { glyph: 'memory', verb: 'Read' },
};

/** What waits, in one line: who asks for what. */
export function titleOf({ kind, socket, title, reason, code }: InboxRow): string {
  const who = socket ?? 'A script';
  if (kind === 'approval')
    return code === 'OUTCOME_UNKNOWN' ? `${who} may have run a command. Did it?` : `${who} asks to run a command`;
  if (kind === 'question' && reason !== '') return `${who} asks: ${reason}`;
  if (kind === 'unknown') return `${who} may have run. Did it?`;
  return kind === 'memory' ? 'An agent suggests to remember something' : title;
}

/** How a cast ended, in one plain phrase. */
export function resultOf({ status, reason, why, items, code }: CastRow): string {
  const of = items && items.total > 0 ? `${items.done} of ${items.total} items` : '';
  if (status === 'completed') return of || 'done';
  if (status === 'aborted') return `stopped${of ? `, ${of}` : ''}`;
  return inWords(why ?? reason) || code?.toLowerCase().replaceAll('_', ' ') || status;
}

/** A reason as the log has it, with the names that people gave, and without the command: the page has a button for that. */
export function inWords(reason: string): string {
  return reason.replace(/\b(?:[Ss]ocket|WI)-\d+ \(([^)]+)\)/g, '$1').replace(/; (?:answer|decide) with: .*$/s, '');
}

export type Overview = {
  /** The newest of them. */
  readonly openCasts: readonly CastRow[];
  readonly openCount: number;
  /** Before that nothing is known of what runs or waits. */
  readonly isRead: boolean;
  /** What stops a cast, the oldest first. */
  readonly waits: readonly InboxRow[];
  readonly canWait: readonly InboxRow[];
  readonly hold: { readonly by: string; readonly reason: string } | null;
  /** How many quests of the queue are to come. */
  readonly queued: number;
};

export function useInbox(): Answer<{ readonly inbox: readonly InboxRow[] }> & { readonly refresh: () => void } {
  return useLook('inbox', {}, INBOX_CHANGES);
}

export function useOverview(): Overview {
  const casts = useLook<{ readonly casts: readonly CastRow[]; readonly matching: number }>(
    'cast.list',
    { limit: 50, status: 'open' },
    CAST_CHANGES,
  );
  const inbox = useInbox();
  const status = useLook<Pick<Overview, 'hold'>>('status', {}, ['ledger.held', 'ledger.unheld']);
  const queue = useLook<{ readonly counts: { readonly pending?: number } }>('quest.list', { limit: 1 }, ['quest.']);
  const hold = status.details?.hold ?? null;
  const queued = queue.details?.counts.pending ?? 0;
  return useMemo(() => {
    const oldest = inbox.details?.inbox ?? [];
    return {
      openCasts: (casts.details?.casts ?? []).filter(isOpen),
      waits: oldest.filter(({ stops }) => stops),
      canWait: oldest.filter(({ stops }) => !stops),
      openCount: casts.details?.matching ?? 0,
      isRead: casts.details !== undefined && inbox.details !== undefined,
      hold,
      queued,
    };
  }, [casts.details, inbox.details, hold, queued]);
}

export function isOpen({ status }: Pick<CastRow, 'status'>): boolean {
  return status === 'running' || status === 'waiting' || status === 'paused';
}
