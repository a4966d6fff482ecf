// What was decided, what follows, and what can be done. The code comes last, with its explanation.
import { type ReactNode, useId, useState } from 'react';
import type { Refusal } from '../api.ts';
import { useLook } from '../workspace.ts';
import { Foreign } from './text.tsx';
import './verdict.css';

type VerdictKind = 'refused' | 'unsatisfied' | 'accepted' | 'waits' | 'unknown';

export function VerdictBlock({
  kind,
  title,
  children,
  code,
}: {
  kind: VerdictKind;
  title: ReactNode;
  children?: ReactNode;
  code?: string | null;
}): ReactNode {
  return (
    <section className={`verdict verdict-${kind}`}>
      <p className="verdict-title">{title}</p>
      {children ? <div className="verdict-body">{children}</div> : null}
      {code ? <CodeChip code={code} /> : null}
    </section>
  );
}

/** A refusal as it was answered: at the place of the act, never only in passing. */
export function RefusalBlock({ refusal }: { refusal: Refusal }): ReactNode {
  return (
    <div role="alert">
      <VerdictBlock kind="refused" title={<Foreign text={sentence(refusal.reason)} />} code={refusal.code} />
    </div>
  );
}

export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** A code with what it means. The meaning is looked up when somebody asks. */
export function CodeChip({ code }: { code: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const known = !['UNREACHABLE', 'ANSWER_UNREADABLE', 'STOPPED'].includes(code);
  return (
    <span className="code-chip">
      <code>{code}</code>
      {known ? (
        <button
          type="button"
          className="link"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          What this code means
        </button>
      ) : null}
      {isOpen ? <Meaning id={id} code={code} /> : null}
    </span>
  );
}

function Meaning({ id, code }: { id: string; code: string }): ReactNode {
  const { details, refusal } = useLook<Readonly<Record<string, unknown>>>('explain', { code });
  const lines = details ? textsOf(details) : [];
  return (
    <span id={id} className="code-meaning">
      {refusal
        ? refusal.reason
        : lines.length === 0
          ? 'Looking it up…'
          : lines.map((line) => <span key={line}>{line}</span>)}
    </span>
  );
}

function textsOf(details: Readonly<Record<string, unknown>>): readonly string[] {
  const wanted = ['means', 'help', 'fix', 'hint'].map((name) => details[name]);
  return wanted.filter((each): each is string => typeof each === 'string' && each !== '').map(sentence);
}
