// The ledger: who owns which task and which paths. A board by state, the dependencies, or a table; locks at the right.
import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from 'react';
import type { TaskStatus } from '../../../src/kernel/ledger/state.ts';
import { useKeys } from '../keys.ts';
import { Button, Segments } from '../parts/button.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Header, Pane } from '../parts/pane.tsx';
import { Empty, LoadingRows, Problem } from '../parts/states.tsx';
import { go, useRoute, withQuery } from '../router.ts';
import { OperationForm } from '../shell/operation-form.tsx';
import { CAST_CHANGES, type CastRow, useOverview } from '../shell/overview.ts';
import { inLine } from '../words.ts';
import { useLook, useMay, useOperation } from '../workspace.ts';
import { Board } from './board.tsx';
import { Dependencies } from './dependencies.tsx';
import '../parts/lists.css';
import './ledger.css';
import { Locks } from './locks.tsx';
import { MoveDialog } from './move.tsx';
import { TaskPane } from './task-pane.tsx';
import { TaskTable } from './task-table.tsx';
import { keyOf, type LockRow, type Task, type TaskRow, withCasts } from './tasks.ts';

const VIEWS = [
  ['board', 'Board'],
  ['dependencies', 'Dependencies'],
  ['table', 'Table'],
] as const;
type View = (typeof VIEWS)[number][0];
/** A board of more tasks is hard to read, and the table is what opens first. */
const BOARD_MAX = 2_000;

