// Everything that waits and is no request for permission: questions, unknown outcomes, blocked agents, parked items, what is
// suggested to remember, and agents that are blocked by their registry.
import { type ReactNode, useState } from 'react';
import { useKeys } from '../keys.ts';
import { Button } from '../parts/button.tsx';
import { AreaField, Check, Choice } from '../parts/fields.tsx';
import { Facts } from '../parts/pane.tsx';
import { Source } from '../parts/source.tsx';
import { Foreign, ForeignLines, Quote } from '../parts/text.tsx';
import { CodeChip, sentence, VerdictBlock } from '../parts/verdict.tsx';
import { go, turnPath } from '../router.ts';
import { titleOf } from '../shell/overview.ts';
import { exactly } from '../words.ts';
import { useLook } from '../workspace.ts';
import { CardFrame, type CardProps, DecisionBar, useDecision, useInert, useOffline } from './card.tsx';

/** What the turn of a row asks, as its record tells it. */
type TurnRecord = {
  readonly asks?: { readonly what?: string; readonly question?: string | null } | null;
  readonly question?: string | null;
  readonly brief?: unknown;
};

export function QuestionCard({ row, isGone }: CardProps): ReactNode {
  const decision = useDecision();
  const offline = useOffline();
  const isInert = useInert(row.id);
  const [answer, setAnswer] = useState('');
  const question = row.reason;
  const who = row.socket ?? 'the agent';
  const isTalk = row.kind === 'talk';
  const operation = isTalk ? 'cast.talk' : 'cast.answer';
  const input = { cast: row.cast, turn: row.turn, [isTalk ? 'text' : 'answer']: answer.trim(), detach: true };
  const refused = offline ?? (answer.trim() === '' ? 'Write an answer first.' : isInert ? 'In a moment.' : undefined);
  const send = (): void => {
    if (refused === undefined) void decision.decide({ operation, input });
  };
  useKeys('Question', [{ keys: 'mod+Enter', says: isTalk ? 'Send' : 'Answer', run: send, inFields: true }]);
  return (
    <CardFrame
      row={row}
      title={<Foreign text={question && !isTalk ? `${who} asks a question` : titleOf(row)} />}
      bar={
        <DecisionBar {...{ row, isGone, decision, needs: operation, copies: { operation, input } }}>
          <div className="bar-form">
            <AreaField
              label={isTalk ? `Say something to ${who}` : 'Your answer'}
              rows={3}
              value={answer}
              onChange={setAnswer}
            />
          </div>
          <Button
            kind="primary"
            isBig
            keys="mod+Enter"
            busy={decision.busy === operation && 'Sending…'}
            refused={refused}
            onPress={send}
          >
            {isTalk ? 'Send' : 'Answer'}
          </Button>
          {isTalk ? (
            <Button isBig refused={offline} onPress={() => go(turnPath(row.cast ?? '', row.turn ?? 0))}>
              Open the conversation
            </Button>
          ) : (
            // A turn that a person takes waits for an answer, and for nothing else.
            question !== '' && <Decide {...{ row, decision, offline }} choices={['skip', 'fail']} />
          )}
        </DecisionBar>
      }
    >
      {question ? <Quote by={who} text={question} /> : null}
      {isTalk ? null : <TurnSays row={row} />}
    </CardFrame>
  );
}

