// One task: who holds what, when it is done, and its worklog.
import type { ReactNode } from 'react';
import { commandOf } from '../command.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { CloseButton } from '../parts/pane.tsx';
import { Answered } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { castPath, go, inboxPath } from '../router.ts';
import { clock, clockSeconds, plural } from '../words.ts';
import { useLook, useOperation } from '../workspace.ts';
import { noteOf, statusName, type Task } from './tasks.ts';

type Worklog = {
  readonly entries: readonly {
    readonly timestamp?: string;
    readonly actor?: string;
    readonly action?: string;
    readonly result?: string;
    readonly decision?: string;
  }[];
};

export function TaskPane({
  task,
  onClose,
  onMove,
}: {
  task: Task;
  onClose: () => void;
  onMove?: () => void;
}): ReactNode {
  const worklog = useLook<Worklog>('worklog.show', { task: task.task_id, run: task.run_id }, ['worklog.', 'task.']);
  const move = useOperation('task.move');
  const isHeld = task.fence !== null;
  const note = noteOf(task);
  return (
    <section className="task-pane" aria-label={`Task ${task.task_id}`}>
      <div className="task-pane-head">
        <h2>
          <Foreign text={task.title} />
        </h2>
        <span className="quiet">{task.task_id}</span>
        <CloseButton onClose={onClose} label="Close the task" />
      </div>
      <p className="quiet">
        {isHeld ? (
          <>
            <Foreign text={task.owner} /> holds {plural(task.lock_scope.length, 'path')} with fence {task.fence}
            {task.last_heartbeat_at ? `, heard ${clockSeconds(task.last_heartbeat_at)}` : ''}
          </>
        ) : (
          statusName(task.status)
        )}
      </p>
      {note ? (
        <p className={task.status === 'done' ? 'second' : 'bad'}>
          <Foreign text={note} />
        </p>
      ) : null}
      <h3>Done when</h3>
      {task.acceptance_criteria.length === 0 ? (
        <p className="second">{task.cast ? 'The review of its cast accepts it.' : 'No criteria are named.'}</p>
      ) : (
        <ul className="criteria">
          {task.acceptance_criteria.map((criterion) => (
            <li key={criterion}>
              <Glyph status={task.status === 'done' ? 'done' : 'open'} isQuiet />
              <span>
                <Foreign text={criterion} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <h3>Worklog</h3>
      <Answered answer={worklog} what="The worklog" rows={2}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p className="second">No entry yet.</p>
          ) : (
            <ol className="worklog">
              {entries.map((entry) => (
                <li key={`${entry.timestamp} ${entry.action} ${entry.result}`}>
                  <time className="quiet">{entry.timestamp ? clock(entry.timestamp) : ''}</time>
                  <span>
                    <b>
                      <Foreign text={entry.actor ?? ''} />
                    </b>{' '}
                    <Foreign text={[entry.action, entry.result].filter(Boolean).join(': ')} />
                  </span>
                </li>
              ))}
            </ol>
          )
        }
      </Answered>
      <div className="task-acts">
        {onMove ? (
          <Button keys="m" onPress={onMove}>
            Move
          </Button>
        ) : null}
        {task.waits ? (
          <Button kind="attention" onPress={() => task.waits && go(inboxPath(task.waits.id))}>
            Open the request
          </Button>
        ) : null}
        {task.cast ? <Button onPress={() => task.cast && go(castPath(task.cast.cast))}>Open the cast</Button> : null}
        {onMove ? (
          <CopyCommand
            command={commandOf(move, { task: task.task_id, status: 'canceled', reason: 'why', run: task.run_id })}
          />
        ) : null}
      </div>
    </section>
  );
}
