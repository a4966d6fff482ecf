// One turn, opened: what it said and how that was judged, what it was told, what it handed on, what it changed, on what
// evidence, and what that used. Looking at it changes nothing.
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { CastPage, PageAct, PageSocket } from '../../../src/app/views/cast-page.ts';
import type { TurnRow } from '../../../src/app/views/turn-rows.ts';
import type { Entry, Refusal } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { ItemPill } from '../parts/items.tsx';
import { CloseButton } from '../parts/pane.tsx';
import { Source } from '../parts/source.tsx';
import { LoadingRows } from '../parts/states.tsx';
import { Foreign, ForeignLines, Name } from '../parts/text.tsx';
import { CodeChip, RefusalBlock, VerdictBlock } from '../parts/verdict.tsx';
import { clockSeconds, duration, money, plural, stopwatch, tokens } from '../words.ts';
import { ActButton } from './acts.tsx';
import { Answer, Streaming } from './answer.tsx';
import { Asked, Composer, Exchange, talkIn } from './chat.tsx';
import type { Follower } from './follow.ts';
import { attemptSign, attemptWords, nameOf, pillOf, ranFor } from './shown.ts';
import { useTick } from './tick.ts';
import { type AttemptStory, beginning, storyOf, type TurnStory } from './turn-story.ts';
import { Brief, Changes, Evidence, evidenceCount, HandoffTab, UsageTab } from './turn-tabs.tsx';
import './inspector.css';

export const TABS = ['output', 'brief', 'handoff', 'changes', 'evidence', 'usage'] as const;
export type Tab = (typeof TABS)[number];
const TITLES: Readonly<Record<Tab, string>> = {
  output: 'Output',
  brief: 'Brief',
  handoff: 'Handoff',
  changes: 'Changes',
  evidence: 'Evidence',
  usage: 'Usage',
};

type InspectorProps = {
  readonly page: CastPage;
  readonly follower: Follower;
  readonly row: TurnRow;
  readonly attempt: number | null;
  readonly at: number | null;
  readonly tab: Tab;
  readonly acts: readonly PageAct[];
  /** Says something to the agents of its item. */
  readonly say: PageAct | null;
  readonly changed: ReactNode;
  readonly onTab: (tab: Tab) => void;
  readonly onAttempt: (attempt: number) => void;
  readonly onStep: (by: -1 | 1) => void;
  readonly onClose: () => void;
};

export function Inspector(props: InspectorProps): ReactNode {
  const { page, follower, row, at, tab, acts, onTab, onAttempt, onStep, onClose } = props;
  const { story, refusal } = useStory(follower, row, at);
  const socket = page.graph.sockets.find(({ id }) => id === row.socket);
  const live = socket?.live.find(({ turn }) => turn === row.turn);
  const attempts = story?.attempts ?? [];
  const shown = attempts.find(({ attempt }) => attempt === props.attempt) ?? attempts.at(-1) ?? null;
  const step = (by: number): void => {
    const next = attempts[attempts.findIndex(({ attempt }) => attempt === shown?.attempt) + by] ?? attempts[0];
    if (next) onAttempt(next.attempt);
  };
  useKeys('Turn', [
    { keys: 'a', says: 'Next attempt', run: () => step(1) },
    { keys: 'n', says: 'Next issue', run: nextIssue },
  ]);
  return (
    <div className="inspector">
      <div className="inspector-head">
        <div className="inspector-title">
          <h2>
            <Name text={nameOf(page, row.socket)} />
          </h2>
          <span>turn {row.turn}</span>
          {row.isRework ? <span className="rework-word">rework</span> : null}
          <span className="inspector-steps">
            <Button kind="quiet" icon="left" label="Turn before" onPress={() => onStep(-1)} />
            <Button kind="quiet" icon="right" label="Turn after" onPress={() => onStep(1)} />
            <CloseButton onClose={onClose} label="Close the turn" />
          </span>
        </div>
        {row.number === null ? null : (
          <p className="inspector-item">
            <ItemPill n={row.number} state={live ? pillOf(live.shown) : 'waiting'} title={row.title ?? ''} />
            <span>
              <Foreign text={row.title ?? `item ${row.number}`} />
            </span>
          </p>
        )}
        <Attempts
          attempts={socket?.isConversation ? attempts.filter(isAnswer) : attempts}
          row={row}
          shown={shown?.attempt ?? null}
          onAttempt={onAttempt}
        />
        <Tabs tab={tab} story={story} onTab={onTab} />
      </div>
      <div className="inspector-body" role="tabpanel" aria-label={TITLES[tab]} id="turn-tab">
        {acts.length > 0 && talkIn(acts) === null ? (
          <Waits acts={acts} page={page} turn={row.turn} story={story} />
        ) : null}
        {refusal ? <RefusalBlock refusal={refusal} /> : null}
        {story === null ? (
          refusal ? null : (
            <LoadingRows what="The turn" />
          )
        ) : (
          <Body {...{ ...props, story, shown, socket }} />
        )}
        {props.changed}
      </div>
      <div className="inspector-foot">
        <CopyCommand command={`baton show ${page.cast} --turn ${row.turn}`} label="Copy command" />
        {props.say ? <ActButton act={props.say} kind="quiet" isBare /> : null}
        {shown ? <Spent attempt={shown} row={row} /> : null}
      </div>
    </div>
  );
}

