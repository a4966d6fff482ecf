// All casts of the workspace, newest first. The server filters, and pages come as somebody scrolls.
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { look } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button } from '../parts/button.tsx';
import { Glyph, Icon } from '../parts/glyphs.tsx';
import { Header } from '../parts/pane.tsx';
import { Empty, LoadingRows, Problem } from '../parts/states.tsx';
import { Name } from '../parts/text.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { castPath, go, linkTo, useRoute, withQuery } from '../router.ts';
import { CAST_CHANGES, type CastRow, resultOf } from '../shell/overview.ts';
import { statusOf } from '../shell/places.tsx';
import { count, duration, exactly, money, when } from '../words.ts';
import { useLook, useMay } from '../workspace.ts';
import '../parts/lists.css';

const FILTERS = [
  ['', 'All'],
  ['open', 'Open'],
  ['running', 'Running'],
  ['waiting', 'Waiting'],
  ['paused', 'Paused'],
  ['completed', 'Done'],
  ['failed', 'Failed'],
  ['aborted', 'Stopped'],
] as const;
const PAGE = 200;

/** `matching` are on all pages. */
type Page = { readonly casts: readonly CastRow[]; readonly matching: number };

export default function Casts(): ReactNode {
  const { query } = useRoute();
  const mayStart = useMay()('cast.start');
  const [status, text] = [query.get('status') ?? '', query.get('text') ?? ''];
  const [typed, setTyped] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  const [at, setAt] = useState(-1);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => go(withQuery({ text: typed }), { replace: true }), 250);
    return () => clearTimeout(timer);
  }, [typed, text]);
  const filter = useMemo(() => ({ ...(status ? { status } : {}), ...(text ? { text } : {}) }), [status, text]);
  const { rows, total, fresh, refusal, isRead, showFresh, more, refresh } = useCastPages(filter);
  const last = rows.length - 1;
  const move = (to: number): void => setAt(Math.max(0, Math.min(last, to)));
  useKeys('Casts', [
    { keys: '/', says: 'Filter', run: () => field.current?.focus() },
    { keys: 'j', says: 'Next', run: () => move(at + 1) },
    { keys: 'ArrowDown', says: 'Next', run: () => move(at + 1) },
    { keys: 'k', says: 'The one before', run: () => move(at - 1) },
    { keys: 'ArrowUp', says: 'The one before', run: () => move(at - 1) },
    { keys: 'Home', says: 'To the newest', run: () => move(0) },
    { keys: 'End', says: 'To the oldest that is read', run: () => move(last) },
    { keys: 'Enter', says: 'Open', run: () => rows[at] && go(castPath(rows[at].cast)) },
  ]);
  return (
    <>
      <Header title="Casts" beside={isRead ? count(total) : null}>
        {mayStart ? (
          <Button kind="primary" keys="c" onPress={() => go('/?new=1')}>
            New cast
          </Button>
        ) : null}
      </Header>
      <div className="filters">
        <div className="filter-text">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            aria-label="Filter by words"
            placeholder="Filter by words"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        <fieldset className="chips">
          <legend className="unseen">Status</legend>
          {FILTERS.map(([value, says]) => (
            <button
              key={value}
              type="button"
              className="chip"
              aria-pressed={value === status}
              onClick={() => go(withQuery({ status: value }))}
            >
              {says}
            </button>
          ))}
        </fieldset>
        {fresh > 0 ? (
          <Button className="fresh" onPress={showFresh}>
            {count(fresh)} new
          </Button>
        ) : null}
      </div>
      <div className="casts-head" aria-hidden="true">
        <span />
        <span>Request</span>
        <span>Team</span>
        <span>Items</span>
        <span>Result</span>
        <span className="right">Changed</span>
        <span className="right">Ran</span>
        <span className="right">Cost</span>
      </div>
      {refusal ? (
        <div className="page-missing">
          <Problem refusal={refusal} onRetry={refresh} />
        </div>
      ) : null}
      {!isRead && !refusal ? (
        <div className="page-missing">
          <LoadingRows what="The casts" rows={8} />
        </div>
      ) : isRead && rows.length === 0 ? (
        <div className="page-missing">
          {status || text ? (
            <Empty act={<Button onPress={() => go('/casts')}>Show all</Button>}>No cast fits this filter.</Empty>
          ) : (
            <Empty act={mayStart ? <Button onPress={() => go('/?new=1')}>Start a cast</Button> : null}>
              No casts yet.
            </Empty>
          )}
        </div>
      ) : (
        <VirtualList
          {...{ rows, total, selected: at, label: 'Casts', name: `casts ${status} ${text}` }}
          height={32}
          onPhone={60}
          keyOf={({ cast }) => cast}
          onNearEnd={more}
        >
          {(row, n) => <Row row={row} isSelected={n === at} />}
        </VirtualList>
      )}
    </>
  );
}

