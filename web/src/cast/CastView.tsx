// One cast: its graph with where it is now, its items, its log, a timeline to look back, and the turn that is open.
import { lazy, memo, type ReactNode, Suspense, useCallback, useMemo, useRef } from 'react';
import type { CastPage, PageAct } from '../../../src/app/views/cast-page.ts';
import type { LogList } from '../../../src/app/views/cast-timeline.ts';
import { useKeys } from '../keys.ts';
import { Banner } from '../parts/banner.tsx';
import { Button, Segments } from '../parts/button.tsx';
import { Header, Pane } from '../parts/pane.tsx';
import { useIsPhone } from '../parts/phone.ts';
import { LoadingRows, Problem } from '../parts/states.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { castPath, go, turnPath, useRoute, withQuery } from '../router.ts';
import { type PaletteRow, useOffered } from '../shell/palette-rows.ts';
import { clockSeconds, duration } from '../words.ts';
import { sayTo, useActs } from './acts.tsx';
import { CastHeader, openWait, State } from './cast-header.tsx';
import { Changed } from './changes.tsx';
import { type Followed, type Follower, turnsOf, useCast, usePast, useTurn } from './follow.ts';
import { Inspector, TABS, type Tab } from './inspector.tsx';
import { ItemsFace } from './items-face.tsx';
import { LogFace } from './log-face.tsx';
import { Phone } from './phone.tsx';
import { SocketPane, StatePane } from './state-pane.tsx';
import { useTick } from './tick.ts';
import { Timeline } from './timeline.tsx';
import './cast.css';

const GraphFace = lazy(() => import('./graph.tsx'));

type CastViewProps = {
  /** The id of the cast. */
  readonly cast: string;
  /** The turn of the address: `18`, or `18.1` with an attempt. `at` and the rest are in the query. */
  readonly turn: string | undefined;
};

export default function CastView({ cast, turn }: CastViewProps): ReactNode {
  const { follower, followed } = useCast(cast);
  if (followed.page === null)
    return (
      <>
        <Header title="Cast" />
        <div className="view-main cast-opening">
          {followed.refusal ? (
            <Problem refusal={followed.refusal} onRetry={() => void follower.read()} />
          ) : (
            <LoadingRows what="The cast" />
          )}
        </div>
      </>
    );
  return <Cast {...{ cast, turn, follower, followed, now: followed.page }} />;
}

const FACES = ['graph', 'items', 'log'] as const;
type Face = (typeof FACES)[number];

type CastProps = CastViewProps & { readonly follower: Follower; readonly followed: Followed; readonly now: CastPage };

