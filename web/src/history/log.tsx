// The log as sentences, the newest entry first. Above it stands whether the history was verified, and what came of it.
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { storyteller } from '../../../src/cli/story.ts';
import type { Entry as StoredEntry } from '../../../src/kernel/fact.ts';
import { call, type Entry, look, type Verdict } from '../api.ts';
import { commandOf } from '../command.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { CloseButton, Pane } from '../parts/pane.tsx';
import { Source } from '../parts/source.tsx';
import { Empty, LoadingRows, Problem } from '../parts/states.tsx';
import { Name } from '../parts/text.tsx';
import { CodeChip, RefusalBlock } from '../parts/verdict.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { castPath, go, turnPath, useRoute, withQuery } from '../router.ts';
import { CAST_CHANGES, type CastRow } from '../shell/overview.ts';
import { useVerified, verifyHistory } from '../shell/verified.ts';
import { clock, clockSeconds, count, day, exactly, inLine, plural } from '../words.ts';
import { refreshAll, useEntries, useLook, useMay, useOperation, useWorkspace } from '../workspace.ts';

const KINDS = [
  ['', 'Everything'],
  ['cast.', 'Casts'],
  ['turn.', 'Turns'],
  ['attempt.', 'Attempts'],
  ['approval.', 'Permissions'],
  ['task.', 'Tasks'],
  ['quarantine.', 'Blocked agents'],
  ['registry.', 'Registry'],
  ['memory.', 'Memory'],
] as const;
const PAGE = 500;

export function Log(): ReactNode {
  const { query } = useRoute();
  const [kind, cast, chosen] = [query.get('kind') ?? '', query.get('cast') ?? '', Number(query.get('entry')) || null];
  const casts = useLook<{ readonly casts: readonly CastRow[] }>('cast.list', { limit: 200 }, CAST_CHANGES);
  const { rows, fresh, isRead, verdict, more, isEnd, showFresh } = useLog(kind, cast);
  const told = useMemo(() => tell(rows), [rows]);
  const requests = useMemo(() => new Map(casts.details?.casts.map((row) => [row.cast, row.request])), [casts.details]);
  const seq = useWorkspace('seq');
  const at = rows.findIndex((row) => row.seq === chosen);
  const open = rows[at] ?? null;
  const choose = (entry: Entry | undefined): void => go(withQuery({ entry: entry?.seq }), { replace: true });
  const move = (by: number): void => choose(rows[Math.max(0, Math.min(rows.length - 1, at + by))]);
  const total = isEnd || kind || cast ? rows.length : seq;
  useKeys('Log', [
    { keys: 'j', says: 'The entry before', run: () => move(1) },
    { keys: 'ArrowDown', says: 'The entry before', run: () => move(1) },
    { keys: 'k', says: 'The entry after', run: () => move(-1) },
    { keys: 'ArrowUp', says: 'The entry after', run: () => move(-1) },
    ...(open ? [{ keys: 'Escape', says: 'Close the entry', run: () => choose(undefined) }] : []),
  ]);
  return (
    <div className="view-body">
      <div className="log-main">
        <Verification />
        <div className="filters">
          <select
            className="of-cast"
            aria-label="Entries of"
            value={cast}
            onChange={(event) => go(withQuery({ cast: event.target.value, entry: undefined }))}
          >
            <option value="">All casts</option>
            {(casts.details?.casts ?? []).map((row) => (
              <option key={row.cast} value={row.cast}>
                {inLine(row.request).slice(0, 60)}
              </option>
            ))}
          </select>
          <fieldset className="chips">
            <legend className="unseen">Kinds</legend>
            {KINDS.map(([value, says]) => (
              <button
                key={value}
                type="button"
                className="chip"
                aria-pressed={value === kind}
                onClick={() => go(withQuery({ kind: value, entry: undefined }))}
              >
                {says}
              </button>
            ))}
          </fieldset>
          {cast ? <Bundle cast={cast} /> : null}
          {fresh > 0 ? (
            <Button className="fresh" onPress={showFresh}>
              {count(fresh)} new
            </Button>
          ) : null}
        </div>
        {verdict && !verdict.allow ? (
          <div className="page-missing">
            <Problem refusal={verdict} onRetry={refreshAll} />
          </div>
        ) : !isRead ? (
          <div className="page-missing">
            <LoadingRows what="The log" rows={8} />
          </div>
        ) : rows.length === 0 ? (
          <div className="page-missing">
            <Empty>{kind || cast ? 'No entry fits this filter.' : 'The log starts with your first cast.'}</Empty>
          </div>
        ) : (
          <VirtualList
            rows={rows}
            total={total}
            height={28}
            label="Log"
            name={`log ${kind} ${cast}`}
            keyOf={(row) => String(row.seq)}
            selected={at}
            onNearEnd={more}
          >
            {(row, n) => (
              <Row
                row={row}
                sentence={(told.get(row.seq) ?? '').replace(`cast ${row.fact.cast} `, 'the cast ')}
                isChosen={row.seq === chosen}
                request={cast === '' ? (requests.get(String(row.fact.cast ?? row.fact.run)) ?? '') : null}
                isNewDay={day(row.at) !== (rows[n - 1] ? day(rows[n - 1]?.at ?? 0) : '')}
                onChoose={() => choose(row)}
              />
            )}
          </VirtualList>
        )}
      </div>
      {open ? (
        <Pane name="entry" label="Entry" width={420} onClose={() => choose(undefined)}>
          <EntryDetail entry={open} sentence={told.get(open.seq) ?? ''} onClose={() => choose(undefined)} />
        </Pane>
      ) : null}
    </div>
  );
}

