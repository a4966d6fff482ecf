// Where one can go: the sidebar, which is a rail of icons in a narrow window, and the bar at the bottom of a phone.
import type { ReactNode } from 'react';
import { Kbd } from '../parts/button.tsx';
import { Glyph, Icon, type IconName, Mark, type Status } from '../parts/glyphs.tsx';
import { Name } from '../parts/text.tsx';
import { castPath, linkTo, type Route } from '../router.ts';
import { count, inLine } from '../words.ts';
import { useWorkspace } from '../workspace.ts';
import type { CastRow, Overview } from './overview.ts';

type Place = { readonly name: string; readonly path: string; readonly key: string; readonly icon: IconName };

export const PLACES: readonly Place[] = [
  { name: 'Home', path: '/', key: 'h', icon: 'home' },
  { name: 'Inbox', path: '/inbox', key: 'i', icon: 'inbox' },
  { name: 'Casts', path: '/casts', key: 'a', icon: 'casts' },
  { name: 'Ledger', path: '/ledger', key: 'l', icon: 'ledger' },
  { name: 'Queue', path: '/queue', key: 'q', icon: 'queue' },
  { name: 'Loadouts', path: '/loadouts', key: 'o', icon: 'loadouts' },
  { name: 'History', path: '/history', key: 't', icon: 'history' },
];

function isHere({ path }: Place, route: Route): boolean {
  const [place] = route.path;
  if (path === '/casts') return place === 'casts';
  return path === '/' ? place === undefined : path.slice(1) === place;
}

const OPEN_SHOWN = 12;

export function Sidebar({
  route,
  overview,
  onPalette,
}: {
  route: Route;
  overview: Overview;
  onPalette: () => void;
}): ReactNode {
  const hello = useWorkspace('hello');
  const { openCasts, openCount, waits, queued } = overview;
  return (
    <nav className="sidebar" aria-label="Places">
      <div className="workspace" title={hello?.workspace.dir}>
        <Mark />
        <b>{hello?.workspace.name}</b>
      </div>
      <button type="button" className="find" onClick={onPalette} title="Go to, do, find">
        <Icon name="search" />
        <span className="label">Go to, do, find</span>
        <Kbd keys="mod+k" />
      </button>
      <ul>
        {PLACES.map((place) => (
          <li key={place.name}>
            <a
              {...linkTo(place.path)}
              className="place"
              aria-current={isHere(place, route) ? 'page' : undefined}
              title={place.name}
            >
              <Icon name={place.icon} />
              <span className="label">{place.name}</span>
              {place.name === 'Inbox' && waits.length > 0 ? (
                <b className="place-count">
                  {count(waits.length)}
                  <span className="unseen"> wait for you</span>
                </b>
              ) : place.name === 'Queue' && queued > 0 ? (
                <span className="place-items">
                  {count(queued)}
                  <span className="unseen"> to come</span>
                </span>
              ) : null}
            </a>
          </li>
        ))}
      </ul>
      {openCasts.length > 0 ? (
        <>
          <div className="open-casts">
            <span id="open-casts">Open casts</span>
            <span>{count(openCount)}</span>
          </div>
          <ul aria-labelledby="open-casts" className="open-list">
            {openCasts.slice(0, OPEN_SHOWN).map((row) => (
              <li key={row.cast}>
                <a
                  {...linkTo(castPath(row.cast))}
                  className="place place-cast"
                  aria-current={route.path[0] === 'cast' && route.path[1] === row.cast ? 'page' : undefined}
                  title={inLine(row.request)}
                >
                  <Glyph status={statusOf(row)} />
                  <Name text={row.request} className="label" />
                  {row.items && row.items.total > 0 ? (
                    <span className="place-items">
                      {row.items.done}/{row.items.total}
                    </span>
                  ) : null}
                </a>
              </li>
            ))}
            {openCount > OPEN_SHOWN ? (
              <li>
                <a {...linkTo('/casts?status=open')} className="place place-more">
                  <span className="label">{count(openCount - OPEN_SHOWN)} more</span>
                </a>
              </li>
            ) : null}
          </ul>
        </>
      ) : null}
    </nav>
  );
}

/** The sign of a cast in a list. */
export function statusOf({ status, code }: Pick<CastRow, 'status' | 'code'>): Status {
  if (status === 'waiting') return code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'waits';
  const signs = {
    running: 'running',
    paused: 'paused',
    completed: 'done',
    failed: 'failed',
    aborted: 'stopped',
  } as const;
  return signs[status];
}

export function BottomBar({
  route,
  overview,
  onPalette,
}: {
  route: Route;
  overview: Overview;
  onPalette: () => void;
}): ReactNode {
  return (
    <nav className="bottom-bar" aria-label="Places, at the thumb">
      {PLACES.slice(0, 4).map((place) => (
        <a
          key={place.name}
          {...linkTo(place.path)}
          aria-current={
            isHere(place, route) || (place.name === 'Casts' && route.path[0] === 'cast') ? 'page' : undefined
          }
        >
          <Icon name={place.icon} size={20} />
          <span>
            {place.name}
            {place.name === 'Inbox' && overview.waits.length > 0 ? (
              <b className="wait"> {overview.waits.length}</b>
            ) : null}
          </span>
        </a>
      ))}
      <button type="button" onClick={onPalette}>
        <Icon name="search" size={20} />
        <span>Find</span>
      </button>
    </nav>
  );
}