function Cast({ cast, turn, follower, followed, now }: CastProps): ReactNode {
  const { query } = useRoute();
  const asked = /^\d+$/.test(query.get('at') ?? '') ? Number(query.get('at')) : null;
  const { seq: head } = now;
  const at = asked !== null && asked > 0 && asked < head ? asked : null;
  const { past, isReading, refusal } = usePast(cast, at);
  const before = usePast(cast, past?.before ?? null).past;
  const page = at === null ? now : (past ?? now);
  const isPast = at !== null && past !== null;
  const isPhone = useIsPhone();
  const face: Face = FACES.find((each) => each === query.get('face')) ?? 'graph';
  const tab: Tab = TABS.find((each) => each === query.get('tab')) ?? 'output';
  const socketAsked = query.get('socket');
  const [turnNo, attemptNo] = (turn ?? '').split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : null));
  const row = useTurn(cast, turnNo ?? null, at, [page, now]);
  const acts = useActs(isPast ? [] : now.acts);
  const setAt = useCallback((seq: number | null) => go(withQuery({ at: seq ?? undefined }), { replace: true }), []);
  const openTurn = useCallback(
    (number: number, attempt?: number) => {
      const search = new URLSearchParams(location.search);
      search.delete('socket');
      search.delete('tab');
      const text = search.toString();
      go(`${turnPath(cast, attempt === undefined ? number : `${number}.${attempt}`)}${text ? `?${text}` : ''}`);
    },
    [cast],
  );
  const close = useCallback(() => {
    const search = new URLSearchParams(location.search);
    for (const name of ['socket', 'tab', 'state']) search.delete(name);
    const text = search.toString();
    go(`${castPath(cast)}${text ? `?${text}` : ''}`);
  }, [cast]);
  const openSocket = useCallback(
    (id: string) => {
      const socket = page.graph.sockets.find((each) => each.id === id);
      const last = socket?.live[0]?.turn ?? socket?.last?.turn;
      if (last === undefined) go(`${castPath(cast)}?${query_({ socket: id })}`);
      else openTurn(last);
    },
    [page, cast, openTurn],
  );
  const { log } = follower;
  // The entry that is here, or the end, which is behind all of them.
  const here = at ?? head + 1;
  const step = (list: LogList, from: number, by: -1 | 1): void =>
    void log.next(list, from, by).then((line) => {
      if (line) setAt(line.seq >= head ? null : line.seq);
      else if (by === 1) setAt(null);
    });
  const stepEntry = (by: -1 | 1): void => step('all', at ?? head, by);
  const stepRow = (by: -1 | 1): void => {
    if (row === null) return;
    const query = by === 1 ? { from: row.turn + 1 } : { until: row.turn - 1 };
    void turnsOf(cast, { ...query, limit: 1 }).then(([next]) => next && openTurn(next.turn));
  };
  const setFace = (next: Face): void => go(withQuery({ face: next === 'graph' ? undefined : next }), { replace: true });
  useKeys('Cast', [
    { keys: '1', says: 'Graph', run: () => setFace('graph') },
    { keys: '2', says: 'Items', run: () => setFace('items') },
    { keys: '3', says: 'Log', run: () => setFace('log') },
    { keys: 'ArrowLeft', says: 'One entry back', run: () => stepEntry(-1) },
    { keys: 'ArrowRight', says: 'One entry on', run: () => stepEntry(1) },
    { keys: '[', says: 'One turn back', run: () => step('turns', here, -1) },
    { keys: ']', says: 'One turn on', run: () => step('turns', here, 1) },
    { keys: '{', says: 'Refusal or rework before', run: () => step('turning', here, -1) },
    { keys: '}', says: 'Next refusal or rework', run: () => step('turning', here, 1) },
    { keys: 'shift+[', says: 'Refusal or rework before', run: () => step('turning', here, -1) },
    { keys: 'shift+]', says: 'Next refusal or rework', run: () => step('turning', here, 1) },
    { keys: 'l', says: 'Back to live', run: () => setAt(null) },
    ...(now.waits.length > 0 ? [{ keys: 'w', says: 'What waits for me here', run: () => openWait(now) }] : []),
  ]);
  useSocketsOffered(page, openSocket);
  const selected = useSelected(row?.turn ?? null, attemptNo ?? null);
  const turnActs = acts.filter((act) => act.turn !== null && act.turn === row?.turn);
  const changed = isPast && past ? <Changed before={before} page={past} /> : null;
  const inspector =
    row === null ? null : (
      <Inspector
        key={row.turn}
        {...{ page, follower, row, tab, at }}
        attempt={attemptNo ?? null}
        acts={turnActs}
        say={row.key === null || row.number === null ? null : sayTo({ key: row.key, number: row.number }, acts)}
        changed={changed}
        onTab={(next) => go(withQuery({ tab: next === 'output' ? undefined : next }), { replace: true })}
        onAttempt={(number) => openTurn(row.turn, number)}
        onStep={stepRow}
        onClose={close}
      />
    );
  const back =
    at === null ? null : (
      <Banner
        kind="back"
        title={`You are looking at ${past ? clockSeconds(past.time) : 'the past'}.`}
        act={
          <Button keys="l" onPress={() => setAt(null)}>
            Back to live
          </Button>
        }
      >
        {isReading ? 'Reading… ' : null}
        {now.status === 'running' ? <Ahead page={past} /> : null}
        Nothing here can be changed or run again.
      </Banner>
    );
  if (isPhone)
    return (
      <Phone
        {...{ page, row, acts, inspector, back, log: followed.lines }}
        onTurn={openTurn}
        onSocket={openSocket}
        header={<State {...{ page: now, acts, cast }} isPhone />}
      />
    );
  const selectedSocket = row?.socket ?? socketAsked;
  return (
    <>
      <CastHeader {...{ page, now, acts, isPast }} />
      {back}
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
      {at === null ? <State {...{ page: now, acts, cast }} /> : null}
      <div className="view-body cast-body">
        <div className="cast-main">
          <div className="cast-faces">
            <Segments
              label="Face of the cast"
              of={[
                ['graph', 'Graph'],
                ['items', 'Items'],
                ['log', 'Log'],
              ]}
              chosen={face}
              onChoose={setFace}
            />
          </div>
          {face === 'graph' ? (
            <Suspense fallback={<LoadingRows what="The graph" />}>
              <GraphFace
                {...{ page, at }}
                selected={selectedSocket}
                onTurn={openTurn}
                onSocket={openSocket}
                isNarrow={false}
              />
            </Suspense>
          ) : face === 'items' ? (
            <ItemsFace page={page} onTurn={openTurn} acts={acts} />
          ) : (
            <LogFace {...{ page: now, log, at }} onAt={setAt} onTurn={openTurn} />
          )}
        </div>
        <CastPane
          page={page}
          inspector={inspector}
          socket={row === null ? socketAsked : null}
          acts={acts}
          changed={changed}
          isPast={isPast}
          onClose={close}
          onTurn={openTurn}
          isOpen={row !== null || socketAsked !== null}
        />
      </div>
      <Timeline {...{ page: now, log, at, selected }} onAt={setAt} onStep={stepEntry} onTurn={openTurn} />
    </>
  );
}

