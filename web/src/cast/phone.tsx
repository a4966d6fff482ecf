// A cast on a phone: sockets as a line from top to bottom, the items below, acts at the thumb. No canvas, no timeline.
import type { ReactNode } from 'react';
import type { CastPage, PageAct, PageItem, PageSocket } from '../../../src/app/views/cast-page.ts';
import type { LogLine } from '../../../src/app/views/cast-timeline.ts';
import type { TurnRow } from '../../../src/app/views/turn-rows.ts';
import { END, edgesOf } from '../graph/layout.ts';
import { Button } from '../parts/button.tsx';
import { Glyph, Icon } from '../parts/glyphs.tsx';
import { ItemPill } from '../parts/items.tsx';
import { ViewTitle } from '../parts/pane.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { go, turnPath } from '../router.ts';
import { clockSeconds, count, duration, money, plural, stopwatch } from '../words.ts';
import { ActButton, MoreActs } from './acts.tsx';
import { sentenceOf } from './entry-words.tsx';
import { isWaiting, nameOf, pillOf, SIGN } from './shown.ts';
import { Result } from './state-pane.tsx';
import { useTick } from './tick.ts';
import './phone.css';

type PhoneProps = {
  readonly page: CastPage;
  readonly row: TurnRow | null;
  readonly acts: readonly PageAct[];
  readonly inspector: ReactNode;
  readonly log: readonly LogLine[];
  readonly header: ReactNode;
  /** While the past is looked at. */
  readonly back: ReactNode;
  readonly onTurn: (turn: number, attempt?: number) => void;
  readonly onSocket: (socket: string) => void;
};

const ENTRIES_SHOWN = 20;
const ITEMS_SHOWN = 60;

export function Phone(props: PhoneProps): ReactNode {
  const { page, row, acts, inspector, log, header, back, onTurn, onSocket } = props;
  const now = useTick(page.status === 'running');
  if (row !== null)
    return (
      <div className="phone-turn">
        <ViewTitle className="unseen">
          <Foreign text={`${nameOf(page, row.socket)}, turn ${row.turn}`} />
        </ViewTitle>
        {back}
        {inspector}
      </div>
    );
  const { counts } = page;
  const [first] = page.waits;
  const elapsed =
    page.status === 'running' ? page.elapsedMs + Math.max(0, now - Date.parse(page.asOf)) : page.elapsedMs;
  const bar = acts
    .filter(({ id }) => BAR.includes(id) || id.startsWith('answer'))
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .slice(0, 2);
  const more = acts.filter(({ id }) => MORE.includes(id) && !bar.some((act) => act.id === id));
  return (
    <div className="phone">
      <header className="phone-head">
        <Button kind="quiet" icon="left" label="Back to all casts" onPress={() => go('/casts')} />
        <ViewTitle>
          <Name text={page.request} />
        </ViewTitle>
      </header>
      {back}
      <div className="phone-body">
        <p className={`phone-status phone-${page.status}`}>
          <Glyph status={STATUS[page.status]} isQuiet />
          <b>{STATUS_WORDS[page.status]}</b>
          <span>
            {[
              counts ? `${count(counts.done)} of ${count(counts.total)} items` : null,
              duration(elapsed),
              page.usage.cost > 0 ? money(page.usage.cost) : null,
            ]
              .filter(Boolean)
              .join(', ')}
          </span>
        </p>
        {first ? (
          <button
            type="button"
            className="phone-wait"
            onClick={() => (first.turn === null ? undefined : go(turnPath(page.cast, first.turn)))}
          >
            <Glyph status="waits" isQuiet />
            <b>
              <Foreign
                text={`${first.socket ?? `Item ${first.number ?? ''}`} ${first.kind === 'approval' ? 'asks to run a command' : first.kind === 'question' ? 'asks you' : first.kind === 'talk' ? 'talks with you' : 'waits for you'}`}
              />
            </b>
            <Icon name="right" />
          </button>
        ) : null}
        {header}
        {page.status === 'completed' ? <Result page={page} /> : null}
        <Line page={page} now={now} onSocket={onSocket} />
        {page.items.length > 0 ? <Items page={page} onTurn={onTurn} /> : null}
        <section aria-labelledby="phone-last">
          <h2 className="phone-title" id="phone-last">
            Last {plural(Math.min(ENTRIES_SHOWN, log.length), 'entry', 'entries')}
          </h2>
          <ul className="phone-log">
            {log
              .slice(-ENTRIES_SHOWN)
              .toReversed()
              .map((line) => (
                <li key={line.seq}>
                  <time>{clockSeconds(line.at)}</time>
                  <span>{sentenceOf(line, page)}</span>
                </li>
              ))}
          </ul>
        </section>
      </div>
      {bar.length > 0 ? (
        <div className="phone-bar">
          {bar.map((act) => (
            <ActButton key={act.id} act={act} isBare isBig />
          ))}
          {more.length > 0 ? <MoreActs acts={more} command={`baton watch ${page.cast}`} /> : null}
        </div>
      ) : null}
    </div>
  );
}

