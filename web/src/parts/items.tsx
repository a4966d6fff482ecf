// Work items: a pill is always an item, and a track is all items of a cast.
import type { ReactNode } from 'react';
import { count, inLine } from '../words.ts';
import './items.css';

export type ItemState = 'waiting' | 'live' | 'waits' | 'done' | 'failed' | 'open';

/** The number of an item. Its title is in the tooltip. */
export function ItemPill({ n, state = 'waiting', title }: { n: number; state?: ItemState; title?: string }): ReactNode {
  const says = `item ${n}${title === undefined ? '' : `, ${inLine(title)}`}`;
  return (
    <span className={`pill pill-${state}`} role="img" aria-label={says} title={says}>
      {n}
    </span>
  );
}

const CELLS_MAX = 24;

/** One cell per item up to 24, then a bar. `states` may be shorter than the number of items: the rest is open. */
export function ItemTrack({
  done,
  total,
  states,
  failed = 0,
}: {
  done: number;
  total: number;
  states?: readonly ItemState[];
  failed?: number;
}): ReactNode {
  if (total === 0) return null;
  const says = `${count(done)} of ${count(total)} items done${failed > 0 ? `, ${count(failed)} failed` : ''}`;
  if (total > CELLS_MAX)
    return (
      <span className="track" title={says}>
        <span className="track-bar" role="img" aria-label={says}>
          <span style={{ width: `${(100 * done) / total}%` }} />
        </span>
        <span className="track-words" aria-hidden="true">
          {count(done)} of {count(total)}
          {failed > 0 ? <b className="bad"> {count(failed)} failed</b> : null}
        </span>
      </span>
    );
  const cells = Array.from({ length: total }, (_, n) => states?.[n] ?? (n < done ? 'done' : 'open'));
  return (
    <span className="track" title={says}>
      <span className="track-cells" role="img" aria-label={says}>
        {cells.map((state, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
          <span key={n} className={`cell cell-${state}`} />
        ))}
      </span>
      <span className="track-words" aria-hidden="true">
        {done}/{total}
      </span>
    </span>
  );
}