function query_(change: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) search.set(name, value);
  return search.toString();
}

/** The palette finds the sockets of the cast by their names. */
function useSocketsOffered(page: CastPage, open: (id: string) => void): void {
  const opener = useRef(open);
  opener.current = open;
  // The graph of a cast never changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const rows = useMemo(
    () =>
      page.graph.sockets.map(({ id, name, materia }): PaletteRow => {
        const beside = materia === name ? 'socket' : `socket, ${materia}`;
        return { id: `socket ${id}`, says: name, beside, icon: 'casts', run: () => opener.current(id) };
      }),
    [page.cast],
  );
  useOffered(rows);
}

function useSelected(turn: number | null, attempt: number | null) {
  return useMemo(() => (turn === null ? null : { turn, attempt }), [turn, attempt]);
}

function Ahead({ page }: { page: CastPage | null }): ReactNode {
  const now = useTick(true);
  return page === null ? null : `Live is ${duration(now - Date.parse(page.time))} ahead and goes on. `;
}

const CastPane = memo(function CastPane({
  page,
  inspector,
  socket,
  acts,
  changed,
  isPast,
  isOpen,
  onClose,
  onTurn,
}: {
  page: CastPage;
  inspector: ReactNode;
  socket: string | null;
  acts: readonly PageAct[];
  changed: ReactNode;
  isPast: boolean;
  isOpen: boolean;
  onClose: () => void;
  onTurn: (turn: number) => void;
}): ReactNode {
  const shown = page.graph.sockets.find(({ id }) => id === socket);
  return (
    <Pane name="cast" label="Turn" width={504} {...(isOpen ? { onClose } : {})}>
      {inspector ??
        (shown ? (
          <SocketPane page={page} socket={shown} onClose={onClose} />
        ) : (
          <StatePane {...{ page, acts, changed, isPast, onTurn }} />
        ))}
    </Pane>
  );
});