/** At the thumb, the first two that there are. */
const BAR: readonly string[] = ['continue', 'say', 'pause', 'abort'];
const placeOf = ({ id }: PageAct): number => (BAR.includes(id) ? BAR.indexOf(id) : -1);
const MORE: readonly string[] = ['say', 'pause', 'budget', 'revive', 'abort'];
const STATUS = {
  running: 'running',
  waiting: 'waits',
  paused: 'paused',
  completed: 'done',
  failed: 'failed',
  aborted: 'stopped',
} as const;
const STATUS_WORDS = {
  running: 'Running',
  waiting: 'Waits for you',
  paused: 'Paused',
  completed: 'Completed',
  failed: 'Failed',
  aborted: 'Stopped',
} as const;

type Group = { readonly loop: string | null; readonly sockets: readonly PageSocket[] };

/** Sockets in the order of their ways, a loop as one group. */
function groupsOf(page: CastPage): readonly Group[] {
  const { sockets, loops } = page.graph;
  const next = new Map<string, string[]>();
  for (const { from, to } of edgesOf(page.graph)) if (to !== END) next.set(from, [...(next.get(from) ?? []), to]);
  const entry = sockets.find(({ isEntry }) => isEntry)?.id;
  const seen = new Set<string>(entry === undefined ? [] : [entry]);
  // A set that grows while it is walked is its own queue.
  for (const id of seen) for (const to of next.get(id) ?? []) seen.add(to);
  for (const { id } of sockets) seen.add(id);
  const order = [...seen].flatMap((id) => sockets.find((socket) => socket.id === id) ?? []);
  const groups: { loop: string | null; sockets: PageSocket[] }[] = [];
  const placed = new Set<string>();
  for (const socket of order) {
    if (placed.has(socket.id)) continue;
    const loop = loops.find(({ steps }) => steps.includes(socket.id));
    const own = loop ? order.filter(({ id }) => loop.steps.includes(id) && !placed.has(id)) : [socket];
    for (const { id } of own) placed.add(id);
    groups.push({ loop: loop?.id ?? null, sockets: own });
  }
  return groups;
}

function Line({ page, now, onSocket }: { page: CastPage; now: number; onSocket: (socket: string) => void }): ReactNode {
  return (
    <ol className="phone-line" aria-label="Sockets">
      {groupsOf(page).map(({ loop, sockets }) => {
        const back = page.graph.edges.find(
          ({ from, when, count }) => when === 'not_satisfied' && count > 0 && sockets.some(({ id }) => id === from),
        );
        const rows = sockets.map((socket) => <Step key={socket.id} {...{ socket, page, now, onSocket }} />);
        if (loop === null) return rows;
        return (
          <li key={loop} className="phone-loop">
            <p>
              <Icon name="loop" /> For each item, loop consumers
            </p>
            <ol>{rows}</ol>
            {back ? (
              <p className="rework-word">
                <Glyph status="rework" isQuiet /> {nameOf(page, back.from)} sent {back.count} back to{' '}
                {nameOf(page, back.to)}
              </p>
            ) : null}
          </li>
        );
      })}
    </ol>
  );
}

