// Tasks by state. A card can be dragged where a move is allowed; the other columns say why it is not.
import { type DragEvent, type ReactNode, useMemo, useState } from 'react';
import type { TaskStatus } from '../../../src/kernel/ledger/state.ts';
import { Icon } from '../parts/glyphs.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { useNow } from '../shell/shell.tsx';
import { count, duration, inLine } from '../words.ts';
import { COLUMNS, keyOf, moveOf, noteOf, pathsOf, silenceOf, type Task } from './tasks.ts';

const FIRST = 60;
const DONE_FIRST = 20;
const FOLDED: ReadonlySet<TaskStatus> = new Set(['failed', 'canceled']);

export function Board({
  tasks,
  chosen,
  lit,
  onChoose,
  onMove,
}: {
  tasks: readonly Task[];
  chosen: string | null;
  lit: string | null;
  onChoose: (task: Task) => void;
  onMove?: (task: Task, to: TaskStatus) => void;
}): ReactNode {
  const now = useNow(true, 5_000);
  const [dragged, setDragged] = useState<Task | null>(null);
  const [unfolded, setUnfolded] = useState<ReadonlySet<TaskStatus>>(new Set());
  const byStatus = useMemo(() => Map.groupBy(tasks, ({ status }) => status), [tasks]);
  return (
    <div className="board">
      {COLUMNS.map(([status, name]) => {
        const of = byStatus.get(status) ?? [];
        const isFolded = FOLDED.has(status) && !unfolded.has(status);
        const target = dragged ? moveOf(dragged, status) : null;
        return (
          <Column
            key={status}
            {...{ name, isFolded, target }}
            n={of.length}
            isDragging={dragged !== null}
            isOwn={dragged?.status === status}
            onDrop={() => {
              if (dragged && target?.may) onMove?.(dragged, status);
              setDragged(null);
            }}
            onFold={
              FOLDED.has(status)
                ? () =>
                    setUnfolded(
                      isFolded ? new Set([...unfolded, status]) : new Set([...unfolded].filter((e) => e !== status)),
                    )
                : undefined
            }
          >
            {isFolded ? null : (
              <Cards
                tasks={status === 'done' ? of.toReversed() : of}
                first={status === 'done' ? DONE_FIRST : FIRST}
                {...{ chosen, lit, now, onChoose }}
                onDrag={onMove ? setDragged : undefined}
              />
            )}
          </Column>
        );
      })}
    </div>
  );
}

function Column({
  name,
  n,
  isFolded,
  isDragging,
  isOwn,
  target,
  onDrop,
  onFold,
  children,
}: {
  name: string;
  n: number;
  isFolded: boolean;
  isDragging: boolean;
  isOwn: boolean;
  target: { readonly may: boolean; readonly why: string } | null;
  onDrop: () => void;
  onFold: (() => void) | undefined;
  children: ReactNode;
}): ReactNode {
  const over = (event: DragEvent): void => {
    if (target?.may) event.preventDefault();
  };
  const state = !isDragging || isOwn ? '' : target?.may ? ' column-may' : ' column-not';
  return (
    <section
      className={`column${isFolded ? ' column-folded' : ''}${state}`}
      aria-label={name}
      onDragOver={over}
      onDrop={onDrop}
    >
      {onFold ? (
        <button type="button" className="column-head" aria-expanded={!isFolded} onClick={onFold}>
          <span>{isFolded ? count(n) : name}</span>
          <span className="quiet">{isFolded ? name : count(n)}</span>
        </button>
      ) : (
        <h2 className="column-head">
          <span>{name}</span>
          <span className="quiet">{count(n)}</span>
        </h2>
      )}
      {state === ' column-not' && target?.why && !isFolded ? <p className="column-why">{target.why}</p> : null}
      {children}
    </section>
  );
}

function Cards({
  tasks,
  first,
  chosen,
  lit,
  now,
  onChoose,
  onDrag,
}: {
  tasks: readonly Task[];
  first: number;
  chosen: string | null;
  lit: string | null;
  now: number;
  onChoose: (task: Task) => void;
  onDrag: ((task: Task | null) => void) | undefined;
}): ReactNode {
  const [max, setMax] = useState(first);
  const more = tasks.length - max;
  return (
    <div className="cards">
      {tasks.slice(0, max).map((task) => (
        <TaskCard
          key={keyOf(task)}
          {...{ task, now, onDrag }}
          isChosen={keyOf(task) === chosen}
          isLit={lit !== null && lit === keyOf(task)}
          onChoose={() => onChoose(task)}
        />
      ))}
      {more > 0 ? (
        <button type="button" className="link cards-more" onClick={() => setMax(max + 200)}>
          {count(more)} more
        </button>
      ) : null}
    </div>
  );
}

const WAITS: Readonly<Record<string, string>> = {
  approval: 'Waits for your permission',
  question: 'Waits for your answer',
  unknown: 'Outcome unknown: did it run?',
  blocked: 'Cannot go on',
  parked: 'Parked: retry or drop it',
};

function TaskCard({
  task,
  now,
  isChosen,
  isLit,
  onChoose,
  onDrag,
}: {
  task: Task;
  now: number;
  isChosen: boolean;
  isLit: boolean;
  onChoose: () => void;
  onDrag: ((task: Task | null) => void) | undefined;
}): ReactNode {
  const note = noteOf(task);
  const silence = silenceOf(task, now);
  const share = silence ? silence.ms / silence.limitMs : 0;
  const isOld = share >= 0.7;
  const paths = task.status === 'in_progress' ? task.lock_scope : [];
  const after = task.status === 'todo' && task.dependencies.length > 0 ? `after ${task.dependencies.join(', ')}` : '';
  return (
    <button
      type="button"
      data-task={keyOf(task)}
      className={`task${isChosen ? ' task-chosen' : ''}${isLit ? ' task-lit' : ''}${task.waits ? ' task-waits' : ''}`}
      aria-pressed={isChosen}
      draggable={onDrag !== undefined}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData('text/plain', inLine(task.title));
        onDrag?.(task);
      }}
      onDragEnd={() => onDrag?.(null)}
      onClick={onChoose}
    >
      <span className="task-title" title={inLine(task.title)}>
        <Foreign text={task.title} />
      </span>
      <Name text={task.cast ? task.cast.request : 'Added by hand'} className="task-cast" />
      {task.waits ? <span className="wait task-note">{WAITS[task.waits.kind] ?? 'Waits for you'}</span> : null}
      {note && !task.waits ? (
        <span className={`task-note ${task.status === 'done' ? 'second' : 'bad'}`} title={inLine(note)}>
          <Foreign text={note} />
        </span>
      ) : null}
      <span className="task-foot">
        <Name text={after || (task.owner === 'unassigned' ? 'unassigned' : task.owner)} />
        <span className="quiet">{task.task_id}</span>
      </span>
      {paths.length > 0 ? (
        <span className="task-paths">
          <Icon name="lock" size={14} />
          <Name text={pathsOf(paths)} />
        </span>
      ) : null}
      {silence ? (
        <span className={isOld ? 'wait task-heard' : 'task-heard'}>
          <span className="heard-bar">
            <span style={{ width: `${Math.min(100, 100 * share)}%` }} />
          </span>
          {isOld
            ? `silent for ${duration(silence.ms)}, limit ${duration(silence.limitMs)}`
            : `heard ${duration(silence.ms)} ago, limit ${duration(silence.limitMs)}`}
        </span>
      ) : null}
    </button>
  );
}
