// What every view shows when there is nothing, nothing yet, or a refusal.
import { type ReactNode, useEffect, useState } from 'react';
import type { Refusal } from '../api.ts';
import { copy } from '../command.ts';
import { Button } from './button.tsx';
import { RefusalBlock } from './verdict.tsx';
import './states.css';

/** What will appear here, and the one thing to do. */
export function Empty({ children, act }: { children: ReactNode; act?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <p>{children}</p>
      {act ? <div className="empty-acts">{act}</div> : null}
    </div>
  );
}

const WIDTHS = ['w60', 'w40', 'w70', 'w50', 'w30'];

/** Bars where rows will be. They come late: an answer that is quick shows no flicker. */
export function LoadingRows({ rows = 4, what }: { rows?: number; what: string }): ReactNode {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status" aria-label={`${what} is read`}>
      {isLate
        ? Array.from({ length: rows }, (_, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: bars have nothing else
            <span key={n} className={`bar ${WIDTHS[n % WIDTHS.length]}`} />
          ))
        : null}
    </div>
  );
}

/** An answer that is a refusal. The rest of the view stays usable. */
export function Problem({ refusal, onRetry }: { refusal: Refusal; onRetry: () => void }): ReactNode {
  return (
    <div className="problem">
      <RefusalBlock refusal={refusal} />
      <div className="problem-acts">
        <Button onPress={onRetry}>Try again</Button>
        <Button kind="quiet" icon="copy" onPress={() => void copy(JSON.stringify(refusal, null, 2))}>
          Copy details
        </Button>
      </div>
    </div>
  );
}

/** The answer of a question, in whichever of these states it is. What was read before stays while it is asked again. */
export function Answered<D>({
  answer,
  what,
  rows,
  children,
}: {
  answer: { details: D | undefined; refusal: Refusal | undefined; refresh: () => void };
  what: string;
  rows?: number;
  children: (details: D) => ReactNode;
}): ReactNode {
  const { details, refusal, refresh } = answer;
  return (
    <>
      {refusal ? <Problem refusal={refusal} onRetry={refresh} /> : null}
      {details === undefined ? (
        refusal ? null : (
          <LoadingRows what={what} {...(rows ? { rows } : {})} />
        )
      ) : (
        children(details)
      )}
    </>
  );
}