function Step({
  socket,
  page,
  now,
  onSocket,
}: {
  socket: PageSocket;
  page: CastPage;
  now: number;
  onSocket: (socket: string) => void;
}): ReactNode {
  const { shown, live, refused, advanced } = socket;
  const [first] = live;
  const total = page.graph.loops.find(({ generator }) => generator === socket.id);
  const items = total ? page.items.filter(({ list }) => list === total.list).length : 0;
  return (
    <li className={`phone-step step-${shown}`}>
      <button type="button" onClick={() => onSocket(socket.id)}>
        <Glyph status={SIGN[shown]} />
        <Name text={socket.name} className="phone-name" />
        <span className="phone-below">
          {socket.kind === 'utility' ? 'utility' : socket.turns > 0 ? plural(socket.turns, 'turn') : ''}
        </span>
        <span className="phone-now">
          {refused ? (
            <span className="phone-refused">
              <Glyph status="refused" says="attempts refused" /> {refused.count}
            </span>
          ) : null}
          {live
            .slice(0, 2)
            .map(({ turn, number, title, shown: state }) =>
              number === null ? null : <ItemPill key={turn} n={number} state={pillOf(state)} title={title ?? ''} />,
            )}
          {first ? (
            isWaiting(first.shown) ? (
              <b className="phone-waits">{first.words}</b>
            ) : (
              <span
                className={first.shown === 'failed' ? 'phone-failed-word' : first.shown === 'runs' ? 'phone-live' : ''}
              >
                {first.shown === 'runs' ? stopwatch(now - Date.parse(first.since)) : first.words}
              </span>
            )
          ) : socket.isGenerator ? (
            <span>
              <Icon name="fan" /> Generator{items > 0 ? `, ${plural(items, 'item')}` : ''}
            </span>
          ) : advanced > 0 ? (
            <span>{advanced} finished</span>
          ) : null}
        </span>
      </button>
    </li>
  );
}

const RANK = (item: PageItem): number =>
  item.shown === 'runs' ? 0 : isWaiting(item.shown) ? 1 : item.shown === 'done' || item.shown === 'skipped' ? 3 : 2;

function Items({ page, onTurn }: { page: CastPage; onTurn: (turn: number) => void }): ReactNode {
  const sorted = page.items.toSorted((a, b) => RANK(a) - RANK(b) || a.number - b.number);
  return (
    <section aria-labelledby="phone-items">
      <h2 className="phone-title" id="phone-items">
        Items <span>live first</span>
      </h2>
      <ul className="phone-items">
        {sorted.slice(0, ITEMS_SHOWN).map((item) => (
          <li key={`${item.list} ${item.key}`}>
            <button
              type="button"
              className={item.shown === 'done' ? 'phone-done' : ''}
              onClick={() => item.turn !== null && onTurn(item.turn)}
            >
              <ItemPill n={item.number} state={pillOf(item.shown)} title={item.title} />
              <Name text={item.title} className="phone-name" />
              <span className={isWaiting(item.shown) ? 'phone-waits' : item.shown === 'runs' ? 'phone-live' : ''}>
                {item.shown === 'runs' ? nameOf(page, item.socket) : item.words}
                {item.rework > 0 ? `, ${item.rework} rework` : ''}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {sorted.length > ITEMS_SHOWN ? (
        <p className="pane-note">{count(sorted.length - ITEMS_SHOWN)} more items.</p>
      ) : null}
    </section>
  );
}
