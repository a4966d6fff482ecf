// The queue of work: what is at work, what comes next and what it waits for, what failed, and schedules. A person orders it here.
import { type ReactNode, useState } from 'react';
import { call, type Refusal } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Glyph, type Status } from '../parts/glyphs.tsx';
import { Header } from '../parts/pane.tsx';
import { Empty, LoadingRows, Problem } from '../parts/states.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { castPath, go, linkTo } from '../router.ts';
import { exactly, inLine, plural, when } from '../words.ts';
import { refreshAll, useLook, useMay } from '../workspace.ts';
import './queue.css';

type Quest = {
  readonly id: string;
  readonly title: string;
  readonly loadout: string | null;
  readonly priority: string;
  readonly status: string;
  readonly place: number | null;
  readonly waitsFor: string;
  readonly cast: string | null;
  readonly code: string | null;
  readonly reason: string;
  readonly since: string;
};
type Schedule = {
  readonly id: string;
  readonly title: string;
  readonly cron: string;
  readonly zone: string;
  readonly dueAt: string;
};
type Queue = { readonly quests: readonly Quest[]; readonly schedules: readonly Schedule[] };

const SIGNS: Readonly<Record<string, Status>> = {
  pending: 'open',
  running: 'running',
  waiting: 'waits',
  paused: 'paused',
  crashed: 'unknown',
  failed: 'failed',
  succeeded: 'done',
};

/** An act on one quest. */
type Act = { readonly operation: string; readonly input: Readonly<Record<string, unknown>> };

export default function QueueView(): ReactNode {
  const { details, refusal, refresh } = useLook<Queue>('quest.list', { limit: 1_000 }, ['quest.', 'cast.']);
  const may = useMay();
  const [at, setAt] = useState<string | null>(null);
  const [refused, setRefused] = useState<{ readonly quest: string; readonly refusal: Refusal } | null>(null);
  const quests = details?.quests ?? [];
  const pending = quests.filter(({ place }) => place !== null);
  const order = may('quest.reorder');
  const nameOf = (words: string): string =>
    words.replace(/\bQ-\d+\b/g, (id) => `“${quests.find((each) => each.id === id)?.title ?? id}”`);
  const act = async (quest: string, { operation, input }: Act): Promise<void> => {
    const verdict = await call(operation, input);
    setRefused(verdict.allow ? null : { quest, refusal: verdict });
    refreshAll();
  };
  const shift = (quest: Quest | undefined, by: -1 | 1): void => {
    const beside = pending[pending.findIndex(({ id }) => id === quest?.id) + by];
    if (!quest || quest.place === null || !beside || !order) return;
    void act(quest.id, {
      operation: 'quest.reorder',
      input: { quest: quest.id, [by === -1 ? 'before' : 'behind']: beside.id },
    });
  };
  const here = quests.findIndex(({ id }) => id === at);
  const step = (by: number): void =>
    setAt(quests[Math.max(0, Math.min(quests.length - 1, here === -1 ? 0 : here + by))]?.id ?? null);
  useKeys('Queue', [
    { keys: 'j', says: 'Next', run: () => step(1) },
    { keys: 'k', says: 'The one before', run: () => step(-1) },
    ...(order
      ? [
          { keys: 'alt+ArrowUp', says: 'Move it up', run: () => shift(quests[here], -1) },
          { keys: 'alt+ArrowDown', says: 'Move it down', run: () => shift(quests[here], 1) },
        ]
      : []),
    { keys: 'Enter', says: 'Open its cast', run: () => quests[here]?.cast && go(castPath(quests[here].cast)) },
  ]);
  return (
    <>
      <Header title="Queue" beside={details ? `${plural(pending.length, 'quest')} to come` : null}>
        {may('quest.add') ? (
          <Button kind="primary" keys="c" onPress={() => go('/?new=1')}>
            Add to queue
          </Button>
        ) : null}
      </Header>
      <div className="view-main queue">
        {refusal ? <Problem refusal={refusal} onRetry={refresh} /> : null}
        {!details ? (
          refusal ? null : (
            <LoadingRows what="The queue" />
          )
        ) : quests.length === 0 ? (
          <Empty>The queue is empty. Add work, and the next one starts when the one before it ends.</Empty>
        ) : (
          <ol className="queue-rows" aria-label="Quests">
            {quests.map((quest) => (
              <li key={quest.id} className={quest.id === at ? 'queue-row selected' : 'queue-row'}>
                <Row {...{ quest, act, shift, nameOf }} last={pending.length} onFocus={() => setAt(quest.id)} />
                {refused?.quest === quest.id ? <RefusalBlock refusal={refused.refusal} /> : null}
              </li>
            ))}
          </ol>
        )}
        {details ? (
          <p className="queue-runs">
            A process drives the queue; this page does not start one. <CopyCommand command="baton quest run --follow" />
          </p>
        ) : null}
        {details && details.schedules.length > 0 ? <Schedules of={details.schedules} act={act} /> : null}
      </div>
    </>
  );
}