/** In a conversation an attempt is mostly one more thing that was said. */
function isAnswer({ ended }: AttemptStory): boolean {
  return ended !== null && ended.fact.kind !== 'turn.reported' && ended.fact.kind !== 'attempt.lost';
}

/** The entries of the turn, asked again when a new one came. */
function useStory(
  follower: Follower,
  row: TurnRow,
  at: number | null,
): { readonly story: TurnStory | null; readonly refusal: Refusal | null } {
  const [read, setRead] = useState<{ readonly turn: number; readonly entries: readonly Entry[] } | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  // What sent the work here was said in the same commit, right before the turn.
  const [from, to] = [Math.max(1, row.seq - 12), row.lastSeq];
  useEffect(() => {
    let isCurrent = true;
    void follower.entries(from, to).then((answer) => {
      if (!isCurrent) return;
      if ('allow' in answer) setRefusal(answer as Refusal);
      else {
        setRefusal(null);
        setRead({ turn: row.turn, entries: answer as readonly Entry[] });
      }
    });
    return () => {
      isCurrent = false;
    };
  }, [follower, row.turn, from, to]);
  const story = useMemo(() => {
    if (read?.turn !== row.turn) return null;
    return storyOf(row.turn, at === null ? read.entries : read.entries.filter(({ seq }) => seq <= at));
  }, [read, row.turn, at]);
  return { story, refusal };
}

function nextIssue(): void {
  const notes = [...document.querySelectorAll<HTMLElement>('.inspector .line-note')];
  if (notes.length === 0) return;
  const frame = notes[0]?.closest<HTMLElement>('.source-lines');
  const at = notes.findIndex((note) => note.classList.contains('line-note-now'));
  const next = notes[(at + 1) % notes.length];
  for (const note of notes) note.classList.toggle('line-note-now', note === next);
  next?.scrollIntoView({ block: 'center' });
  frame?.focus({ preventScroll: true });
}

function Attempts({
  attempts,
  row,
  shown,
  onAttempt,
}: {
  attempts: readonly AttemptStory[];
  row: TurnRow;
  shown: number | null;
  onAttempt: (attempt: number) => void;
}): ReactNode {
  const isLive = row.attempts.some(({ end }) => end === null);
  const now = useTick(isLive);
  if (attempts.length < 2) return null;
  return (
    <div className="attempts" role="group" aria-label="Attempts">
      {attempts.map(({ attempt, ended }) => {
        const own = row.attempts.find((each) => each.attempt === attempt);
        if (!own) return null;
        const as = ended === null ? { ...own, end: null } : own;
        return (
          <button key={attempt} type="button" aria-pressed={attempt === shown} onClick={() => onAttempt(attempt)}>
            <Glyph status={attemptSign(as)} isQuiet />
            <b>Attempt {attempt}</b> <span>{attemptWords(as)}</span>
            <time>{ended === null ? stopwatch(now - Date.parse(own.at)) : clockSeconds(ended.at)}</time>
          </button>
        );
      })}
    </div>
  );
}

