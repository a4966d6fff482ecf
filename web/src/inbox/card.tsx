// What waits, opened: what it is about, what a decision does, and the bar in which it is decided.

import { type ReactNode, useEffect, useState } from 'react';
import type { InboxRow } from '../../../src/app/views/cast-page.ts';
import { call, type Input, type Refusal, type Verdict } from '../api.ts';
import { commandOf } from '../command.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { ItemPill } from '../parts/items.tsx';
import { Foreign } from '../parts/text.tsx';
import { RefusalBlock, sentence } from '../parts/verdict.tsx';
import { castPath, linkTo, turnPath } from '../router.ts';
import { KINDS } from '../shell/overview.ts';
import { useNow } from '../shell/shell.tsx';
import { clock, duration, exactly } from '../words.ts';
import { refreshAll, useIsOnline, useMay, useOperation, useWorkspace } from '../workspace.ts';
import { ApprovalCard } from './approval.tsx';
import { BlockedCard, MemoryCard, ParkedCard, QuarantineCard, QuestionCard, UnknownCard } from './cards.tsx';

export type CardProps = { readonly row: InboxRow; readonly isGone: boolean };

export function Card(props: CardProps): ReactNode {
  const { row } = props;
  switch (row.kind) {
    case 'approval':
      return <ApprovalCard {...props} />;
    case 'question':
    case 'talk':
      return <QuestionCard {...props} />;
    case 'unknown':
      return <UnknownCard {...props} />;
    case 'blocked':
    case 'spent':
      return <BlockedCard {...props} />;
    case 'parked':
      return <ParkedCard {...props} />;
    case 'memory':
      return <MemoryCard {...props} />;
    case 'quarantine':
      return <QuarantineCard {...props} />;
  }
}

/** The frame of a card: title, item and cast, what it holds, and the bar below. */
export function CardFrame({
  row,
  title,
  children,
  bar,
}: {
  row: InboxRow;
  title: ReactNode;
  children: ReactNode;
  bar: ReactNode;
}): ReactNode {
  const now = useNow(true, 10_000);
  const { item } = row;
  return (
    <article className="card" aria-labelledby="card-title">
      <div className="card-scroll" tabIndex={0} role="group" aria-label="Request">
        <div className="card-head">
          <h2 id="card-title">
            <Glyph status={KINDS[row.kind].glyph} />
            <span>{title}</span>
          </h2>
          <time className="quiet nowrap" dateTime={row.since} title={exactly(row.since)}>
            asked {clock(row.since)}, {duration(now - Date.parse(row.since))} ago
          </time>
        </div>
        {item || row.cast ? (
          <p className="card-about">
            {item === null ? null : <ItemPill n={item.n} state="waits" title={item.title} />}
            {item ? <Foreign text={item.title} /> : null}
            {row.cast ? (
              <span className="quiet">
                {item ? 'of ' : null}
                <a {...linkTo(castPath(row.cast))} className="quiet-link">
                  <Foreign text={row.request ?? row.cast} />
                </a>
              </span>
            ) : null}
          </p>
        ) : null}
        {children}
      </div>
      {bar}
    </article>
  );
}

export type Act = {
  readonly operation: string;
  readonly input: Input;
};

/** Carries out a decision and keeps what came of it. */
export function useDecision(): {
  readonly verdict: Verdict | null;
  readonly refusal: Refusal | null;
  readonly busy: string | null;
  readonly decide: (act: Act) => Promise<Verdict | null>;
  readonly forget: () => void;
} {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const decide = async ({ operation, input }: Act): Promise<Verdict | null> => {
    if (busy !== null) return null;
    setBusy(operation);
    const answer = await call(operation, input);
    setBusy(null);
    setVerdict(answer);
    refreshAll();
    return answer;
  };
  const refusal = verdict && !verdict.allow ? verdict : null;
  return { verdict, refusal, busy, decide, forget: () => setVerdict(null) };
}

/**
 * The bar in which it is decided. After the decision a sentence stands there instead; so it does where somebody else
 * decided, or where this token may only look.
 */
export function DecisionBar({
  row,
  isGone,
  needs,
  decision,
  gone,
  copies,
  children,
}: {
  row: InboxRow;
  isGone: boolean;
  /** The operation that decides; a role that may not has no buttons. */
  needs: string;
  decision: ReturnType<typeof useDecision>;
  gone?: ReactNode;
  copies?: Act;
  children: ReactNode;
}): ReactNode {
  const may = useMay();
  const hello = useWorkspace('hello');
  const operation = useOperation(copies?.operation ?? needs);
  const { verdict, refusal, forget } = decision;
  const me = hello?.me.name ?? '';
  const open =
    row.cast !== null && row.turn !== null ? (
      <a {...linkTo(turnPath(row.cast, row.turn))} className="button button-quiet button-big">
        Open turn {row.turn}
      </a>
    ) : null;
  if (verdict?.allow)
    return (
      <div className="bar-decide" role="status">
        <p className="bar-says">
          <Glyph status="done" isQuiet />
          <Foreign text={sentence(verdict.reason === 'ok' ? `Decided by ${me}` : verdict.reason)} />
        </p>
        {open}
      </div>
    );
  if (isGone)
    return (
      <div className="bar-decide" role="status">
        <p className="bar-says">{gone ?? 'This no longer waits: it was decided elsewhere, or its turn ended.'}</p>
        {open}
      </div>
    );
  if (!may(needs))
    return (
      <div className="bar-decide">
        <p className="bar-says">A person with the role approver decides this.</p>
        {open}
      </div>
    );
  return (
    <div className="bar-decide">
      {refusal ? (
        <div className="bar-refusal">
          <RefusalBlock refusal={refusal} />
          <Button kind="quiet" onPress={forget}>
            Close
          </Button>
        </div>
      ) : null}
      <div className="bar-acts">
        {children}
        {open}
        <span className="grow" />
        <span className="quiet bar-me">Decides as {me}</span>
        <CopyCommand command={copies ? commandOf(operation, copies.input) : null} isBare />
      </div>
    </div>
  );
}

const INERT_MS = 600;

/** For a moment after a card opens, changes, or its window comes back, nothing can be decided by an accidental press. */
export function useInert(key: string): boolean {
  const [isInert, setInert] = useState(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another card
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const begin = (): void => {
      clearTimeout(timer);
      setInert(true);
      timer = setTimeout(() => setInert(false), INERT_MS);
    };
    begin();
    addEventListener('focus', begin);
    return () => {
      clearTimeout(timer);
      removeEventListener('focus', begin);
    };
  }, [key]);
  return isInert;
}

export function useOffline(): string | undefined {
  return useIsOnline() ? undefined : 'The line to the server is lost. Nothing can be decided until it is back.';
}
