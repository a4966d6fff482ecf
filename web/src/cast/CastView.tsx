// One cast: its graph with where it is now, its items, its log, a timeline to look back, and the turn that is open.
import { lazy, memo, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CastPage, PageAct } from '../../../src/app/views/cast-page.ts';
import type { LogList } from '../../../src/app/views/cast-timeline.ts';
import { look } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Banner } from '../parts/banner.tsx';
import { Button, CopyCommand, Segments } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { Header, Pane } from '../parts/pane.tsx';
import { useIsPhone } from '../parts/phone.ts';
import { LoadingRows, Problem } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { RefusalBlock, sentence, VerdictBlock } from '../parts/verdict.tsx';
import { castPath, go, turnPath, useRoute, withQuery } from '../router.ts';
import { type PaletteRow, useOffered } from '../shell/palette-rows.ts';
import { clock, clockSeconds, duration, inLine, money, tokens, when } from '../words.ts';
import { useIsOnline } from '../workspace.ts';
import { ActButton, MoreActs, sayTo, useActs } from './acts.tsx';
import { changesBetween } from './changes.ts';
import { type Followed, type Follower, turnsOf, useCast, usePast, useTurn } from './follow.ts';
import { Inspector, TABS, type Tab } from './inspector.tsx';
import { ItemsFace } from './items-face.tsx';
import { LogFace } from './log-face.tsx';
import { Phone } from './phone.tsx';
import { named, ranFor } from './shown.ts';
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

// The header.
function CastHeader({
  page,
  now,
  acts,
  isPast,
}: {
  page: CastPage;
  now: CastPage;
  acts: readonly PageAct[];
  isPast: boolean;
}): ReactNode {
  const isOnline = useIsOnline();
  const tick = useTick(!isPast && now.status === 'running' && isOnline);
  const elapsed =
    page.status === 'running' && !isPast ? page.elapsedMs + Math.max(0, tick - Date.parse(page.asOf)) : page.elapsedMs;
  const then = isPast ? ' then' : '';
  const { maxCost } = page.budget;
  const cost = `${money(page.usage.cost)}${page.usage.estimated ? ' estimated' : ''}${maxCost === null ? '' : ` of ${money(maxCost)}`}${then}`;
  const used = page.usage.input + page.usage.output;
  const bound = page.budget.maxTokens === null ? '' : ` of ${tokens(page.budget.maxTokens)}`;
  const below = [
    `started ${when(page.startedAt)} by ${inLine(page.startedBy.replace(/^user:/, ''))}`,
    `${ranFor(elapsed, duration)}${then}`,
    page.usage.cost === 0 && maxCost === null ? (used === 0 ? null : `${tokens(used)}${bound} tokens${then}`) : cost,
  ];
  // What a failed cast can do stands below its header, with the reason.
  const main = HEADER.flatMap((id) => acts.find((act) => act.id === id) ?? []).filter(
    ({ id }) => id !== 'continue' || now.status !== 'failed',
  );
  const more = acts.filter(({ id }) => id === 'budget' || id === 'abort' || id === 'revive');
  const title = firstLine(page.request);
  return (
    <Header
      title={
        <span title={inLine(page.request)}>
          <Foreign text={title} />
        </span>
      }
      below={
        <>
          <Foreign text={page.loadout} />, {below.filter(Boolean).join(', ')}
        </>
      }
    >
      {now.waits.length > 0 ? <WaitsButton page={now} isPast={isPast} /> : null}
      {main.map((act) => (
        <ActButton key={act.id} act={act} isBare kind={act.id === 'continue' ? 'primary' : 'plain'} />
      ))}
      {isPast ? null : <MoreActs acts={more} command={`baton watch ${page.cast}`} />}
    </Header>
  );
}

const HEADER: readonly string[] = ['say', 'continue', 'pause'];

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}

function openWait({ cast, waits: [first] }: CastPage): void {
  if (first?.turn != null) go(turnPath(cast, first.turn));
  else go(withQuery({ face: 'items' }));
}

function WaitsButton({ page, isPast }: { page: CastPage; isPast: boolean }): ReactNode {
  return (
    <Button kind="attention" keys="w" onPress={() => openWait(page)}>
      <span className="with-glyph">
        <Glyph status="waits" isQuiet />
        {page.waits.length} {page.waits.length === 1 ? 'waits' : 'wait'} for you{isPast ? ', live' : ''}
      </span>
    </Button>
  );
}

