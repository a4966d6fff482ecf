// The frame of the page: where one can go, the view, and the one line of truth below.
import { Component, lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { commandAt, copy } from '../command.ts';
import { useKeys } from '../keys.ts';
import { Banner } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { Header } from '../parts/pane.tsx';
import { Empty, LoadingRows } from '../parts/states.tsx';
import { go, inboxPath, type Route, useRoute } from '../router.ts';
import { nextTheme } from '../theme.ts';
import { clockSeconds, count, inLine, plural } from '../words.ts';
import { tryNow, useMay, useWorkspace } from '../workspace.ts';
import { Keys } from './keys-help.tsx';
import { BottomBar, PLACES, Sidebar } from './places.tsx';
import './shell.css';
import { Notice, notice } from './notice.tsx';
import { useNotifications } from './notify.ts';
import { useOverview } from './overview.ts';
import Palette from './palette.tsx';
import { StatusBar } from './status-bar.tsx';
import { AskToken } from './token.tsx';

const VIEWS = {
  home: () => import('../home/home.tsx'),
  casts: () => import('../casts/casts.tsx'),
  inbox: () => import('../inbox/inbox.tsx'),
  ledger: () => import('../ledger/ledger.tsx'),
  queue: () => import('../queue/queue.tsx'),
  history: () => import('../history/history.tsx'),
  cast: () => import('../cast/CastView.tsx'),
  graph: () => import('../cast/graph.tsx'),
};
const Home = lazy(VIEWS.home);
const Casts = lazy(VIEWS.casts);
const Inbox = lazy(VIEWS.inbox);
const Ledger = lazy(VIEWS.ledger);
const Queue = lazy(VIEWS.queue);
const History = lazy(VIEWS.history);
/** The editor is large and needs the server, so it is fetched when it is opened. */
const Loadouts = lazy(() => import('../editor/loadouts.tsx'));
const CastView = lazy(VIEWS.cast);

/** After the first view, so that it shares its line with nothing. */
const FETCH_VIEWS_AFTER_MS = 2_000;

/** The other views are fetched when nothing else is to be done: they are wanted most when the server is gone. */
function fetchViews(): () => void {
  const fetchAll = () => void Promise.allSettled(Object.values(VIEWS).map((view) => view()));
  const timer = setTimeout(() => {
    if ('requestIdleCallback' in window) requestIdleCallback(fetchAll, { timeout: 5_000 });
    else fetchAll();
  }, FETCH_VIEWS_AFTER_MS);
  return () => clearTimeout(timer);
}

export function Shell(): ReactNode {
  const connection = useWorkspace('connection');
  const hello = useWorkspace('hello');
  if (connection.is === 'no-token') return <AskToken refusal={connection.refusal} />;
  if (!hello) return <Opening />;
  return <Frame />;
}

function Opening(): ReactNode {
  const connection = useWorkspace('connection');
  return (
    <main className="opening">
      {connection.is === 'lost' ? (
        <Empty>The server does not answer. Start it with “baton ui”; this page comes back by itself.</Empty>
      ) : (
        <LoadingRows what="The workspace" />
      )}
    </main>
  );
}

function Frame(): ReactNode {
  const route = useRoute();
  const overview = useOverview();
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null);
  useEffect(fetchViews, []);
  useNotifications(overview.waits, overview.isRead);
  const next = overview.waits[0];
  const mayStart = useMay()('cast.start');
  useKeys('Everywhere', [
    { keys: 'mod+k', says: 'Go to, do, find', run: () => setOpen('palette'), inFields: true },
    { keys: '?', says: 'Keys of this view', run: () => setOpen('keys') },
    ...(mayStart ? [{ keys: 'c', says: 'Start a cast', run: () => go('/?new=1') }] : []),
    { keys: 'w', says: 'Next that waits for me', run: () => go(next ? inboxPath(next.id) : '/inbox') },
    { keys: 'y', says: 'Copy the command of what has the focus', run: () => void copyFocused() },
    { keys: 'shift+d', says: 'Light, dark, system', run: nextTheme },
    ...PLACES.map(({ path, name, key }) => ({ keys: `g ${key}`, says: `Go to ${name}`, run: () => go(path) })),
  ]);
  const place = route.path.slice(0, 2).join('/');
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.getElementById('view')?.focus()}>
        To the content
      </button>
      <Sidebar route={route} overview={overview} onPalette={() => setOpen('palette')} />
      <main id="view" className="view" tabIndex={-1}>
        <Banners />
        <Guard key={place}>
          <Suspense fallback={<LoadingRows what="The view" />}>
            <View route={route} />
          </Suspense>
        </Guard>
      </main>
      <StatusBar overview={overview} onKeys={() => setOpen('keys')} />
      <BottomBar route={route} overview={overview} onPalette={() => setOpen('palette')} />
      {open === 'palette' ? (
        <Palette overview={overview} onClose={() => setOpen(null)} onKeys={() => setOpen('keys')} />
      ) : null}
      <Notice />
      {open === 'keys' ? <Keys onClose={() => setOpen(null)} /> : null}
    </div>
  );
}