/** The log from its end. Entries that come while somebody reads wait behind their number. */
function useLog(kind: string, cast: string) {
  const key = JSON.stringify([kind, cast]);
  const [kept, setKept] = useState<{ key: string; rows: readonly Entry[]; isEnd: boolean }>({
    ...{ key: '', rows: [], isEnd: false },
  });
  const [fresh, setFresh] = useState<readonly Entry[]>([]);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const isReading = useRef(false);
  const read = useCallback(
    async (before?: number) => {
      if (isReading.current) return;
      isReading.current = true;
      const [wantedKind, wantedCast] = JSON.parse(key) as [string, string];
      const answer = await look<{ readonly entries: readonly Entry[] }>('log', {
        ...{ last: PAGE, short: true, kind: wantedKind, cast: wantedCast },
        before: before ?? 2 ** 31,
      });
      isReading.current = false;
      setVerdict(answer as Verdict);
      if (!answer.allow) return;
      const page = answer.details.entries.toReversed();
      const isEnd = page.length < PAGE;
      setKept((old) => ({ key, rows: before === undefined || old.key !== key ? page : [...old.rows, ...page], isEnd }));
      if (before === undefined) setFresh([]);
    },
    [key],
  );
  useEffect(() => {
    isReading.current = false;
    void read();
  }, [read]);
  const follow = useMemo(
    () => ({
      onEntries(entries: readonly Entry[]) {
        const [wantedKind, wantedCast] = JSON.parse(key) as [string, string];
        const fits = entries.filter(
          ({ fact }) => fact.kind.startsWith(wantedKind) && (wantedCast === '' || fact.cast === wantedCast),
        );
        if (fits.length > 0) setFresh((old) => [...old, ...fits].slice(-PAGE));
      },
    }),
    [key],
  );
  useEntries(follow);
  const isRead = kept.key === key;
  const rows = isRead ? kept.rows : [];
  const newest = rows[0]?.seq ?? 0;
  const waiting = fresh.filter(({ seq }) => seq > newest);
  const oldest = rows.at(-1)?.seq;
  const { isEnd } = kept;
  const more = useCallback(() => {
    if (oldest !== undefined && !isEnd) void read(oldest);
  }, [oldest, isEnd, read]);
  return { rows, isRead, verdict, isEnd, fresh: waiting.length, more, showFresh: () => void read() };
}

/** Each entry as a sentence. Texts that are not here are told by how they begin. */
function tell(rows: readonly Entry[]): ReadonlyMap<number, string> {
  const told = storyteller();
  const all = new Map<number, string>();
  for (const entry of rows.toReversed()) {
    try {
      all.set(entry.seq, told(withPreviews(entry) as unknown as StoredEntry));
    } catch {
      all.set(entry.seq, entry.fact.kind);
    }
  }
  return all;
}

function withPreviews(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPreviews);
  if (typeof value !== 'object' || value === null) return value;
  const { digest, seq, bytes, preview } = value as Record<string, unknown>;
  if (typeof preview === 'string' && typeof digest === 'string' && seq !== undefined && bytes !== undefined)
    return `${preview}…`;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withPreviews(each)]));
}

function codeOf({ fact }: Entry): string | null {
  const verdict = fact.verdict as { readonly code?: unknown } | undefined;
  const code = fact.code ?? verdict?.code;
  return typeof code === 'string' ? code : null;
}

