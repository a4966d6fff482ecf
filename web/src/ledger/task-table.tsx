// Every task in a table, for screen readers and for very many.
import type { ReactNode } from 'react';
import { Foreign, Name } from '../parts/text.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { keyOf, pathsOf, statusName, type Task } from './tasks.ts';

export function TaskTable({
  tasks,
  chosen,
  onChoose,
}: {
  tasks: readonly Task[];
  chosen: string | null;
  onChoose: (task: Task) => void;
}): ReactNode {
  return (
    <div className="task-table">
      <div className="task-row task-row-head" aria-hidden="true">
        <span>State</span>
        <span>Title</span>
        <span>Cast</span>
        <span>Owner</span>
        <span>Paths</span>
        <span className="right">Task</span>
      </div>
      <VirtualList
        rows={tasks}
        height={32}
        label="Tasks"
        name="tasks"
        keyOf={keyOf}
        selected={tasks.findIndex((task) => keyOf(task) === chosen)}
      >
        {(task) => (
          <button
            type="button"
            className={`task-row${keyOf(task) === chosen ? ' selected' : ''}`}
            onClick={() => onChoose(task)}
          >
            <span className={TONES[task.status]}>{statusName(task.status)}</span>
            <Name text={task.title} />
            <Name text={task.cast ? task.cast.request : 'by hand'} className="quiet" />
            <Name text={task.owner} className="second" />
            <code className="name">
              <Foreign text={pathsOf(task.lock_scope)} />
            </code>
            <Name text={task.task_id} className="quiet right" />
          </button>
        )}
      </VirtualList>
    </div>
  );
}

const TONES: Readonly<Record<Task['status'], string>> = {
  todo: 'second',
  in_progress: 'live',
  blocked: 'bad',
  done: 'quiet',
  failed: 'bad',
  canceled: 'quiet',
};
