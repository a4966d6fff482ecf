// Every entry of the cast, the newest first. Choosing one looks back to it.
import { type ReactNode, useMemo, useState } from 'react';
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import type { LogList } from '../../../src/app/views/cast-timeline.ts';
import { Segments } from '../parts/button.tsx';
import { Empty } from '../parts/states.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { clockSeconds, count } from '../words.ts';
import { type CastLog, useLines } from './cast-log.ts';
import { sentenceOf } from './entry-words.tsx';

type Wanted = Exclude<LogList, 'turns'>;

export function LogFace({
  page,
  log,
  at,
  onAt,
  onTurn,
}: {
  page: CastPage;
  log: CastLog;
  at: number | null;
  onAt: (seq: number | null) => void;
  onTurn: (turn: number) => void;
}): ReactNode {
  const [wanted, setWanted] = useState<Wanted>('all');
  const { counts } = page.timeline;
  const total = counts[wanted];
  // The newest first: its place in the list is the last.
  const places = useMemo(() => Array.from({ length: total }, (_, n) => total - 1 - n), [total]);
  return (
    <div className="face">
      <div className="face-head">
        <Segments
          label="Which entries"
          of={[
            ['all', `All ${count(counts.all)}`],
            ['turning', 'Refusals and rework'],
            ['cast', 'The cast'],
          ]}
          chosen={wanted}
          onChoose={setWanted}
        />
        <span className="face-count face-hint">An entry looks back</span>
      </div>
      {total === 0 ? <Empty>Nothing of this kind happened.</Empty> : null}
      <VirtualList rows={places} height={28} label="Entries" name={`log ${wanted} ${page.cast}`} keyOf={String}>
        {(place) => <Line {...{ page, log, at, onAt, onTurn, place, list: wanted }} />}
      </VirtualList>
    </div>
  );
}

type LineProps = {
  readonly page: CastPage;
  readonly log: CastLog;
  readonly list: Wanted;
  readonly place: number;
  readonly at: number | null;
  readonly onAt: (seq: number | null) => void;
  readonly onTurn: (turn: number) => void;
};

function Line({ page, log, list, place, at, onAt, onTurn }: LineProps): ReactNode {
  useLines(log);
  const line = log.at(list, place);
  if (line === null) return <div className="log-line log-reading" aria-hidden="true" />;
  const { seq, turn } = line;
  return (
    <div className={`log-line${seq === (at ?? page.seq) ? ' log-here' : ''}${line.isTurning ? ' log-turning' : ''}`}>
      <button
        type="button"
        className="log-open"
        aria-current={seq === at ? 'true' : undefined}
        onClick={() => onAt(seq >= page.seq ? null : seq)}
      >
        <span className="log-line-seq">{count(seq)}</span>
        <time>{clockSeconds(line.at)}</time>
        <span className="log-says">{sentenceOf(line, page)}</span>
      </button>
      {turn === null ? null : (
        <button type="button" className="link log-turn" onClick={() => onTurn(turn)}>
          turn {turn}
        </button>
      )}
    </div>
  );
}
