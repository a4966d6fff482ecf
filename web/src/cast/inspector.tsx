// One turn, opened: what it said and how that was judged, what it was told, what it handed on, what it changed, on what
// evidence, and what that used. Looking at it changes nothing.
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { CastPage, PageAct, PageSocket, TurnRow } from '../../../src/app/views/cast-page.ts';
import type { Entry, Json, Refusal, Text } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Diffs } from '../parts/diff.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { ItemPill } from '../parts/items.tsx';
import { CloseButton, Facts } from '../parts/pane.tsx';
import { Source, useText } from '../parts/source.tsx';
import { LoadingRows } from '../parts/states.tsx';
import { Foreign, ForeignLines, Name } from '../parts/text.tsx';
import { CodeChip, RefusalBlock, VerdictBlock } from '../parts/verdict.tsx';
import { clock, clockSeconds, count, duration, exactly, money, plural, stopwatch, tokens } from '../words.ts';
import { ActButton } from './acts.tsx';
import { type Follower, useSpeech } from './follow.ts';
import { placeIssues } from './json-place.ts';
import { attemptSign, attemptWords, nameOf, pillOf, ranFor } from './shown.ts';
import { useTick } from './tick.ts';
import { type AttemptStory, beginning, isReference, storyOf, type TurnStory } from './turn-story.ts';
import { wordDiff } from './word-diff.ts';
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

export type InspectorProps = {
  readonly page: CastPage;
  readonly follower: Follower;
  readonly row: TurnRow;
  readonly attempt: number | null;
  readonly at: number | null;
  readonly tab: Tab;
  readonly acts: readonly PageAct[];
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
        <Attempts attempts={attempts} row={row} shown={shown?.attempt ?? null} onAttempt={onAttempt} />
        <Tabs tab={tab} story={story} onTab={onTab} />
      </div>
      <div className="inspector-body" role="tabpanel" aria-label={TITLES[tab]} id="turn-tab">
        {acts.length > 0 ? <Waits acts={acts} page={page} turn={row.turn} story={story} /> : null}
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
        {shown ? <Spent attempt={shown} row={row} /> : null}
      </div>
    </div>
  );
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