function Tabs({ tab, story, onTab }: { tab: Tab; story: TurnStory | null; onTab: (tab: Tab) => void }): ReactNode {
  const counts: Partial<Record<Tab, number>> = story
    ? { changes: story.touched.length, evidence: evidenceCount(story) }
    : {};
  return (
    <div className="turn-tabs" role="tablist" aria-label="What of the turn">
      {TABS.map((each, n) => (
        <button
          key={each}
          type="button"
          role="tab"
          aria-selected={each === tab}
          aria-controls="turn-tab"
          tabIndex={each === tab ? 0 : -1}
          onClick={() => onTab(each)}
          onKeyDown={(event) => {
            const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            const next = by === undefined ? TABS[Number(event.key) - 1] : TABS[(n + by + TABS.length) % TABS.length];
            if (next === undefined) return;
            event.preventDefault();
            event.stopPropagation();
            onTab(next);
            const tabs = event.currentTarget.parentElement?.querySelectorAll<HTMLElement>('[role=tab]');
            tabs?.[TABS.indexOf(next)]?.focus();
          }}
        >
          {TITLES[each]}
          {counts[each] === undefined ? null : <span> {counts[each]}</span>}
        </button>
      ))}
    </div>
  );
}

/** What this turn waits for, with what can be done about it. */
function Waits({
  acts,
  page,
  turn,
  story,
}: {
  acts: readonly PageAct[];
  page: CastPage;
  turn: number;
  story: TurnStory | null;
}): ReactNode {
  const wait = page.waits.find((each) => each.turn === turn);
  const name = wait?.socket ?? '';
  const title = {
    approval: (
      <>
        <Foreign text={name} /> asks for permission
      </>
    ),
    question: (
      <>
        <Foreign text={name} /> asks you
      </>
    ),
    talk: (
      <>
        <Foreign text={name} /> talks with you
      </>
    ),
    turn: 'This turn is yours',
    unknown: 'Outcome unknown: did it run?',
    blocked: (
      <>
        <Foreign text={name} /> is blocked
      </>
    ),
    spent: 'The way back was taken as often as it may be',
    parked: 'The item is parked',
  }[wait?.kind ?? 'turn'];
  const lines = story?.said ?? [];
  return (
    <section className="waits-here" aria-label="Waits for you">
      <VerdictBlock kind={wait?.kind === 'unknown' ? 'unknown' : 'waits'} title={title}>
        {wait && wait.words !== '' && lines.length === 0 ? (
          <p className="asked-words">
            “<ForeignLines text={wait.words} />”
          </p>
        ) : null}
        {wait?.kind === 'turn' ? (
          <p>Its brief says what is wanted. Your answer keeps the same contract as an agent's.</p>
        ) : null}
        {wait?.kind === 'unknown' ? (
          <p>It must not run twice, and it may have run before it was cut off. Find out first.</p>
        ) : null}
      </VerdictBlock>
      <div className="waits-acts">
        {acts.map((act, n) => (
          <ActButton key={act.id} act={act} kind={n === 0 ? 'primary' : 'plain'} />
        ))}
      </div>
    </section>
  );
}

type BodyProps = InspectorProps & {
  readonly story: TurnStory;
  readonly shown: AttemptStory | null;
  readonly socket: PageSocket | undefined;
};

function Body(props: BodyProps): ReactNode {
  const { tab, story, shown } = props;
  if (tab === 'output') return <Output {...props} />;
  if (tab === 'brief')
    return shown ? (
      <Brief story={story} attempt={shown} />
    ) : (
      <p className="pane-note">No attempt has started yet, so no brief was sent.</p>
    );
  if (tab === 'handoff') return <HandoffTab {...props} />;
  if (tab === 'changes') return <Changes story={story} />;
  if (tab === 'evidence') return <Evidence story={story} />;
  return <UsageTab {...props} />;
}

