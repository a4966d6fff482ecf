// Home: what waits for me, what runs, what ended today; at the right a cast is started, and the day is summed up.

import { type ReactNode, useRef } from 'react';
import type { InboxRow } from '../../../src/app/views/cast-page.ts';
import { useKeys } from '../keys.ts';
import { Button, Kbd } from '../parts/button.tsx';
import { Glyph, Icon, type Status } from '../parts/glyphs.tsx';
import { ItemTrack } from '../parts/items.tsx';
import { Header, SectionTitle } from '../parts/pane.tsx';
import { Answered, Empty, LoadingRows } from '../parts/states.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { castPath, go, inboxPath, linkTo, useRoute } from '../router.ts';
import { CAST_CHANGES, type CastRow, isOpen, KINDS, resultOf, titleOf, useOverview } from '../shell/overview.ts';
import { statusOf } from '../shell/places.tsx';
import { useNow } from '../shell/shell.tsx';
import { clock, count, duration, exactly, isToday, longDay, money } from '../words.ts';
import { useLook, useMay } from '../workspace.ts';
import { Composer } from './composer.tsx';
import { CostToday, Health } from './today.tsx';
import './home.css';

const WAITS_SHOWN = 5;

export default function Home(): ReactNode {
  const may = useMay();
  const { query } = useRoute();
  const { openCasts, waits, canWait, isRead } = useOverview();
  const recent = useLook<{ readonly casts: readonly CastRow[]; readonly count: number }>(
    'cast.list',
    { limit: 100 },
    CAST_CHANGES,
  );
  const now = useNow(true, 10_000);
  const request = useRef<HTMLTextAreaElement>(null);
  const ended = (recent.details?.casts ?? []).filter((row) => !isOpen(row) && isToday(row.changedAt));
  const total = recent.details?.count ?? 0;
  const isNew = total === 0 && recent.details !== undefined;
  const wantsNew = query.has('new') || isNew;
  const mayStart = may('cast.start');
  useKeys('Home', mayStart ? [{ keys: 'c', says: 'Describe a new cast', run: () => request.current?.focus() }] : []);
  return (
    <>
      <Header title="Home" beside={longDay(now)}>
        <Button className="home-all" onPress={() => go('/casts')}>
          All casts
        </Button>
        {mayStart ? (
          <Button kind="primary" keys="c" onPress={() => request.current?.focus()}>
            New cast
          </Button>
        ) : null}
      </Header>
      <div className="view-body home">
        <div className="view-main home-main">
          {isNew ? (
            <Empty>
              No casts yet.{' '}
              {mayStart ? 'Describe what the team should do' : 'A person with the role operator starts one'}, or run{' '}
              <code>baton demo</code> in a terminal: no key, no network.
            </Empty>
          ) : (
            <>
              {isRead ? (
                <>
                  <Waits waits={waits} canWait={canWait.length} now={now} />
                  <Running casts={openCasts.filter(({ status }) => status !== 'waiting')} now={now} />
                </>
              ) : (
                <LoadingRows what="What waits and runs" />
              )}
              <section aria-labelledby="home-ended">
                <SectionTitle
                  id="home-ended"
                  n="today"
                  right={
                    <a {...linkTo('/casts')} className="quiet-link">
                      {recent.details ? `All ${count(total)} casts` : 'All casts'}
                    </a>
                  }
                >
                  Ended
                </SectionTitle>
                <Answered answer={recent} what="The casts">
                  {() =>
                    ended.length === 0 ? (
                      <p className="home-none">Nothing ended today.</p>
                    ) : (
                      <ul className="rows">
                        {ended.map((row) => (
                          <EndedRow key={row.cast} row={row} />
                        ))}
                      </ul>
                    )
                  }
                </Answered>
              </section>
            </>
          )}
        </div>
        <aside className="home-side" aria-label="Today">
          {mayStart ? <Composer ref={request} isFocused={wantsNew} /> : null}
          <CostToday />
          <Health />
        </aside>
      </div>
    </>
  );
}

