// What comes before what: tasks in layers, each after those it depends on. What keeps a task from starting is drawn in ink.
import { type ReactNode, useMemo } from 'react';
import { Empty } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { keyOf, statusName, type Task } from './tasks.ts';

const [WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE] = [208, 60, 64, 16, 20];
const SHOWN_MAX = 400;

type Placed = { readonly task: Task; readonly x: number; readonly y: number };

export function Dependencies({
  tasks,
  chosen,
  onChoose,
}: {
  tasks: readonly Task[];
  chosen: string | null;
  onChoose: (task: Task) => void;
}): ReactNode {
  const { placed, links, width, height } = useMemo(() => layered(tasks), [tasks]);
  if (placed.size === 0)
    return (
      <div className="page-missing">
        <Empty>No task here depends on another.</Empty>
      </div>
    );
  return (
    <div className="dependencies" tabIndex={0} role="group" aria-label="Dependencies">
      <div className="dependencies-field" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          {links.map(({ from, to, isBlocking }) => {
            const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
            const middle = x2 - GAP_X / 2;
            return (
              <path
                key={`${keyOf(from.task)} ${keyOf(to.task)}`}
                className={isBlocking ? 'link-blocking' : 'link-done'}
                d={`M${x1} ${y1}H${middle}V${y2}H${x2 - 5}m-4 -4 4 4-4 4`}
              />
            );
          })}
        </svg>
        {[...placed.values()].map(({ task, x, y }) => (
          <button
            key={keyOf(task)}
            type="button"
            className={`dependency${keyOf(task) === chosen ? ' task-chosen' : ''}`}
            style={{ left: x, top: y, width: WIDTH, height: HEIGHT }}
            onClick={() => onChoose(task)}
          >
            <span className="task-title">
              <Foreign text={task.title} />
            </span>
            <span className="quiet">
              {task.task_id}, {statusName(task.status).toLowerCase()}
              {task.dependencies.length > 0 ? (
                <span className="unseen">, after {task.dependencies.join(', ')}</span>
              ) : null}
            </span>
          </button>
        ))}
      </div>
    </div>
  );
}

function layered(tasks: readonly Task[]) {
  const byKey = new Map(tasks.map((task) => [keyOf(task), task]));
  const before = (task: Task) =>
    task.dependencies.flatMap((id) => byKey.get(keyOf({ run_id: task.run_id, task_id: id })) ?? []);
  const isPartOf = new Set(
    tasks.flatMap((task) => [...(before(task).length > 0 ? [task] : []), ...before(task)]).map(keyOf),
  );
  const depths = new Map<string, number>();
  const depthOf = (task: Task, above: readonly string[]): number => {
    const key = keyOf(task);
    const known = depths.get(key);
    if (known !== undefined) return known;
    // A circle cannot be created; where a log of another program has one, it is drawn all the same.
    if (above.includes(key)) return 0;
    const depth = Math.max(-1, ...before(task).map((each) => depthOf(each, [...above, key]))) + 1;
    depths.set(key, depth);
    return depth;
  };
  const rows: number[] = [];
  const placed = new Map<string, Placed>();
  for (const task of tasks.filter((each) => isPartOf.has(keyOf(each))).slice(0, SHOWN_MAX)) {
    const depth = depthOf(task, []);
    const row = rows[depth] ?? 0;
    rows[depth] = row + 1;
    placed.set(keyOf(task), { task, x: EDGE + depth * (WIDTH + GAP_X), y: EDGE + row * (HEIGHT + GAP_Y) });
  }
  const links = [...placed.values()].flatMap((to) =>
    before(to.task).flatMap((each) => {
      const from = placed.get(keyOf(each));
      return from ? [{ from, to, isBlocking: each.status !== 'done' }] : [];
    }),
  );
  const width = EDGE * 2 + rows.length * (WIDTH + GAP_X);
  const height = EDGE * 2 + Math.max(0, ...rows) * (HEIGHT + GAP_Y);
  return { placed, links, width, height };
}