function Row({ row, isSelected }: { row: CastRow; isSelected: boolean }): ReactNode {
  return (
    <a {...linkTo(castPath(row.cast))} className={`cast-row${isSelected ? ' selected' : ''}`}>
      <Glyph status={statusOf(row)} />
      <Name text={row.request} className="cast-request" />
      <Name text={row.loadout} className="quiet cast-team" />
      <span className="cast-items">
        {row.items && row.items.total > 0 ? `${count(row.items.done)}/${count(row.items.total)}` : ''}
      </span>
      <Name
        text={row.status === 'running' ? (row.step ?? 'runs') : resultOf(row)}
        className={`cast-result ${TONES[row.status]}`}
      />
      <time className="right quiet cast-time" dateTime={row.changedAt} title={exactly(row.changedAt)}>
        {when(row.changedAt)}
      </time>
      <span className="right quiet cast-ran">{duration(row.elapsedMs)}</span>
      <span className="right cast-cost">{row.cost === undefined ? '' : money(row.cost, row.currency)}</span>
    </a>
  );
}

const TONES: Readonly<Record<CastRow['status'], string>> = {
  running: 'live',
  waiting: 'wait',
  paused: 'quiet',
  completed: 'second',
  failed: 'bad',
  aborted: 'quiet',
};

/** What is shown does not move by itself: casts that are new wait until somebody asks for them. */
function useCastPages(filter: Readonly<Record<string, string>>) {
  const key = JSON.stringify(filter);
  const newest = useLook<Page>('cast.list', { ...filter, limit: PAGE }, CAST_CHANGES);
  const [kept, setKept] = useState<{
    readonly key: string;
    readonly rows: readonly CastRow[];
    readonly isEnd: boolean;
  }>({
    ...{ key: '', rows: [], isEnd: false },
  });
  const isReading = useRef(false);
  const first = newest.details?.casts;
  const current = kept.key === key ? kept : null;
  useEffect(() => {
    if (first) setKept((old) => (old.key === key ? old : { key, rows: first, isEnd: first.length < PAGE }));
  }, [first, key]);
  const fitting = useMemo(() => new Set(first?.map(({ cast }) => cast)), [first]);
  // A row that fits the filter no longer stays where it is, and says what became of it.
  const end = first && first.length === PAGE ? (first.at(-1)?.startedAt ?? '') : '';
  const hasLeft = first !== undefined && current?.rows.some((row) => row.startedAt > end && !fitting.has(row.cast));
  const others = useLook<Page>(hasLeft ? 'cast.list' : null, { limit: PAGE }, CAST_CHANGES).details?.casts;
  const changed = useMemo(
    () => new Map([...(others ?? []), ...(first ?? [])].map((row) => [row.cast, row])),
    [others, first],
  );
  const rows = useMemo(() => (current?.rows ?? []).map((row) => changed.get(row.cast) ?? row), [current, changed]);
  const known = useMemo(() => new Set(rows.map(({ cast }) => cast)), [rows]);
  const oldest = rows.at(-1);
  const freshRows = current ? (first ?? []).filter(({ cast }) => !known.has(cast)) : [];
  // A list without rows has nothing that could move.
  const isEmpty = current !== null && rows.length === 0 && freshRows.length > 0;
  const showFresh = useCallback(() => {
    if (first) setKept((old) => ({ ...old, rows: merged(first, old.rows) }));
  }, [first]);
  useEffect(() => {
    if (isEmpty) showFresh();
  }, [isEmpty, showFresh]);
  const more = useCallback(() => {
    if (isReading.current || !oldest || current?.isEnd) return;
    isReading.current = true;
    void look<Page>('cast.list', { ...JSON.parse(key), limit: PAGE, before: oldest.cast }).then((page) => {
      isReading.current = false;
      if (!page.allow) return;
      const { casts } = page.details;
      setKept((old) => (old.key === key ? { key, rows: merged(old.rows, casts), isEnd: casts.length < PAGE } : old));
    });
  }, [key, oldest, current]);
  const total = current?.isEnd ? rows.length : Math.max(newest.details?.matching ?? 0, rows.length);
  const { refusal, refresh } = newest;
  return { rows, total, fresh: freshRows.length, refusal, isRead: current !== null, showFresh, more, refresh };
}

function merged(newer: readonly CastRow[], older: readonly CastRow[]): readonly CastRow[] {
  const known = new Set(newer.map(({ cast }) => cast));
  return [...newer, ...older.filter(({ cast }) => !known.has(cast))];
}