function Waits({ waits, canWait, now }: { waits: readonly InboxRow[]; canWait: number; now: number }): ReactNode {
  const mayDecide = useMay()('approve');
  const more = waits.length - WAITS_SHOWN;
  const right = [more > 0 ? `${more} more` : '', canWait > 0 ? `${canWait}${more > 0 ? '' : ' more'} can wait` : ''];
  if (waits.length === 0)
    return (
      <section aria-labelledby="home-waits">
        <h2 id="home-waits" className="home-quiet">
          <Icon name="check" size={14} />
          Nothing waits for you.
          {canWait > 0 ? (
            <a {...linkTo('/inbox')} className="quiet-link">
              {canWait} can wait. Open inbox
            </a>
          ) : null}
        </h2>
      </section>
    );
  return (
    <section aria-labelledby="home-waits">
      <SectionTitle
        id="home-waits"
        n={waits.length}
        right={
          <a {...linkTo('/inbox')} className="quiet-link">
            {right.filter(Boolean).join(', ')}
            {right.some(Boolean) ? '. ' : ''}Open inbox <Kbd keys="g i" />
          </a>
        }
      >
        Waits for you
      </SectionTitle>
      <ul className="waits">
        {waits.slice(0, WAITS_SHOWN).map((row) => (
          <li key={row.id}>
            <Glyph status={KINDS[row.kind].glyph} />
            <a {...linkTo(inboxPath(row.id))} className="waits-words">
              <Name text={titleOf(row)} className="waits-title" />
              <span className="waits-about">
                <About row={row} />
              </span>
            </a>
            <time className="quiet nowrap" dateTime={row.since} title={exactly(row.since)}>
              {duration(now - Date.parse(row.since))}
            </time>
            <Button kind={row.kind === 'approval' ? 'attention' : 'plain'} onPress={() => go(inboxPath(row.id))}>
              {mayDecide ? KINDS[row.kind].verb : 'Look'}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `Item 5, Store every expiry in UTC in Sessions end too early`. */
export function About({ row }: { row: InboxRow }): ReactNode {
  const { item } = row;
  // A title that names the item already says it.
  const name = item && !titleOf(row).includes(item.title) ? item.title : null;
  return (
    <>
      {item ? (
        <>
          Item {item.n}
          {name === null ? null : (
            <>
              , <Foreign text={name} />
            </>
          )}
          {row.request ? <span className="quiet"> in </span> : null}
        </>
      ) : null}
      {row.request ? (
        <Foreign text={row.request} />
      ) : item ? null : (
        <Foreign text={(row.kind === 'quarantine' ? row.reason : row.title) || 'The workspace'} />
      )}
    </>
  );
}

function Running({ casts, now }: { casts: readonly CastRow[]; now: number }): ReactNode {
  return (
    <section aria-labelledby="home-running">
      <SectionTitle id="home-running" n={casts.length === 0 ? undefined : casts.length}>
        Running
      </SectionTitle>
      {casts.length === 0 ? (
        <p className="home-none">Nothing runs.</p>
      ) : (
        <ul className="rows">
          {casts.map((row) => (
            <li key={row.cast}>
              <a {...linkTo(castPath(row.cast))} className="row row-two">
                <Glyph status={statusOf(row)} />
                <span className="row-words">
                  <Name text={row.request} className="row-title" />
                  <Name text={row.loadout} className="quiet small" />
                </span>
                <span className="row-items">{row.items ? <ItemTrack {...row.items} /> : null}</span>
                <span
                  className={`row-step ${row.status === 'running' ? 'live' : row.status === 'waiting' ? 'wait' : 'quiet'}`}
                >
                  <Name text={stepOf(row)} />
                </span>
                <span className="row-time" title={`started ${exactly(row.startedAt)}`}>
                  {duration(row.elapsedMs + (row.status === 'running' ? Math.max(0, now - readAt(row)) : 0))}
                </span>
                <span className="row-cost">{row.cost === undefined ? '' : money(row.cost, row.currency)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** A row is asked again whenever its cast changes; in between its time goes on. */
const read = new WeakMap<CastRow, number>();
function readAt(row: CastRow): number {
  const at = read.get(row) ?? Date.now();
  read.set(row, at);
  return at;
}

function stepOf(row: CastRow): string {
  if (row.status === 'running') return row.step ?? 'runs';
  if (row.status === 'paused') return 'paused';
  return row.reason || 'waits for you';
}

function EndedRow({ row }: { row: CastRow }): ReactNode {
  const status: Status = statusOf(row);
  return (
    <li>
      <a {...linkTo(castPath(row.cast))} className="row row-one">
        <Glyph status={status} />
        <Name text={row.request} />
        <Name text={row.loadout} className="quiet row-team" />
        <Name text={resultOf(row)} className={`row-result ${row.status === 'failed' ? 'bad' : 'second'}`} />
        <time className="row-time quiet" dateTime={row.changedAt} title={exactly(row.changedAt)}>
          {clock(row.changedAt)}
        </time>
        <span className="row-cost quiet">{row.cost === undefined ? '' : money(row.cost, row.currency)}</span>
      </a>
    </li>
  );
}