function Output({ page, follower, row, story, shown, socket, at, acts }: BodyProps): ReactNode {
  if (!shown) {
    const why = socket?.live.find(({ turn }) => turn === row.turn);
    return <p className="pane-note">Not dispatched yet{why ? `: ${why.words}` : ''}.</p>;
  }
  const isYours = shown.ended === null && page.waits.some(({ kind, turn }) => kind === 'turn' && turn === row.turn);
  const talk = at === null ? talkIn(acts) : null;
  // In a conversation the words of the agent are no output yet, and are above.
  const isSaid = socket?.isConversation === true && shown.ended?.fact.kind === 'turn.reported';
  const isLive = shown.ended === null && at === null && page.status === 'running';
  return (
    <>
      {isSaid ? null : <Verdict {...{ page, row, story, shown, socket }} />}
      <Exchange story={story} />
      {isYours ? (
        <Source text={shown.brief} label="the brief" title="What is wanted" />
      ) : talk ? (
        <Composer {...{ page, row, story, socket, ...talk }} />
      ) : isLive ? (
        <Streaming follower={follower} row={row} name={nameOf(page, row.socket)} />
      ) : isSaid ? null : shown.output === null ? (
        shown.ended === null ? null : (
          <p className="pane-note">It left no output.</p>
        )
      ) : (
        <Answer
          key={shown.attempt}
          text={shown.output}
          issues={shown.issues}
          by={nameOf(page, row.socket)}
          before={story.attempts.findLast(({ attempt, output }) => attempt < shown.attempt && output !== null) ?? null}
        />
      )}
      {shown.issues.length > 0 && socket ? <Asked socket={socket} /> : null}
      {talk ? null : (
        <p className="inspector-sum">
          <Sum attempt={shown} row={row} />
        </p>
      )}
    </>
  );
}