function evidenceCount({ record, reports }: TurnStory): number {
  return (record?.checks.length ?? 0) + reports.length + (record?.deposits.length ?? 0);
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
  const lines = story?.record?.exchange ?? [];
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

function Output({ page, follower, row, story, shown, socket, at }: BodyProps): ReactNode {
  if (!shown) {
    const why = socket?.live.find(({ turn }) => turn === row.turn);
    return <p className="pane-note">Not dispatched yet{why ? `: ${why.words}` : ''}.</p>;
  }
  const isYours = shown.ended === null && page.waits.some(({ kind, turn }) => kind === 'turn' && turn === row.turn);
  const isLive = shown.ended === null && at === null && page.status === 'running';
  return (
    <>
      <Verdict {...{ page, row, story, shown, socket }} />
      <Exchange story={story} />
      {isYours ? (
        <Source text={shown.brief} label="the brief" title="What is wanted" />
      ) : isLive ? (
        <Streaming follower={follower} row={row} name={nameOf(page, row.socket)} />
      ) : shown.output === null ? (
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
      <p className="inspector-sum">
        <Sum attempt={shown} row={row} />
      </p>
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

/** The output in its own words. JSON on one line is set in lines, which `Raw` takes back. */
function Answer({
  text,
  issues,
  by,
  before,
}: {
  text: Text;
  issues: AttemptStory['issues'];
  by: string;
  before: AttemptStory | null;
}): ReactNode {
  const loaded = useText(text);
  const whole = loaded.is === 'text' ? loaded.text : null;
  const [isRaw, setRaw] = useState(false);
  const [isCompared, setCompared] = useState(false);
  const spread = useMemo(() => (whole === null ? null : inLines(whole)), [whole]);
  const shown = isRaw || spread === null ? whole : spread;
  const placed = useMemo(
    () => (shown === null ? { marks: [], unplaced: [] } : placeIssues(shown, issues)),
    [shown, issues],
  );
  useKeys(
    'Output',
    spread === null ? [] : [{ keys: 'alt+r', says: 'The output as it was sent', run: () => setRaw(!isRaw) }],
  );
  const lines = whole === null ? '' : `, ${plural((shown ?? '').trimEnd().split('\n').length, 'line')}`;
  return (
    <>
      {placed.unplaced.length > 0 ? (
        <ul className="whole-issues">
          {placed.unplaced.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <Foreign text={message} /> <span>in the whole output</span>
            </li>
          ))}
        </ul>
      ) : null}
      <Source
        text={shown ?? text}
        label="the output"
        marks={placed.marks}
        title={
          <>
            <Foreign text={`${by} wrote`} />
            <span className="quiet">{lines}</span>
          </>
        }
        acts={
          spread === null ? null : (
            <Button kind="quiet" keys="alt+r" isPressed={isRaw} onPress={() => setRaw(!isRaw)}>
              Raw
            </Button>
          )
        }
      />
      {before === null ? null : (
        <div>
          <Button kind="plain" isPressed={isCompared} onPress={() => setCompared(!isCompared)}>
            What changed since attempt {before.attempt}
          </Button>
        </div>
      )}
      {isCompared && before?.output != null ? <ChangedWords before={before.output} after={text} /> : null}
    </>
  );
}

/** Null where the text is no JSON, or has lines already. */
function inLines(text: string): string | null {
  if (text.trim().includes('\n') || !/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function ChangedWords({ before, after }: { before: Text; after: Text }): ReactNode {
  const [was, is] = [useText(before), useText(after)];
  const pieces = useMemo(
    () => (was.is === 'text' && is.is === 'text' ? wordDiff(spreadOut(was.text), spreadOut(is.text)) : null),
    [was, is],
  );
  if (pieces === null)
    return <p className="pane-note">{was.is === 'reading' || is.is === 'reading' ? 'Reading…' : 'A text is gone.'}</p>;
  return (
    <section className="source" aria-label="What changed, word by word">
      <pre className="words-changed" tabIndex={0}>
        {pieces.map(({ sort, text }, n) => {
          const shown = <ForeignLines text={text} />;
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
          if (sort === 'added') return <ins key={n}>{shown}</ins>;
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
          if (sort === 'removed') return <del key={n}>{shown}</del>;
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
          return <span key={n}>{shown}</span>;
        })}
      </pre>
    </section>
  );
}

const spreadOut = (text: string): string => inLines(text) ?? text;

function Asked({ socket }: { socket: PageSocket }): ReactNode {
  if (socket.asks.length === 0) return null;
  return (
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
  );
}

/** What the agent writes now. The frame keeps its place, and the text grows downwards in it. */
function Streaming({ follower, row, name }: { follower: Follower; row: TurnRow; name: string }): ReactNode {
  const speech = useSpeech(follower, row.turn);
  const begun = row.attempts.at(-1)?.at ?? row.at;
  const now = useTick(true);
  const doing =
    speech === null
      ? 'works'
      : speech.tool === null
        ? `writes, ${count(speech.chars)} characters`
        : `uses ${speech.tool}`;
  return (
    <>
      <p className="streaming">
        <Glyph status="running" isQuiet />
        <Foreign text={`${name} ${doing}, ${stopwatch(now - Date.parse(begun))}`} />
      </p>
      {speech && speech.text !== '' ? <Source text={speech.text} label="what it writes now" isStreaming /> : null}
    </>
  );
}

/** What was said in the turn: a person at the right, the agent at the left. */
function Exchange({ story: { record } }: { story: TurnStory }): ReactNode {
  const lines = record?.exchange ?? [];
  if (lines.length === 0) return null;
  return (
    <ol className="chat" aria-label="What was said">
      {lines.map(({ from, at, by, text }) => (
        <li key={`${at} ${from} ${text.length}`} className={`said said-${from}`}>
          <span className="said-by">
            {from === 'agent' ? 'agent' : from === 'runtime' ? 'Baton' : (by ?? 'you')}, {clock(at)}
          </span>
          <p>
            <ForeignLines text={text} />
          </p>
        </li>
      ))}
    </ol>
  );
}

function Brief({ story, attempt }: { story: TurnStory; attempt: AttemptStory }): ReactNode {
  return (
    <>
      {story.rework.map(({ from, reason }) => (
        <VerdictBlock key={reason} kind="unsatisfied" title={<Foreign text={`${from} sent it back`} />}>
          “<ForeignLines text={reason} />”
        </VerdictBlock>
      ))}
      <Source text={attempt.brief} label="the brief" title="As it was sent, frozen" />
    </>
  );
}

function HandoffTab({ story, page }: BodyProps): ReactNode {
  const { handoff, ways, dataChanges } = story;
  if (!handoff) return <p className="pane-note">Nothing was handed on: no output of this turn was accepted.</p>;
  return (
    <>
      <Facts
        rows={[
          [
            'Goes to',
            ways.length === 0
              ? 'none yet'
              : ways.map(({ to, when, seq }) => (
                  <span key={seq}>
                    {to === 'end' ? 'the end' : <Foreign text={nameOf(page, to)} />} ({when.replace('_', ' ')}){' '}
                  </span>
                )),
          ],
          ['Satisfied', handoff.satisfied === null ? 'not said' : handoff.satisfied ? 'yes' : 'no'],
          handoff.note !== null && ['Note', <Foreign key="note" text={handoff.note} />],
        ]}
      />
      <Source
        text={
          typeof handoff.payload === 'string' || isReference(handoff.payload)
            ? (handoff.payload as unknown as Text)
            : written(handoff.payload)
        }
        label="the handoff"
        title="What was handed on"
      />
      {dataChanges.length > 0 ? (
        <section className="asked">
          <h3>It changed the data of the cast</h3>
          <dl>
            {dataChanges.map(({ name, value }) => (
              <div key={name}>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd className="asked-wide">
                  <Name text={value === undefined ? 'taken out' : written(value, 0)} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ) : null}
    </>
  );
}

/** JSON with the long texts in it by how they begin. */
function written(value: Json, indent = 2): string {
  return (
    JSON.stringify(
      value,
      (_name, each) => (isReference(each) ? `${each.preview}… (${count(each.bytes)} bytes)` : each),
      indent,
    ) ?? ''
  );
}

function Changes({ story: { touched, diff } }: { story: TurnStory }): ReactNode {
  if (touched.length === 0) return <p className="pane-note">This turn changed no file.</p>;
  const outside = new Set(touched.flatMap(({ path, isOutside }) => (isOutside ? [path] : [])));
  return (
    <>
      <ul className="touched">
        {touched.map(({ path, isGone, isOutside }) => (
          <li key={path} className={isOutside ? 'touched-outside' : ''}>
            <code>
              <ForeignLines text={path} />
            </code>
            <span>{isOutside ? 'outside its paths' : isGone ? 'removed' : 'changed'}</span>
          </li>
        ))}
      </ul>
      {diff === null ? (
        <p className="pane-note">No diff was kept: it is kept where the cast works in a worktree.</p>
      ) : (
        <Diffs text={diff} outside={outside} />
      )}
    </>
  );
}

function Evidence({ story }: { story: TurnStory }): ReactNode {
  const { record, reports, differences } = story;
  if (evidenceCount(story) === 0) return <p className="pane-note">No checker ran, and no evidence was reported.</p>;
  return (
    <>
      {record && record.checks.length > 0 ? (
        <section className="checks">
          <h3>What the checkers found</h3>
          <ul>
            {record.checks.map(({ name, ok, found, output }) => (
              <li key={name}>
                <Glyph status={ok ? 'done' : 'refused'} says={ok ? 'passed' : 'failed'} />
                <code>{name}</code> <Foreign text={found} />
                {output ? <Source text={output} label={`the end of ${name}`} /> : null}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {reports.map(({ attempt, note, warnings, ran, unapproved }) => (
        <section key={attempt} className="checks">
          <h3>
            Report of attempt {attempt}: {note.status.toLowerCase()}
          </h3>
          <Facts
            rows={[
              note.keyOutputs.length > 0 && ['Says it did', <Lines key="outputs" of={note.keyOutputs} />],
              note.confirmed.length > 0 && ['Confirmed', <Lines key="confirmed" of={note.confirmed} />],
              note.openGaps.length > 0 && ['Open', <Lines key="gaps" of={note.openGaps} />],
              note.verification !== null && ['Verified by', <Foreign key="verified" text={note.verification} />],
              ran !== null && ['Really ran', ran.length === 0 ? 'no command' : <Lines key="ran" of={ran} isCode />],
              unapproved.length > 0 && ['Not approved', <Lines key="unapproved" of={unapproved} isCode />],
              warnings.length > 0 && ['Not taken', <Lines key="warnings" of={warnings} />],
            ]}
          />
        </section>
      ))}
      {differences.map(({ notRun, unnamed }) => (
        <section key="differences" className="checks">
          <Facts
            rows={[
              notRun.length > 0 && [
                'Named but not run',
                <div key="not" className="bad">
                  <Lines of={notRun} isCode />
                </div>,
              ],
              unnamed.length > 0 && ['Run but not named', <Lines key="unnamed" of={unnamed} isCode />],
            ]}
          />
        </section>
      ))}
      {record?.deposits.map(({ name, agent }) => (
        <p key={name} className="pane-note">
          <code>{name}</code>, put down by <Foreign text={agent} />
        </p>
      ))}
    </>
  );
}

function Lines({ of, isCode = false }: { of: readonly string[]; isCode?: boolean }): ReactNode {
  return (
    <ul className="plain-lines">
      {of.map((line) => (
        <li key={line}>
          {isCode ? (
            <code>
              <ForeignLines text={line} />
            </code>
          ) : (
            <Foreign text={line} />
          )}
        </li>
      ))}
    </ul>
  );
}

function UsageTab({ row, shown, page }: BodyProps): ReactNode {
  const own = row.attempts.find(({ attempt }) => attempt === shown?.attempt);
  const fact = shown?.started.fact;
  const attestation = fact?.attestation as
    | {
        readonly promptHash?: string;
        readonly agent?: string;
        readonly pinned?: boolean;
        readonly drift?: readonly string[];
      }
    | undefined;
  const total = row.attempts.reduce(
    (sum, { usage }) => ({
      input: sum.input + (usage?.input ?? 0),
      output: sum.output + (usage?.output ?? 0),
      cost: sum.cost + (usage?.cost ?? 0),
    }),
    { input: 0, output: 0, cost: 0 },
  );
  const agent = shown?.ended?.fact.agent as
    | { readonly warnings?: readonly unknown[]; readonly denials?: readonly unknown[] }
    | undefined;
  return (
    <Facts
      rows={[
        ['Runner', own?.runner ?? page.graph.sockets.find(({ id }) => id === row.socket)?.runner ?? 'not told'],
        ['Model', own?.model ?? 'its default'],
        own !== undefined && ['Started', exactly(own.at)],
        own?.endAt != null && ['Took', ranFor(Date.parse(own.endAt) - Date.parse(own.at), duration)],
        ['Tokens in', own?.usage ? count(own.usage.input) : 'not told yet'],
        ['Tokens out', own?.usage ? count(own.usage.output) : 'not told yet'],
        [
          'Cost',
          own?.usage
            ? `${money(own.usage.cost)}${own.usage.estimated ? ', worked out from prices' : ''}`
            : 'not told yet',
        ],
        row.attempts.length > 1 && [
          'All attempts',
          `${tokens(total.input)} in, ${tokens(total.output)} out, ${money(total.cost)}`,
        ],
        attestation?.promptHash !== undefined && [
          'Prompt',
          <span key="hash">
            <code title={attestation.promptHash}>{attestation.promptHash.replace('sha256:', '').slice(0, 8)}</code>{' '}
            {(attestation.drift ?? []).length === 0 ? 'matches the lock' : 'differs from the lock'}
          </span>,
        ],
        attestation?.agent !== undefined && ['Agent', attestation.agent],
        attestation !== undefined && ['Model is', attestation.pinned ? 'one exact release' : 'an alias'],
        attestation === undefined && ['Prompt', 'not pinned: the registry is not used in this cast'],
        (agent?.denials ?? []).length > 0 && [
          'Was refused',
          <Lines key="denials" of={(agent?.denials ?? []).map(beginning)} isCode />,
        ],
        (agent?.warnings ?? []).length > 0 && [
          'Noticed',
          <Lines key="warnings" of={(agent?.warnings ?? []).map(beginning)} />,
        ],
      ]}
    />
  );
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