/** The record of the turn, where the row itself says too little: what it was told, and what it said last. */
function TurnSays({ row, isOpen = false }: Pick<CardProps, 'row'> & { readonly isOpen?: boolean }): ReactNode {
  const record = useLook<TurnRecord & Readonly<Record<string, unknown>>>(
    row.cast === null || row.turn === null ? null : 'cast.turn',
    { cast: row.cast ?? '', turn: row.turn ?? 0 },
    ['turn.', 'attempt.'],
  );
  const { details } = record;
  if (!details) return null;
  const attempts = Array.isArray(details.attempts) ? (details.attempts as Readonly<Record<string, unknown>>[]) : [];
  const last = attempts.at(-1);
  const said = [last?.output, last?.said, last?.text].find(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  const told = [last?.brief, details.brief].find((each): each is string => typeof each === 'string' && each !== '');
  return (
    <>
      {said ? (
        <details className="card-more" open={isOpen}>
          <summary>Its whole report</summary>
          <Source text={said} label="what the agent said" />
        </details>
      ) : null}
      {told && !said ? <Source text={told} title="What this turn is about" label="the brief" /> : null}
    </>
  );
}

const CHOICES = {
  accept: ['It ran, accept it', 'The cast goes on as if the turn had answered.'],
  skip: ['Send on without an answer', 'The agent is told that no answer comes.'],
  rerun: ['Run it once more', 'The turn is dispatched again. What it did before may happen twice.'],
  fail: ['Give it up', 'The cast fails with this turn. It can be recast later.'],
} as const;
type ChoiceName = keyof typeof CHOICES;

/** What can be decided about a turn, each choice with what follows. */
function Decide({
  row,
  decision,
  offline,
  choices,
  kind = 'plain',
}: {
  row: CardProps['row'];
  decision: ReturnType<typeof useDecision>;
  offline: string | undefined;
  choices: readonly ChoiceName[];
  kind?: 'plain' | 'primary';
}): ReactNode {
  const isInert = useInert(row.id);
  return choices.map((name, n) => {
    // An agent that asks goes on without an answer by the same word.
    const choice = name === 'skip' ? 'rerun' : name;
    return (
      <Button
        key={name}
        isBig
        kind={n === 0 ? kind : 'plain'}
        refused={offline ?? (isInert ? 'In a moment.' : undefined)}
        busy={decision.busy === `cast.decide ${choice}` && 'Deciding…'}
        onPress={() =>
          void decision.decide({
            operation: 'cast.decide',
            input: { turn: `${row.cast}:${row.turn}`, choice, detach: true },
          })
        }
      >
        {CHOICES[name][0]}
      </Button>
    );
  });
}

export function UnknownCard({ row, isGone }: CardProps): ReactNode {
  const decision = useDecision();
  const offline = useOffline();
  const [output, setOutput] = useState('');
  const isInert = useInert(row.id);
  const turn = `${row.cast}:${row.turn}`;
  const accept = {
    turn,
    choice: 'accept',
    detach: true,
    ...(output.trim() === '' ? {} : { output: output.trim() }),
  };
  const reason = row.reason;
  return (
    <CardFrame
      row={row}
      title={<Foreign text={titleOf(row)} />}
      bar={
        <DecisionBar
          {...{
            row,
            isGone,
            decision,
            needs: 'cast.decide',
            copies: { operation: 'cast.decide', input: { turn, choice: 'rerun' } },
          }}
        >
          <Button
            kind="primary"
            isBig
            refused={offline ?? (isInert ? 'In a moment.' : undefined)}
            onPress={() => void decision.decide({ operation: 'cast.decide', input: accept })}
          >
            {CHOICES.accept[0]}
          </Button>
          <Decide {...{ row, decision, offline }} choices={['rerun', 'fail']} />
        </DecisionBar>
      }
    >
      <VerdictBlock kind="unknown" title="Outcome unknown: did it run?">
        {reason ? (
          <Foreign text={sentence(reason)} />
        ) : (
          'It was cut off. Look at what it does in the world before you decide.'
        )}
      </VerdictBlock>
      <Facts
        rows={(['accept', 'rerun', 'fail'] as const).map((each) => [CHOICES[each][0], CHOICES[each][1]] as const)}
      />
      <AreaField
        label="What it answered, if you accept it. Optional."
        rows={3}
        isMono
        value={output}
        onChange={setOutput}
      />
      <TurnSays row={row} />
    </CardFrame>
  );
}

/** An agent that reported that it cannot go on, an edge that was taken as often as it may be, or a cast that stands still. */
export function BlockedCard({ row, isGone }: CardProps): ReactNode {
  const decision = useDecision();
  const offline = useOffline();
  const isInert = useInert(row.id);
  const [answer, setAnswer] = useState('');
  const hears = row.kind === 'blocked' && row.turn !== null;
  const goOn = { cast: row.cast, detach: true, ...(row.kind === 'spent' ? { extend: true } : {}) };
  const say = { cast: row.cast, turn: row.turn, answer: answer.trim(), detach: true };
  const waits = offline ?? (isInert ? 'In a moment.' : undefined);
  const act = hears ? { operation: 'cast.answer', input: say } : { operation: 'cast.continue', input: goOn };
  return (
    <CardFrame
      row={row}
      title={<Foreign text={titleOf(row)} />}
      bar={
        <DecisionBar {...{ row, isGone, decision, needs: act.operation, copies: act }}>
          {hears ? (
            <>
              <div className="bar-form">
                <AreaField label="Tell it how to go on" rows={3} value={answer} onChange={setAnswer} />
              </div>
              <Button
                kind="primary"
                isBig
                refused={waits ?? (answer.trim() === '' ? 'Write what it should know first.' : undefined)}
                onPress={() => void decision.decide(act)}
              >
                Answer
              </Button>
              <Decide {...{ row, decision, offline }} choices={['rerun', 'fail']} />
            </>
          ) : (
            <Button kind="primary" isBig refused={waits} onPress={() => void decision.decide(act)}>
              {row.kind === 'spent' ? 'Allow as many rounds again' : 'Continue'}
            </Button>
          )}
        </DecisionBar>
      }
    >
      <VerdictBlock
        kind="waits"
        title={
          row.kind === 'spent'
            ? 'The cast waits until you allow more rounds.'
            : `${row.socket ?? 'The cast'} cannot go on.`
        }
        code={row.code ?? null}
      >
        {row.reason ? <Foreign text={sentence(row.reason)} /> : null}
      </VerdictBlock>
      <TurnSays row={row} isOpen={row.kind === 'spent'} />
    </CardFrame>
  );
}

export function ParkedCard({ row, isGone }: CardProps): ReactNode {
  const decision = useDecision();
  const offline = useOffline();
  const isInert = useInert(row.id);
  const [note, setNote] = useState('');
  const [reason, setReason] = useState('');
  const [isDropping, setDropping] = useState(false);
  const [withOthers, setWithOthers] = useState(false);
  const { item } = row;
  const word = `${row.cast}:${row.key ?? item?.n ?? ''}`;
  const dependents = decision.refusal?.details.dependents;
  const drop = {
    item: word,
    reason: reason.trim(),
    detach: true,
    ...(withOthers ? { yes: true } : {}),
  };
  const retry = { item: word, detach: true, ...(note.trim() === '' ? {} : { note: note.trim() }) };
  return (
    <CardFrame
      row={row}
      title="This item is parked"
      bar={
        <DecisionBar
          {...{ row, isGone, decision, needs: 'cast.retry' }}
          copies={isDropping ? { operation: 'cast.drop', input: drop } : { operation: 'cast.retry', input: retry }}
        >
          {isDropping ? (
            <div className="bar-form">
              <AreaField label="Why is it left out?" rows={2} value={reason} onChange={setReason} />
              {Array.isArray(dependents) ? (
                <Check label="Also the tasks that depend on it" isOn={withOthers} onChange={setWithOthers} />
              ) : null}
              <div className="bar-acts">
                <Button
                  kind="primary"
                  isBig
                  refused={offline ?? (reason.trim() === '' ? 'Say why first.' : undefined)}
                  onPress={() => void decision.decide({ operation: 'cast.drop', input: drop })}
                >
                  Drop it
                </Button>
                <Button isBig onPress={() => setDropping(false)}>
                  Back
                </Button>
              </div>
            </div>
          ) : (
            <>
              <div className="bar-form">
                <AreaField label="A note for the next agent. Optional." rows={2} value={note} onChange={setNote} />
              </div>
              <Button
                kind="primary"
                isBig
                refused={offline ?? (isInert ? 'In a moment.' : undefined)}
                busy={decision.busy === 'cast.retry' && 'Retrying…'}
                onPress={() => void decision.decide({ operation: 'cast.retry', input: retry })}
              >
                Retry
              </Button>
              <Button isBig onPress={() => setDropping(true)}>
                Drop…
              </Button>
            </>
          )}
        </DecisionBar>
      }
    >
      <VerdictBlock kind="unsatisfied" title="It was rejected as often as it may be.">
        The other items go on. It waits for you.
      </VerdictBlock>
      {row.reason ? <Quote by={row.socket ?? 'the reviewer'} text={row.reason} /> : null}
      <Facts
        rows={[
          [
            'Retry',
            'Its kept work is merged back, and the edge may be taken as often again. The agent reads your note.',
          ],
          ['Drop', 'The item is left out. What depends on it is named first, and left out with it.'],
        ]}
      />
    </CardFrame>
  );
}

type Memory = {
  readonly id: string;
  readonly status: string;
  readonly text?: string;
  readonly section?: string | null;
  readonly at?: string;
  readonly [member: string]: unknown;
};

export function MemoryCard({ row, isGone }: CardProps): ReactNode {
  const decision = useDecision();
  const offline = useOffline();
  const isInert = useInert(row.id);
  const list = useLook<{ readonly memory: readonly Memory[] }>('memory.list', {}, ['memory.']);
  const { id } = row;
  const entry = list.details?.memory.find((each) => each.id === id);
  const text = row.title;
  const section = entry?.section ?? '';
  const accept = { id, ...(section ? { section } : {}) };
  const refused = offline ?? (isInert ? 'In a moment.' : undefined);
  return (
    <CardFrame
      row={row}
      title={<Foreign text={titleOf(row)} />}
      bar={
        <DecisionBar
          {...{ row, isGone, decision, needs: 'memory.accept', copies: { operation: 'memory.accept', input: accept } }}
        >
          <Button
            kind="primary"
            isBig
            refused={refused}
            onPress={() => void decision.decide({ operation: 'memory.accept', input: accept })}
          >
            Accept
          </Button>
          <Button
            isBig
            refused={refused}
            onPress={() => void decision.decide({ operation: 'memory.drop', input: { id } })}
          >
            Drop
          </Button>
        </DecisionBar>
      }
    >
      <Quote by={row.socket ?? 'the agent'} text={text} />
      <Facts
        rows={[
          section ? ['Section', <Foreign key="s" text={section} />] : null,
          ['Accept', section ? 'Later turns that may read the section get it.' : 'All later turns get it.'],
          ['Drop', 'It is not taken, and it is not suggested again.'],
        ]}
      />
    </CardFrame>
  );
}

type Pin = { readonly version: string; readonly hash: string };
type Blocked = {
  readonly key: string;
  readonly agent: string | null;
  readonly hash: string | null;
  readonly code: string;
  readonly reason: string;
  readonly pin: Pin | null;
  readonly present: Pin | null;
  readonly since: string;
  readonly times: number;
};
type Problems = {
  readonly problems: readonly { readonly agent?: string | null; readonly code?: string; readonly message: string }[];
};

const OUTCOMES = [
  ['', 'Not said'],
  ['tampering', 'Somebody tampered with it'],
  ['stale_sender', 'The sender was out of date'],
  ['legitimate_change', 'The change is right'],
  ['checkout_artifact', 'The checkout changed bytes'],
  ['harmless', 'Harmless'],
] as const;

/** The card says whom it is about. */
const withoutName = (reason: string, agent: string | null): string =>
  agent !== null && reason.startsWith(`${agent}: `) ? reason.slice(agent.length + 2) : reason;

const HASH_CHARS = 12;

function PinWords({ pin: { version, hash } }: { pin: Pin }): ReactNode {
  return (
    <>
      version <Foreign text={version} /> <code>{hash.slice(0, HASH_CHARS)}</code>
    </>
  );
}

export function QuarantineCard({ row, isGone }: CardProps): ReactNode {
  const decision = useDecision();
  const offline = useOffline();
  const isInert = useInert(row.id);
  const [reason, setReason] = useState('');
  const [outcome, setOutcome] = useState('');
  const list = useLook<{ readonly blocked: readonly Blocked[] }>('registry.quarantine', {}, [
    'quarantine.',
    'registry.',
  ]);
  const check = useLook<Problems>('registry.verify', {}, ['registry.']);
  const { id } = row;
  const blocked = list.details?.blocked.find(({ key, agent }) => key === id || agent === id);
  const problems = (
    check.details?.problems ??
    (check.refusal?.details.problems as Problems['problems'] | undefined) ??
    []
  ).filter(({ agent }) => blocked?.agent === null || agent === undefined || agent === null || agent === blocked?.agent);
  const agrees = check.details !== undefined && problems.length === 0;
  const input = { id, reason: reason.trim(), ...(outcome ? { outcome } : {}) };
  const refused =
    offline ??
    (agrees
      ? reason.trim() === ''
        ? 'Say why first.'
        : isInert
          ? 'In a moment.'
          : undefined
      : 'Manifest, lock and prompt do not agree yet.');
  return (
    <CardFrame
      row={row}
      title={<Foreign text={titleOf(row)} />}
      bar={
        <DecisionBar
          {...{ row, isGone, decision, needs: 'registry.release', copies: { operation: 'registry.release', input } }}
        >
          <div className="bar-form">
            <AreaField label="Why may it run again?" rows={2} value={reason} onChange={setReason} />
            <Choice label="What you found" value={outcome} of={OUTCOMES} onChange={setOutcome} />
          </div>
          <Button
            kind="primary"
            isBig
            refused={refused}
            onPress={() => void decision.decide({ operation: 'registry.release', input })}
          >
            Release
          </Button>
        </DecisionBar>
      }
    >
      <VerdictBlock kind="refused" title="Nothing runs on it until a person releases it." code={blocked?.code ?? null}>
        {blocked ? <Foreign text={sentence(withoutName(blocked.reason, blocked.agent))} /> : null}
      </VerdictBlock>
      <Facts
        rows={[
          blocked
            ? ['Blocked', `${exactly(blocked.since)}, ${blocked.times === 1 ? 'once' : `${blocked.times} times`}`]
            : null,
          blocked?.pin ? ['Locked', <PinWords key="l" pin={blocked.pin} />] : null,
          blocked?.agent
            ? [
                'Present',
                blocked.present ? (
                  <span key="p">
                    <PinWords pin={blocked.present} />
                    {blocked.present.hash === blocked.pin?.hash ? ', as locked' : blocked.pin ? ', not as locked' : ''}
                  </span>
                ) : (
                  'Its prompt cannot be read.'
                ),
              ]
            : null,
          blocked?.hash ? ['Claimed', <code key="c">{blocked.hash.slice(0, HASH_CHARS)}</code>] : null,
          [
            'Now',
            agrees ? (
              'Manifest, lock and prompt agree.'
            ) : (
              <ul key="n" className="plain-list">
                {problems.map(({ message, code }) => (
                  <li key={message}>
                    <ForeignLines text={sentence(message)} />
                    {code ? <CodeChip code={code} /> : null}
                  </li>
                ))}
                {problems.length === 0 ? <li>The registry is being read.</li> : null}
              </ul>
            ),
          ],
          agrees || problems.length === 0
            ? null
            : [
                'Next',
                <span key="x">
                  Put back what was locked, or accept the change: <code>baton registry accept</code>
                </span>,
              ],
        ]}
      />
    </CardFrame>
  );
}
