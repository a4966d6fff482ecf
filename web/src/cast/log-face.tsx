// Every entry of the cast, the newest first. Choosing one looks back to it.
import { type ReactNode, useMemo, useState } from 'react';
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import { Segments } from '../parts/button.tsx';
import { Empty, LoadingRows } from '../parts/states.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { clockSeconds, count } from '../words.ts';
import { sentenceOf } from './entry-words.tsx';
import type { LogLine } from './follow.ts';

type Wanted = 'all' | 'turning' | 'cast';

export function LogFace({
  page,
  log,
  at,
  isWhole,
  onAt,
  onTurn,
}: {
  page: CastPage;
  log: readonly LogLine[];
  at: number | null;
  isWhole: boolean;
  onAt: (seq: number | null) => void;
  onTurn: (turn: number) => void;
}): ReactNode {
  const [wanted, setWanted] = useState<Wanted>('all');
  const rows = useMemo(() => {
    const fits = ({ kind, isTurning }: LogLine): boolean =>
      wanted === 'all' || (wanted === 'turning' ? isTurning : kind.startsWith('cast.') || kind.startsWith('approval.'));
    return log.filter(fits).toReversed();
  }, [log, wanted]);
  const head = log.at(-1)?.seq ?? 0;
  return (
    <div className="face">
      <div className="face-head">
        <Segments
          label="Which entries"
          of={[
            ['all', `All ${count(log.length)}`],
            ['turning', 'Refusals and rework'],
            ['cast', 'The cast'],
          ]}
          chosen={wanted}
          onChoose={setWanted}
        />
        <span className="face-count face-hint">An entry looks back</span>
      </div>
      {rows.length === 0 ? (
        isWhole ? (
          <Empty>Nothing of this kind happened.</Empty>
        ) : (
          <LoadingRows what="The log" />
        )
      ) : null}
      <VirtualList rows={rows} height={28} label="Entries" name={`log ${page.cast}`} keyOf={({ seq }) => String(seq)}>
        {(line) => (
          <div
            className={`log-line${line.seq === (at ?? head) ? ' log-here' : ''}${line.isTurning ? ' log-turning' : ''}`}
          >
            <button
              type="button"
              className="log-open"
              aria-current={line.seq === at ? 'true' : undefined}
              onClick={() => onAt(line.seq >= head ? null : line.seq)}
            >
              <span className="log-line-seq">{count(line.seq)}</span>
              <time>{clockSeconds(line.at)}</time>
              <span className="log-says">{sentenceOf(line, page)}</span>
            </button>
            {line.turn === null ? null : (
              <button type="button" className="link log-turn" onClick={() => onTurn(line.turn ?? 0)}>
                turn {line.turn}
              </button>
            )}
          </div>
        )}
      </VirtualList>
    </div>
  );
}
