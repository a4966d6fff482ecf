// The items of a cast as a table: the same as the graph shows, for a person who reads instead of looking.
import { type ReactNode, useMemo, useState } from 'react';
import type { CastPage, PageAct, PageItem } from '../../../src/app/views/cast-page.ts';
import { Segments } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { ItemPill } from '../parts/items.tsx';
import { Empty } from '../parts/states.tsx';
import { Name } from '../parts/text.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { count, plural, when } from '../words.ts';
import { ActButton } from './acts.tsx';
import { isWaiting, nameOf, pillOf, SIGN } from './shown.ts';

type Wanted = 'all' | 'open' | 'waits' | 'done';

export function ItemsFace({
  page,
  acts,
  onTurn,
}: {
  page: CastPage;
  acts: readonly PageAct[];
  onTurn: (turn: number) => void;
}): ReactNode {
  const [wanted, setWanted] = useState<Wanted>('all');
  const rows = useMemo(() => page.items.filter((item) => fits(item, wanted)), [page.items, wanted]);
  if (page.items.length === 0) {
    const isEmpty = page.graph.loops.some((loop) => loop.isEmpty);
    return (
      <div className="face">
        <Empty>
          {page.graph.loops.length === 0
            ? 'This loadout has no loop, so the cast has no items. Its turns are in the log.'
            : isEmpty
              ? 'The list was empty, so the loop was skipped.'
              : 'No items yet. They appear here when the generator has returned them.'}
        </Empty>
      </div>
    );
  }
  const { counts } = page;
  return (
    <div className="face">
      <div className="face-head">
        <Segments
          label="Which items"
          of={[
            ['all', `All ${count(page.items.length)}`],
            ['open', 'Open'],
            ['waits', 'Wait for you'],
            ['done', 'Done'],
          ]}
          chosen={wanted}
          onChoose={setWanted}
        />
        <span className="face-count">
          {counts ? `${count(counts.done)} of ${plural(counts.total, 'item')} done` : ''}
        </span>
      </div>
      {rows.length === 0 ? <Empty>No item is in this state.</Empty> : null}
      <VirtualList
        rows={rows}
        height={40}
        label="Items"
        name={`items ${page.cast}`}
        keyOf={({ list, key }) => `${list} ${key}`}
      >
        {(item) => <Row item={item} page={page} acts={acts} onTurn={onTurn} />}
      </VirtualList>
    </div>
  );
}

function fits({ shown }: PageItem, wanted: Wanted): boolean {
  if (wanted === 'all') return true;
  const isDone = shown === 'done' || shown === 'skipped';
  if (wanted === 'done') return isDone;
  return wanted === 'waits' ? isWaiting(shown) : !isDone;
}

function Row({
  item,
  page,
  acts,
  onTurn,
}: {
  item: PageItem;
  page: CastPage;
  acts: readonly PageAct[];
  onTurn: (turn: number) => void;
}): ReactNode {
  const own = acts.filter((act) => act.item === item.key && act.turn === null);
  const tone = isWaiting(item.shown)
    ? 'waits'
    : item.shown === 'runs'
      ? 'runs'
      : item.shown === 'failed'
        ? 'failed'
        : 'plain';
  return (
    <div className={`item-row item-${tone}`}>
      <button
        type="button"
        className="item-open"
        aria-disabled={item.turn === null || undefined}
        onClick={() => item.turn !== null && onTurn(item.turn)}
      >
        <ItemPill n={item.number} state={pillOf(item.shown)} title={item.title} />
        <Name text={item.title} className="item-title" />
        {item.rework > 0 ? (
          <span className="rework-word">
            <Glyph status="rework" isQuiet /> {item.rework}
            <span className="unseen"> times sent back</span>
          </span>
        ) : null}
        <span className="item-where">
          {item.socket !== null && item.shown !== 'done' && item.shown !== 'skipped'
            ? `${nameOf(page, item.socket)}, `
            : ''}
          {item.words}
        </span>
        <Glyph status={SIGN[item.shown]} isQuiet />
        <time className="item-time">{item.since === null ? '' : when(item.since)}</time>
      </button>
      {own.map((act) => (
        <ActButton key={act.id} act={act} isBare />
      ))}
    </div>
  );
}
