// Locks as a tree of paths, one root for each worktree: locks of different worktrees never meet.
import type { ReactNode } from 'react';
import { Icon } from '../parts/glyphs.tsx';
import { SectionTitle } from '../parts/pane.tsx';
import { LoadingRows } from '../parts/states.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { useNow } from '../shell/shell.tsx';
import { duration, exactly, plural } from '../words.ts';
import { keyOf, type LockRow, pathsOf, silenceOf, type Task } from './tasks.ts';

export function Locks({
  locks,
  tasks,
  chosen,
  onHover,
  onChoose,
}: {
  locks: readonly LockRow[] | undefined;
  tasks: readonly Task[];
  chosen: Task | null;
  onHover: (task: string | null) => void;
  onChoose: (task: Task) => void;
}): ReactNode {
  const now = useNow(true, 5_000);
  const byKey = new Map(tasks.map((task) => [keyOf(task), task]));
  const roots = [...Map.groupBy(locks ?? [], ({ root }) => root)];
  const holders = new Set(locks?.map(({ run, task }) => `${run}/${task}`)).size;
  return (
    <section className="locks" aria-labelledby="locks">
      <SectionTitle id="locks" n={locks ? `${plural(locks.length, 'path')}, ${plural(holders, 'task')}` : undefined}>
        Locks
      </SectionTitle>
      {!locks ? <LoadingRows what="The locks" rows={3} /> : null}
      {locks?.length === 0 ? <p className="quiet locks-none">No path is locked.</p> : null}
      {roots.map(([root, of]) => {
        const cast = byKey.get(`${of[0]?.run}/${of[0]?.task}`)?.cast;
        const isMain = root === '' || root === '.';
        return (
          <div key={root}>
            <div className="lock-root">
              <Icon name="casts" size={14} />
              <Name text={isMain ? 'The workspace itself' : (cast?.request ?? root)} />
              <span className="quiet">{isMain ? 'shared' : 'own worktree'}</span>
            </div>
            <ul className="lock-tree">
              {of
                .toSorted((a, b) => a.path.localeCompare(b.path))
                .map((lock) => {
                  const key = `${lock.run}/${lock.task}`;
                  const task = byKey.get(key);
                  const silence = task ? silenceOf(task, now) : null;
                  const isOld = silence !== null && silence.ms >= 0.7 * silence.limitMs;
                  return (
                    <li key={`${key} ${lock.path} ${lock.mode}`}>
                      <button
                        type="button"
                        className="lock"
                        data-depth={depthOf(lock.path, of)}
                        aria-pressed={chosen !== null && keyOf(chosen) === key}
                        title={lock.since ? `since ${exactly(lock.since)}` : undefined}
                        onMouseEnter={() => onHover(key)}
                        onMouseLeave={() => onHover(null)}
                        onFocus={() => onHover(key)}
                        onBlur={() => onHover(null)}
                        onClick={() => task && onChoose(task)}
                      >
                        <Icon name={/\.[a-z0-9]+$/i.test(lock.path) ? 'file' : 'folder'} size={14} />
                        <code>
                          <Foreign text={pathsOf([lock.path])} />
                        </code>
                        <span className="lock-holder">
                          <Foreign text={`${lock.owner}, ${lock.task}`} />
                          {lock.mode === 'read' ? ', reads' : ''}
                          {isOld ? <span className="wait">, silent {duration(silence.ms)}</span> : null}
                        </span>
                      </button>
                    </li>
                  );
                })}
            </ul>
          </div>
        );
      })}
    </section>
  );
}

/** How many locks of the same root lie above a path. */
function depthOf(path: string, all: readonly LockRow[]): number {
  const above = all.filter((each) => each.path !== path && (each.path === '.' || path.startsWith(`${each.path}/`)));
  return Math.min(4, new Set(above.map((each) => each.path)).size);
}