function Row({
  quest,
  last,
  act,
  shift,
  nameOf,
  onFocus,
}: {
  quest: Quest;
  last: number;
  /** The words with the titles of quests in the place of their ids. */
  nameOf: (words: string) => string;
  act: (quest: string, act: Act) => Promise<void>;
  shift: (quest: Quest, by: -1 | 1) => void;
  onFocus: () => void;
}): ReactNode {
  const may = useMay();
  const { id, title, loadout, priority, status, place, waitsFor, cast, code, reason, since } = quest;
  const says =
    status === 'failed'
      ? `failed: ${reason || code}`
      : waitsFor !== ''
        ? `${place === null ? 'waits for you:' : 'after'} ${nameOf(waitsFor)}`
        : status === 'crashed'
          ? 'has no driver'
          : place === null
            ? status
            : place === 1
              ? 'next'
              : '';
  return (
    <div className="queue-line" role="group" aria-label={inLine(title)} onFocus={onFocus}>
      <span className="queue-place">{place ?? ''}</span>
      <Glyph status={SIGNS[status] ?? 'open'} />
      {cast === null ? (
        <Name text={title} className="queue-title" />
      ) : (
        <a {...linkTo(castPath(cast))} className="queue-title">
          <Name text={title} />
        </a>
      )}
      <span className="quiet queue-team">
        <Foreign text={[loadout ?? 'usual team', priority === 'normal' ? null : priority].filter(Boolean).join(', ')} />
      </span>
      <Name text={says} className={status === 'failed' ? 'bad' : status === 'waiting' ? 'wait' : 'second'} />
      <time className="quiet" dateTime={since} title={exactly(since)}>
        {when(since)}
      </time>
      <span className="queue-acts">
        {place !== null && may('quest.reorder') ? (
          <>
            <Button
              kind="quiet"
              label={`Move ${id} up`}
              refused={place === 1 ? 'It is the first.' : undefined}
              onPress={() => shift(quest, -1)}
            >
              Up
            </Button>
            <Button
              kind="quiet"
              label={`Move ${id} down`}
              refused={place === last ? 'It is the last.' : undefined}
              onPress={() => shift(quest, 1)}
            >
              Down
            </Button>
          </>
        ) : null}
        {status === 'failed' && may('quest.requeue') ? (
          <Button onPress={() => void act(id, { operation: 'quest.requeue', input: { quest: id } })}>Again</Button>
        ) : null}
        {(place !== null || status === 'failed') && may('quest.remove') ? (
          <Button
            kind="quiet"
            label={`Remove ${id}`}
            onPress={() => void act(id, { operation: 'quest.remove', input: { quest: id } })}
          >
            Remove
          </Button>
        ) : null}
      </span>
      <span className="queue-id">{id}</span>
    </div>
  );
}

function Schedules({
  of,
  act,
}: {
  of: readonly Schedule[];
  act: (quest: string, act: Act) => Promise<void>;
}): ReactNode {
  const may = useMay();
  return (
    <section aria-labelledby="schedules" className="queue-schedules">
      <h2 id="schedules">Schedules</h2>
      <ul>
        {of.map(({ id, title, cron, zone, dueAt }) => (
          <li key={id} className="queue-schedule">
            <Name text={title} className="queue-title" />
            <code>{cron}</code>
            <span className="quiet">{zone}</span>
            <span className="second" title={exactly(dueAt)}>
              next {when(dueAt)}
            </span>
            {may('quest.remove') ? (
              <Button
                kind="quiet"
                label={`End ${id}`}
                onPress={() => void act(id, { operation: 'quest.remove', input: { quest: id } })}
              >
                End
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