function Row({
  row,
  sentence,
  request,
  isChosen,
  isNewDay,
  onChoose,
}: {
  row: Entry;
  sentence: string;
  /** Of its cast, where the list is of several casts. */
  request: string | null;
  isChosen: boolean;
  isNewDay: boolean;
  onChoose: () => void;
}): ReactNode {
  const code = codeOf(row);
  return (
    <button
      type="button"
      className={`log-row${request === null ? '' : ' log-of-all'}${isChosen ? ' selected' : ''}${isNewDay ? ' new-day' : ''}`}
      aria-pressed={isChosen}
      onClick={onChoose}
    >
      <span className="log-seq">{count(row.seq)}</span>
      <time className="quiet" dateTime={row.at} title={exactly(row.at)}>
        {isNewDay ? <b className="log-day">{day(row.at)}</b> : null} {clockSeconds(row.at)}
      </time>
      <Name text={row.by.replace(/^(?:user|token):/, '')} className="quiet log-by" />
      {request === null ? null : <Name text={request} className="quiet log-cast" />}
      <Name text={sentence} className="log-says" />
      {code ? <code className="log-code">{code}</code> : <span />}
    </button>
  );
}

function EntryDetail({ entry, sentence, onClose }: { entry: Entry; sentence: string; onClose: () => void }): ReactNode {
  const prove = useOperation('audit.prove');
  const [proof, setProof] = useState<Verdict | null>(null);
  const { fact, seq } = entry;
  const { cast, turn } = fact;
  const code = codeOf(entry);
  return (
    <div className="entry">
      <div className="entry-head">
        <h2>Entry {count(seq)}</h2>
        <CloseButton onClose={onClose} label="Close the entry" />
      </div>
      <p className="second">{sentence}</p>
      <p className="quiet">
        {exactly(entry.at)}, {entry.by.replace(/^(?:user|token):/, '')}, <code>{fact.kind}</code>
      </p>
      {code ? <CodeChip code={code} /> : null}
      <div className="entry-acts">
        {cast ? (
          <Button
            onPress={() =>
              go(typeof turn === 'number' ? `${turnPath(cast, turn)}?at=${seq}` : `${castPath(cast)}?at=${seq}`)
            }
          >
            {typeof turn === 'number' ? `Open turn ${turn}` : 'Open the cast'}
          </Button>
        ) : null}
        <Button onPress={() => void look('audit.prove', { seq }).then(setProof)}>Proof</Button>
        <CopyCommand command={commandOf(prove, { seq })} />
      </div>
      {proof ? (
        proof.allow ? (
          <Source text={JSON.stringify(proof.details, null, 2)} title="Proof that it is in the log" label="the proof" />
        ) : (
          <RefusalBlock refusal={proof} />
        )
      ) : null}
      <Source text={JSON.stringify(fact, null, 2)} title="As it is stored" label="the fact" />
    </div>
  );
}

/** One line about the whole history, and the button that checks it again. */
function Verification(): ReactNode {
  const verified = useVerified();
  const seq = useWorkspace('seq');
  const verify = useOperation('audit.verify');
  const [isBusy, setBusy] = useState(false);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const run = async (): Promise<void> => {
    setBusy(true);
    setVerdict(await verifyHistory(seq));
    setBusy(false);
  };
  const isBad = verdict !== null && !verdict.allow;
  return (
    <section className={`verification${isBad ? ' verification-bad' : ''}`} aria-label="Verification">
      <Glyph status={isBad ? 'failed' : verified?.isGood ? 'done' : 'open'} isQuiet />
      <p role="status">
        {isBad
          ? ''
          : verified?.isGood
            ? `History is as it was written. Verified ${clock(verified.at)}, ${plural(verified.entries, 'entry', 'entries')}.`
            : 'The history is not verified in this browser yet.'}
      </p>
      {isBad ? <RefusalBlock refusal={verdict} /> : null}
      <Button busy={isBusy && 'Verifying…'} onPress={() => void run()}>
        Verify
      </Button>
      <CopyCommand command={commandOf(verify, {})} isBare />
    </section>
  );
}

/** The cast as one file that anybody can verify offline. */
function Bundle({ cast }: { cast: string }): ReactNode {
  const may = useMay();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Verdict | null>(null);
  if (!may('export')) return null;
  const save = async (): Promise<void> => {
    setBusy(true);
    const verdict = await call<{ readonly bundle?: string }>('export', { cast });
    setBusy(false);
    if (!verdict.allow) return setRefusal(verdict);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([verdict.details.bundle ?? ''], { type: 'application/octet-stream' }));
    link.download = `${cast}.baton`;
    link.click();
    URL.revokeObjectURL(link.href);
    setRefusal(null);
  };
  return (
    <>
      <Button icon="download" busy={isBusy && 'Signing…'} onPress={() => void save()}>
        Download as evidence
      </Button>
      {refusal && !refusal.allow ? <RefusalBlock refusal={refusal} /> : null}
    </>
  );
}