/** What was decided, what follows, and what can be done: in this order. */
function Verdict({
  page,
  row,
  story,
  shown,
  socket,
}: Pick<BodyProps, 'page' | 'row' | 'story' | 'shown' | 'socket'>): ReactNode {
  const ended = shown?.ended;
  if (!shown || !ended) return null;
  const { fact, at } = ended;
  const name = nameOf(page, row.socket);
  const verdict = fact.verdict as { readonly code: string; readonly reason: unknown } | undefined;
  switch (fact.kind) {
    case 'attempt.refused': {
      const n = shown.issues.length;
      const title =
        n === 0
          ? `Refused: ${beginning(verdict?.reason)}`
          : `Refused: the output breaks its contract in ${plural(n, 'place')}.`;
      const back =
        n === 1
          ? 'The issue went'
          : n === 2
            ? 'Both issues went'
            : n === 0
              ? 'The reason went'
              : `All ${n} issues went`;
      return (
        <VerdictBlock kind="refused" title={<Foreign text={title} />} code={verdict?.code ?? null}>
          Nothing of it was used.{' '}
          {shown.isRepaired
            ? `${back} back to ${name} at ${clockSeconds(at)}. It may answer once more.`
            : 'It gets no other try.'}
        </VerdictBlock>
      );
    }
    case 'attempt.failed':
      return (
        <VerdictBlock
          kind="refused"
          title={<Foreign text={`Failed: ${beginning(fact.reason)}`} />}
          code={String(fact.cause ?? fact.code ?? '')}
        >
          {fact.again === true ? 'It is tried again.' : 'It is not tried again by itself.'}
        </VerdictBlock>
      );
    case 'attempt.lost':
    case 'turn.unknown':
      return (
        <VerdictBlock
          kind="unknown"
          title={<Foreign text={`Cut off: ${beginning(fact.reason)}`} />}
          code={fact.kind === 'turn.unknown' ? 'OUTCOME_UNKNOWN' : null}
        >
          {fact.kind === 'turn.unknown'
            ? 'It may have done its work. A person says whether it did.'
            : 'It is started again.'}
        </VerdictBlock>
      );
    case 'turn.blocked':
      return (
        <VerdictBlock
          kind="waits"
          title={<Foreign text={`Blocked: ${beginning(fact.reason)}`} />}
          code={String(fact.code ?? '')}
        />
      );
    case 'turn.reported': {
      const outcome =
        { continue: 'goes on', ask: 'asks a person', approval: 'asks for permission' }[String(fact.outcome)] ??
        'reports';
      return (
        <VerdictBlock
          kind={fact.outcome === 'continue' ? 'accepted' : 'waits'}
          title={<Foreign text={`Accepted: ${name} ${outcome}.`} />}
        >
          <Foreign text={beginning(fact.note)} />
        </VerdictBlock>
      );
    }
    case 'turn.accepted': {
      const way = story.ways.at(-1);
      const to = way === undefined ? null : way.to === 'end' ? 'the end' : nameOf(page, way.to);
      const who = row.number === null ? 'The work' : `Item ${row.number}`;
      if (story.handoff?.satisfied === false)
        return (
          <VerdictBlock
            kind="unsatisfied"
            title={<Foreign text={`Accepted: not satisfied.${to === null ? '' : ` ${who} goes back to ${to}.`}`} />}
          >
            {to === null ? null : `The reason below is in the next brief of ${to}.`}
            {boundOf(socket, way, page, row)}
          </VerdictBlock>
        );
      const next =
        story.isFinished && way?.when !== 'exit' ? `${to} takes the next one.` : `The cast goes on to ${to}.`;
      const on = story.isFinished ? `${who} is done. ${next}` : `${who} goes on to ${to}.`;
      return (
        <VerdictBlock kind="accepted" title={<Foreign text={to === null ? 'Accepted.' : `Accepted. ${on}`} />}>
          {fact.truncated === true ? 'The output was cut at its limit.' : null}
        </VerdictBlock>
      );
    }
    default:
      return null;
  }
}

function boundOf(
  socket: PageSocket | undefined,
  way: TurnStory['ways'][number] | undefined,
  page: CastPage,
  row: TurnRow,
): string {
  const edge = page.graph.edges.find(
    ({ from, to, when }) => from === socket?.id && to === way?.to && when === way?.when,
  );
  if (!edge || edge.max === null) return '';
  const used = edge.perItem.find(({ item }) => item === row.key)?.count;
  return used === undefined
    ? ` At most ${plural(edge.max, 'return')} for an item.`
    : ` Return ${used} of at most ${edge.max} for this item.`;
}

function Sum({ attempt, row }: { attempt: AttemptStory; row: TurnRow }): ReactNode {
  const own = row.attempts.find((each) => each.attempt === attempt.attempt);
  const hash = (attempt.started.fact.attestation as { readonly promptHash?: string } | undefined)?.promptHash;
  const took =
    attempt.ended === null ? null : ranFor(Date.parse(attempt.ended.at) - Date.parse(attempt.started.at), duration);
  const usage = attempt.ended === null ? null : own?.usage;
  return (
    <>
      {[took, usage ? `${tokens(usage.input)} tokens in, ${tokens(usage.output)} out, ${money(usage.cost)}` : null]
        .filter(Boolean)
        .join(', ')}
      {took === null && !usage ? null : '.'}
      {hash === undefined ? null : (
        <>
          {' '}
          Prompt <code>{hash.replace('sha256:', '').slice(0, 8)}</code> is the locked one.
        </>
      )}
    </>
  );
}

function Spent({ attempt }: { attempt: AttemptStory; row: TurnRow }): ReactNode {
  const { ended } = attempt;
  const code =
    ended === null ? null : ended.fact.kind === 'attempt.refused' ? null : (ended.fact.code as string | undefined);
  return code && ended?.fact.kind === 'attempt.lost' ? <CodeChip code={code} /> : null;
}
