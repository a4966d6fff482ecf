// Beside the graph while no turn is open: the state of the cast as a tree, and a socket that nothing reached yet.
import { type ReactNode, useMemo } from 'react';
import type { CastPage, PageAct, PageSocket } from '../../../src/app/views/cast-page.ts';
import type { Text } from '../api.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { ItemPill } from '../parts/items.tsx';
import { CloseButton, Facts } from '../parts/pane.tsx';
import { useText } from '../parts/source.tsx';
import { Foreign, ForeignLines, Name } from '../parts/text.tsx';
import { sentence } from '../parts/verdict.tsx';
import { count, duration, money, plural, shortPath, tokens, when } from '../words.ts';
import { useLook, useMay } from '../workspace.ts';
import { ActButton } from './acts.tsx';
import { nameOf, pillOf, ranFor, SIGN } from './shown.ts';

export function StatePane({
  page,
  acts,
  changed,
  isPast,
  onTurn,
}: {
  page: CastPage;
  acts: readonly PageAct[];
  changed: ReactNode;
  isPast: boolean;
  onTurn: (turn: number) => void;
}): ReactNode {
  const { usage, budget } = page;
  const live = page.graph.sockets.flatMap((socket) => socket.live.map((line) => ({ ...line, name: socket.name })));
  const waiting = new Set(page.waits.map(({ turn }) => turn));
  const isGoing = page.status === 'running' || page.status === 'waiting' || page.status === 'paused';
  const others = isGoing ? live.filter(({ turn }) => !waiting.has(turn)) : [];
  return (
    <div className="inspector">
      <div className="inspector-head">
        <div className="inspector-title">
          <h2>{isPast ? 'State at this entry' : 'State'}</h2>
          <span>{page.words}</span>
        </div>
      </div>
      <div className="inspector-body">
        {page.waits.map((wait) => (
          <section key={`${wait.kind} ${wait.turn} ${wait.item} ${wait.approval}`} className="wait-card">
            <p>
              <Glyph
                status={wait.kind === 'unknown' ? 'unknown' : wait.kind === 'parked' ? 'parked' : 'waits'}
                isQuiet
              />
              <b>
                <Foreign text={`${wait.socket ?? 'Item'} ${WAITS[wait.kind]}`} />
              </b>
              {wait.number === null ? null : <ItemPill n={wait.number} state="waits" title={wait.title ?? ''} />}
              <span>{wait.since === null ? '' : when(wait.since)}</span>
            </p>
            {wait.words === '' ? null : (
              <blockquote>
                “<Foreign text={wait.words} />”
              </blockquote>
            )}
            <div className="waits-acts">
              {acts
                .filter(() => wait.kind !== 'talk')
                .filter((act) =>
                  wait.turn === null ? act.item === wait.item && act.item !== null : act.turn === wait.turn,
                )
                .map((act, n) => (
                  <ActButton key={act.id} act={act} kind={n === 0 ? 'primary' : 'plain'} />
                ))}
              {wait.turn === null ? null : (
                <Button kind={wait.kind === 'talk' ? 'primary' : 'quiet'} onPress={() => onTurn(wait.turn ?? 0)}>
                  {wait.kind === 'talk' ? 'Talk' : `Open turn ${wait.turn}`}
                </Button>
              )}
            </div>
          </section>
        ))}
        {page.status === 'completed' ? <Result page={page} /> : null}
        <Facts
          rows={[
            ['Request', <Request key="request" text={page.requestText} />],
            ['Team', <Foreign key="team" text={page.loadout} />],
            [
              'Works in',
              page.root === null ? (
                'the folder itself'
              ) : (
                <span key="root">
                  its own worktree{' '}
                  <code className="quiet" title={page.root}>
                    <Foreign text={shortPath(page.root, 44)} />
                  </code>
                </span>
              ),
            ],
            [
              'Items',
              page.counts
                ? `${count(page.counts.done)} of ${count(page.counts.total)} done${page.counts.parked > 0 ? `, ${page.counts.parked} parked` : ''}`
                : 'none',
            ],
            ['Turns', `${count(page.turnCount)}, ${plural(page.refusedCount, 'refusal')}`],
            [
              'Ran for',
              `${ranFor(page.elapsedMs, duration)}${budget.maxMs === null ? '' : ` of ${duration(budget.maxMs)}`}`,
            ],
            [
              'Tokens',
              `${tokens(usage.input)} in, ${tokens(usage.output)} out${budget.maxTokens === null ? '' : `, of ${tokens(budget.maxTokens)}`}`,
            ],
            [
              'Cost',
              `${money(usage.cost)}${budget.maxCost === null ? '' : ` of ${money(budget.maxCost)}`}${usage.unpriced > 0 ? `; ${tokens(usage.unpriced)} tokens without a price` : ''}`,
            ],
          ]}
        />
        {others.length > 0 ? (
          <section className="state-part">
            <h3>Goes on now</h3>
            <ul>
              {others.map(({ turn, name, number, title, shown, words }) => (
                <li key={turn}>
                  <button type="button" className="state-row" onClick={() => onTurn(turn)}>
                    <Glyph status={SIGN[shown]} isQuiet />
                    <Name text={name} />
                    {number === null ? null : <ItemPill n={number} state={pillOf(shown)} title={title ?? ''} />}
                    <span>{words}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        {page.data.length > 0 ? (
          <section className="state-part">
            <h3>Data of the cast</h3>
            <dl className="state-data">
              {page.data.map(({ name, text }) => (
                <div key={name}>
                  <dt>
                    <code>{name}</code>
                  </dt>
                  <dd>
                    <Foreign text={text} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ) : null}
        {page.tasks.length > 0 ? <Tasks page={page} /> : null}
        {changed}
      </div>
      <div className="inspector-foot">
        <CopyCommand command={`baton show ${page.cast}`} />
        <span className="id" title="The id of the cast">
          {page.cast}
        </span>
      </div>
    </div>
  );
}

function Request({ text }: { text: Text }): ReactNode {
  const loaded = useText(text);
  return (
    <ForeignLines text={loaded.is === 'text' ? loaded.text : typeof text === 'string' ? text : `${text.preview}…`} />
  );
}

const WAITS = {
  approval: 'asks for permission',
  question: 'asks you',
  talk: 'talks with you',
  turn: 'is yours to do',
  unknown: 'has an unknown outcome',
  blocked: 'is blocked',
  spent: 'sent the work back as often as it may',
  parked: 'is parked',
} as const;

function Tasks({ page }: { page: CastPage }): ReactNode {
  return (
    <section className="state-part">
      <h3>Ledger, {plural(page.taskCount, 'task')}</h3>
      <ul>
        {page.tasks.map((task) => (
          <li key={task.task} className="state-row">
            <Glyph
              status={
                task.status === 'done'
                  ? 'done'
                  : task.status === 'in_progress'
                    ? 'running'
                    : task.status === 'blocked' || task.status === 'failed'
                      ? 'failed'
                      : 'open'
              }
              isQuiet
            />
            <Name text={task.title} />
            <span>{task.status.replace('_', ' ')}</span>
            <span className="id">{task.task}</span>
          </li>
        ))}
      </ul>
      {page.taskCount > page.tasks.length ? (
        <p className="pane-note">{count(page.taskCount - page.tasks.length)} more are on the ledger.</p>
      ) : null}
    </section>
  );
}

type Why = {
  readonly result?: { readonly last?: { readonly text: string; readonly materia: string } | null };
  readonly commands?: readonly { readonly does: string; readonly command: string }[];
};

const isMerge = (command: string): boolean => / merge \S+$/.test(command);

const MERGE: Omit<PageAct, 'input' | 'command'> = {
  id: 'merge',
  operation: 'cast.merge',
  verb: 'Merge',
  asks: [],
  confirm: 'Its branch is merged into the branch that is checked out, and its worktree is cleared away.',
  turn: null,
  item: null,
};

/** What it produced comes first at the end. */
export function Result({ page }: { page: CastPage }): ReactNode {
  const { details } = useLook<Why>(
    'cast.why',
    useMemo(() => ({ cast: page.cast }), [page.cast]),
    ['cast.'],
  );
  const last = details?.result?.last;
  const merge = useMay()('cast.merge');
  return (
    <section className="state-part result">
      <h3>Result</h3>
      {last ? (
        <blockquote>
          <Foreign text={last.text} />
        </blockquote>
      ) : (
        <p className="pane-note">It ended without words for people.</p>
      )}
      <ul>
        {(details?.commands ?? []).map(({ does, command }) => (
          <li key={command} className="state-row">
            <Name text={sentence(does)} />
            {isMerge(command) && merge ? (
              <ActButton act={{ ...MERGE, input: { cast: page.cast }, command }} kind="primary" />
            ) : (
              <CopyCommand command={command} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function SocketPane({
  page,
  socket,
  onClose,
}: {
  page: CastPage;
  socket: PageSocket;
  onClose: () => void;
}): ReactNode {
  const out = page.graph.edges.filter(({ from }) => from === socket.id);
  return (
    <div className="inspector">
      <div className="inspector-head">
        <div className="inspector-title">
          <h2>
            <Name text={socket.name} />
          </h2>
          <span>not started</span>
          <span className="inspector-steps">
            <CloseButton onClose={onClose} label="Close the socket" />
          </span>
        </div>
      </div>
      <div className="inspector-body">
        <p className="pane-note">Nothing reached it yet. Its first turn appears here.</p>
        <Facts
          rows={[
            ['Materia', <Foreign key="materia" text={socket.materia} />],
            [
              'Runs',
              socket.kind === 'agent'
                ? `${socket.runner ?? ''}${socket.model === null ? '' : `, ${socket.model}`}`
                : socket.kind,
            ],
            ['May', <Foreign key="does" text={socket.does} />],
            out.length > 0 && [
              'Then',
              <span key="then">
                {out.map(({ id, to, when, max }) => (
                  <span key={id} className="then">
                    {to === 'end' ? 'the end' : nameOf(page, to)}
                    {when === 'always' ? '' : `, ${when.replace('_', ' ')}`}
                    {max === null ? '' : `, at most ${max} for an item`}
                  </span>
                ))}
              </span>,
            ],
          ]}
        />
        {socket.asks.length > 0 ? (
          <section className="asked">
            <h3>The contract asks for</h3>
            <dl>
              {socket.asks.map(({ name, type, why }) => (
                <div key={name}>
                  <dt>
                    <code>{name}</code>
                  </dt>
                  <dd>{type}</dd>
                  <dd>{why}</dd>
                </div>
              ))}
            </dl>
          </section>
        ) : null}
      </div>
    </div>
  );
}