export default function Ledger(): ReactNode {
  const { query } = useRoute();
  const may = useMay();
  const [cast, text, chosen] = [query.get('cast') ?? '', query.get('text') ?? '', query.get('task')];
  const wanted = useDeferredValue(text.toLowerCase());
  const tasks = useLook<{ readonly tasks: readonly TaskRow[] }>('task.list', {}, [
    'task.',
    'items.',
    'ledger.',
    'run.',
    'turn.',
    'worklog.',
  ]);
  const locks = useLook<{ readonly locks: readonly LockRow[] }>('lock.list', {}, [
    'task.',
    'items.',
    'ledger.',
    'turn.',
  ]);
  const casts = useLook<{ readonly casts: readonly CastRow[] }>('cast.list', { limit: 200 }, CAST_CHANGES);
  const { waits, canWait } = useOverview();
  const all = useMemo(
    () => withCasts(tasks.details?.tasks ?? [], casts.details?.casts ?? [], [...waits, ...canWait]),
    [tasks.details, casts.details, waits, canWait],
  );
  const shown = useMemo(() => all.filter((task) => fits(task, cast, wanted)), [all, cast, wanted]);
  const asked = query.get('view');
  const view: View = VIEWS.find(([name]) => name === asked)?.[0] ?? (all.length > BOARD_MAX ? 'table' : 'board');
  const open = all.find((task) => keyOf(task) === chosen) ?? null;
  const [moving, setMoving] = useState<{ readonly task: Task; readonly to: TaskStatus | null } | null>(null);
  const [lit, setLit] = useState<string | null>(null);
  const [isNew, setNew] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const create = useOperation('task.create');
  const choose = (task: Task | null): void =>
    go(withQuery({ task: task ? keyOf(task) : undefined }), { replace: true });
  const step = (by: number): void => {
    const at = shown.findIndex((task) => keyOf(task) === chosen);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next) {
      choose(next);
      document.querySelector(`[data-task="${CSS.escape(keyOf(next))}"]`)?.scrollIntoView({ block: 'nearest' });
    }
  };
  const nextView = VIEWS[(VIEWS.findIndex(([name]) => name === view) + 1) % VIEWS.length]?.[0];
  useKeys('Ledger', [
    { keys: '/', says: 'Filter', run: () => field.current?.focus() },
    { keys: 'v', says: 'Next view', run: () => go(withQuery({ view: nextView })) },
    { keys: 'j', says: 'Next task', run: () => step(1) },
    { keys: 'ArrowDown', says: 'Next task', run: () => step(1) },
    { keys: 'k', says: 'The task before', run: () => step(-1) },
    { keys: 'ArrowUp', says: 'The task before', run: () => step(-1) },
    ...(may('task.move')
      ? [{ keys: 'm', says: 'Move the task', run: () => open && setMoving({ task: open, to: null }) }]
      : []),
    ...(may('task.create') ? [{ keys: 'n', says: 'New task', run: () => setNew(true) }] : []),
    ...(open ? [{ keys: 'Escape', says: 'Close the task', run: () => choose(null) }] : []),
  ]);
  const openCasts = casts.details?.casts.filter(({ cast: id }) => all.some((task) => task.run_id === id)) ?? [];
  return (
    <>
      <Header
        title="Ledger"
        beside={
          <select
            className="of-cast"
            aria-label="Tasks of"
            value={cast}
            onChange={(event) => go(withQuery({ cast: event.target.value }))}
          >
            <option value="">All casts and by hand</option>
            <option value="by-hand">By hand</option>
            {openCasts.map((row) => (
              <option key={row.cast} value={row.cast}>
                {inLine(row.request).slice(0, 60)}
              </option>
            ))}
          </select>
        }
      >
        <Segments label="View" of={VIEWS} chosen={view} onChoose={(each) => go(withQuery({ view: each }))} />
        <div className="filter-text ledger-filter">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            aria-label="Filter"
            placeholder="Filter"
            value={text}
            onChange={(event) => go(withQuery({ text: event.target.value }), { replace: true })}
          />
        </div>
        {may('task.create') ? (
          <Button keys="n" onPress={() => setNew(true)} className="new-task">
            New task
          </Button>
        ) : null}
      </Header>
      <div className="view-body ledger">
        <div className="ledger-main">
          {tasks.refusal ? <Problem refusal={tasks.refusal} onRetry={tasks.refresh} /> : null}
          {!tasks.details ? (
            tasks.refusal ? null : (
              <div className="page-missing">
                <LoadingRows what="The tasks" />
              </div>
            )
          ) : all.length === 0 ? (
            <div className="page-missing">
              <Empty
                act={
                  may('task.create') ? (
                    <Button keys="n" onPress={() => setNew(true)}>
                      New task
                    </Button>
                  ) : null
                }
              >
                No tasks yet. Casts add them{may('task.create') ? ', or press N' : ''}.
              </Empty>
            </div>
          ) : view === 'board' ? (
            <Board
              {...{ tasks: shown, chosen, lit, onChoose: choose }}
              {...(may('task.move') ? { onMove: (task: Task, to: TaskStatus) => setMoving({ task, to }) } : {})}
            />
          ) : view === 'dependencies' ? (
            <Dependencies tasks={shown} chosen={chosen} onChoose={choose} />
          ) : (
            <TaskTable tasks={shown} chosen={chosen} onChoose={choose} />
          )}
        </div>
        <Pane name="ledger" label="Locks and task" width={336} {...(open ? { onClose: () => choose(null) } : {})}>
          <Locks locks={locks.details?.locks} tasks={all} onHover={setLit} onChoose={choose} chosen={open} />
          {open ? (
            <TaskPane
              key={keyOf(open)}
              task={open}
              onClose={() => choose(null)}
              {...(may('task.move') ? { onMove: () => setMoving({ task: open, to: null }) } : {})}
            />
          ) : null}
        </Pane>
      </div>
      {moving ? <MoveDialog {...moving} onClose={() => setMoving(null)} /> : null}
      {isNew && create ? <OperationForm operation={create} onClose={() => setNew(false)} /> : null}
    </>
  );
}

function fits(task: Task, cast: string, text: string): boolean {
  if (cast === 'by-hand' ? task.cast !== null : cast !== '' && task.run_id !== cast) return false;
  if (text === '') return true;
  return [task.title, task.task_id, task.owner, task.cast?.request ?? '', ...task.lock_scope].some((each) =>
    each.toLowerCase().includes(text),
  );
}