/** The command of the act that has the focus, else of the first act around it. */
async function copyFocused(): Promise<void> {
  const command = commandAt(document.activeElement ?? document.body);
  if (command === null) return notice('Nothing here has a command.');
  notice((await copy(command)) ? `Copied: ${inLine(command)}` : 'This browser does not allow the page to copy.');
}

function View({ route: { path } }: { route: Route }): ReactNode {
  const [place, id, sub, subId] = path;
  if (place === undefined) return <Home />;
  if (place === 'casts' && id === undefined) return <Casts />;
  if (place === 'inbox') return <Inbox id={id} />;
  if (place === 'ledger' && id === undefined) return <Ledger />;
  if (place === 'queue' && id === undefined) return <Queue />;
  if (place === 'history') return <History tab={id} />;
  if (place === 'loadouts' && sub === undefined) return <Loadouts name={id} />;
  if (place === 'cast' && id !== undefined && (sub === undefined || sub === 'turn'))
    return <CastView key={id} cast={id} turn={sub === 'turn' ? subId : undefined} />;
  return (
    <>
      <Header title="Nothing here" />
      <div className="page-missing">
        <Empty act={<Button onPress={() => go('/')}>Go to Home</Button>}>This address leads nowhere.</Empty>
      </div>
    </>
  );
}

/** One banner at a time; the line to the server comes first. */
function Banners(): ReactNode {
  const connection = useWorkspace('connection');
  const seq = useWorkspace('seq');
  const caughtUp = useWorkspace('caughtUp');
  const hello = useWorkspace('hello');
  const { hold } = useOverview();
  const now = useNow(connection.is === 'lost');
  if (connection.is === 'lost') {
    const left = Math.max(0, Math.ceil((connection.nextTryAt - now) / 1000));
    return (
      <Banner
        kind="lost"
        title={`Disconnected since ${clockSeconds(connection.since)}.`}
        act={<Button onPress={tryNow}>Try now</Button>}
      >
        You see entry {count(seq)}. Next try in {left} s.
      </Banner>
    );
  }
  if (caughtUp !== null)
    return (
      <Banner kind="plain" title="Caught up,">
        {plural(caughtUp, 'entry', 'entries')}
      </Banner>
    );
  if (hold)
    return (
      <Banner kind="plain" title="The workspace is paused.">
        Nothing new is handed out: “{hold.reason}”, by {hold.by}.
      </Banner>
    );
  if (hello?.me.role === 'viewer') return <span className="unseen">You may look and not steer.</span>;
  return null;
}

/** The time, once a second while it is needed. */
export function useNow(isNeeded: boolean, everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isNeeded) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isNeeded, everyMs]);
  return now;
}

/** A fault in one view leaves the others usable. */
class Guard extends Component<{ children: ReactNode }, { fault: Error | null }> {
  override state = { fault: null as Error | null };
  static getDerivedStateFromError(fault: Error): { fault: Error } {
    return { fault };
  }
  override render(): ReactNode {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return (
      <div className="page-missing">
        <Empty act={<Button onPress={() => this.setState({ fault: null })}>Try again</Button>}>
          This view stopped with a fault: {fault.message}. The other views work.
        </Empty>
      </div>
    );
  }
}
