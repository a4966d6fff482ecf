// What waits for a person: what stops a cast first, then what can wait. One of it is open, and only there it is decided.

import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { InboxRow } from '../../../src/app/views/cast-page.ts';
import { useKeys } from '../keys.ts';
import { Button, Kbd } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { Header, ViewTitle } from '../parts/pane.tsx';
import { Answered, Empty } from '../parts/states.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { go, inboxPath, linkTo } from '../router.ts';
import { useNotify } from '../shell/notify.ts';
import { KINDS, titleOf, useInbox, useOverview } from '../shell/overview.ts';
import { useNow } from '../shell/shell.tsx';
import { duration, exactly } from '../words.ts';
import { Card } from './card.tsx';
import './inbox.css';

export default function Inbox({ id }: { id: string | undefined }): ReactNode {
  const inbox = useInbox();
  const { waits, canWait } = useOverview();
  const all = useMemo(() => [...waits, ...canWait], [waits, canWait]);
  const now = useNow(true, 10_000);
  const [notify, askNotify] = useNotify();
  const isPhone = usePhone();
  const open = useKept(all, id, isPhone);
  const at = all.findIndex((row) => row.id === open?.row.id);
  const move = (by: number): void => {
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (next) go(inboxPath(next.id), { replace: id !== undefined });
  };
  useKeys('Inbox', [
    { keys: 'j', says: 'Next', run: () => move(1) },
    { keys: 'ArrowDown', says: 'Next', run: () => move(1) },
    { keys: 'k', says: 'The one before', run: () => move(-1) },
    { keys: 'ArrowUp', says: 'The one before', run: () => move(-1) },
    ...(isPhone && id !== undefined ? [{ keys: 'Escape', says: 'Back to the list', run: () => go('/inbox') }] : []),
  ]);
  const isEmpty = inbox.details !== undefined && all.length === 0 && !open;
  if (isPhone && open && id !== undefined)
    return (
      <>
        <div className="phone-head">
          <Button kind="quiet" icon="left" label="Back to the list" onPress={() => go('/inbox')} />
          <ViewTitle>Inbox</ViewTitle>
          <span className="quiet">{at < 0 ? '' : `${at + 1} of ${all.length}`}</span>
        </div>
        <Card key={open.row.id} row={open.row} isGone={open.isGone} />
      </>
    );
  return (
    <>
      <Header title="Inbox" beside={inbox.details ? summary(waits.length, canWait.length) : null}>
        {notify === 'ask' ? (
          <Button onPress={askNotify}>{isPhone ? 'Notify me' : 'Notify me in this browser'}</Button>
        ) : null}
      </Header>
      <div className="view-body">
        {isEmpty ? (
          <div className="page-missing">
            <Empty>
              Nothing waits for you.{' '}
              {notify === 'on'
                ? 'Notifications are on.'
                : notify === 'off'
                  ? 'Notifications are blocked in this browser.'
                  : ''}
            </Empty>
          </div>
        ) : (
          <>
            <nav className="inbox-list" aria-label="What waits">
              <Answered answer={inbox} what="The inbox" rows={5}>
                {() => (
                  <>
                    <Group title="Stops a cast" rows={waits} open={open?.row.id} now={now} />
                    <Group title="Can wait" rows={canWait} open={open?.row.id} now={now} />
                  </>
                )}
              </Answered>
              <p className="inbox-hint">
                Next and previous <Kbd keys="j" /> <Kbd keys="k" />. Approving has no single key: open a request, read
                it, then <Kbd keys="mod+Enter" />.
              </p>
            </nav>
            {open ? <Card key={open.row.id} row={open.row} isGone={open.isGone} /> : null}
          </>
        )}
      </div>
    </>
  );
}

function summary(stops: number, canWait: number): string {
  if (stops + canWait === 0) return '';
  return `${stops} ${stops === 1 ? 'stops' : 'stop'} a cast, ${canWait} can wait`;
}

function Group({
  title,
  rows,
  open,
  now,
}: {
  title: string;
  rows: readonly InboxRow[];
  open: string | undefined;
  now: number;
}): ReactNode {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {rows.map((row) => {
          const { item } = row;
          const title = titleOf(row);
          const named = item && !title.includes(item.title) ? item.title : '';
          const about = [named, row.request ?? (row.kind === 'quarantine' ? row.reason : row.title)]
            .filter(Boolean)
            .join(', ');
          return (
            <li key={row.id}>
              <a
                {...linkTo(inboxPath(row.id))}
                className="inbox-row"
                aria-current={row.id === open ? 'true' : undefined}
              >
                <Glyph status={KINDS[row.kind].glyph} />
                <Name text={title} className="inbox-title" />
                <time className="quiet nowrap" dateTime={row.since} title={exactly(row.since)}>
                  {duration(now - Date.parse(row.since))}
                </time>
                <span className="inbox-about">
                  <Foreign text={about || 'The workspace'} />
                </span>
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** What is open stays open. When it was decided, here or elsewhere, the card says so and does not go away. */
function useKept(
  all: readonly InboxRow[],
  id: string | undefined,
  isPhone: boolean,
): { readonly row: InboxRow; readonly isGone: boolean } | null {
  const [kept, setKept] = useState<InboxRow | null>(null);
  const wanted = id ?? (isPhone ? undefined : (kept?.id ?? all[0]?.id));
  const found = all.find((row) => row.id === wanted);
  useEffect(() => {
    if (found) setKept(found);
  }, [found]);
  if (found) return { row: found, isGone: false };
  return kept !== null && kept.id === wanted ? { row: kept, isGone: true } : null;
}

function usePhone(): boolean {
  const query = '(max-width: 699px)';
  const [is, setIs] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = (): void => setIs(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return is;
}