/** What a cast that does not run has to say, right under its header. */
function State({
  page,
  acts,
  cast,
  isPhone = false,
}: {
  page: CastPage;
  acts: readonly PageAct[];
  cast: string;
  isPhone?: boolean;
}): ReactNode {
  const undriven = useUndriven(page);
  const { status, code } = page;
  if (status === 'failed')
    return (
      <div className="cast-state cast-state-acts">
        <VerdictBlock
          kind="refused"
          title={<Foreign text={sentence(`Failed: ${named(page, page.reason)}`)} />}
          code={code}
        >
          What was accepted stays.
        </VerdictBlock>
        {isPhone ? null : <StateActs acts={acts.filter(({ id }) => canGoOn(id, code))} />}
      </div>
    );
  if (status === 'aborted')
    return (
      <div className="cast-state">
        <VerdictBlock kind="accepted" title={`Stopped at ${clock(page.changedAt)}.`}>
          {page.reason === '' ? (
            'It can be run on from where it was.'
          ) : (
            <Foreign text={`“${page.reason}”. It can be run on from where it was.`} />
          )}
        </VerdictBlock>
      </div>
    );
  if (status === 'paused')
    return (
      <div className="cast-state">
        <VerdictBlock kind="accepted" title={`Paused at ${clock(page.changedAt)}.`}>
          Its agents were stopped; what was accepted is kept.
        </VerdictBlock>
      </div>
    );
  if (undriven)
    return (
      <div className="cast-state">
        <VerdictBlock kind="waits" title={`This cast has no driver since ${clock(page.time)}.`}>
          Its process is gone. Nothing of it is lost. <CopyCommand command={`baton resume ${cast}`} />
        </VerdictBlock>
      </div>
    );
  if (page.graph.loops.some(({ isEmpty }) => isEmpty)) {
    const loop = page.graph.loops.find(({ isEmpty }) => isEmpty);
    return (
      <div className="cast-state">
        <VerdictBlock
          kind="accepted"
          title={<Foreign text={`${loop?.over ?? 'The generator'} returned no items, so the loop was skipped.`} />}
        />
      </div>
    );
  }
  return null;
}

/** More budget helps only where there was too little of it. */
function canGoOn(id: string, code: string | null): boolean {
  return id === 'continue' || id === 'revive' || (id === 'budget' && code === 'BUDGET_EXHAUSTED');
}

function StateActs({ acts }: { acts: readonly PageAct[] }): ReactNode {
  return (
    <div className="waits-acts">
      {acts.map((act, n) => (
        <ActButton key={act.id} act={act} kind={n === 0 ? 'primary' : 'plain'} />
      ))}
    </div>
  );
}

const QUIET_MS = 20_000;

/** Whether the cast should run and no process drives it: asked where nothing was heard of it for a while. */
function useUndriven({ cast, status, time }: CastPage): boolean {
  const [isUndriven, setUndriven] = useState(false);
  const isOnline = useIsOnline();
  const isRunning = status === 'running';
  useEffect(() => {
    setUndriven(false);
    if (!isRunning || !isOnline) return;
    let isCurrent = true;
    const ask = async (): Promise<void> => {
      const answer = await look<{ readonly driver: unknown; readonly status: string }>('cast.why', { cast });
      if (isCurrent && answer.allow) setUndriven(answer.details.status === 'running' && answer.details.driver === null);
    };
    // An old entry says at once that something is wrong; a new one is waited for.
    const first = setTimeout(() => void ask(), Date.now() - Date.parse(time) > QUIET_MS ? 1_000 : QUIET_MS);
    const again = setInterval(() => void ask(), QUIET_MS);
    return () => {
      isCurrent = false;
      clearTimeout(first);
      clearInterval(again);
    };
  }, [cast, isRunning, time, isOnline]);
  return isUndriven && isRunning;
}

function Changed({ before, page }: { before: CastPage | null; page: CastPage }): ReactNode {
  const rows = before === null ? [] : changesBetween(before, page);
  return (
    <section className="changed-here" aria-label="Changed at this entry">
      <h3 className="changed-title">
        <span>Changed at this entry</span> <span>entry {page.seq}</span>
      </h3>
      {rows.length === 0 ? (
        <p className="pane-note">{before === null ? 'This is the first entry.' : 'Nothing that is shown here.'}</p>
      ) : (
        <table>
          <thead className="unseen">
            <tr>
              <th>what</th>
              <th>before</th>
              <th>after</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([what, was, is]) => (
              <tr key={what}>
                <td title={inLine(what)}>
                  <Foreign text={what} />
                </td>
                <td title={inLine(was)}>
                  <Foreign text={was} />
                </td>
                <td title={inLine(is)}>
                  <Foreign text={is} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
