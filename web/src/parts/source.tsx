// A text as it is: an output, a brief, a file. With line numbers, marks at exact places, a search in it, and a way to have
// all of it.
import { Fragment, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type Text, type TextAnswer, textOf } from '../api.ts';
import { copy } from '../command.ts';
import { bytes, count, inLine } from '../words.ts';
import { Button } from './button.tsx';
import { ForeignLines } from './text.tsx';
import './source.css';

/** A place in the text that something is said about. Offsets count characters as JavaScript does. */
export type Mark = {
  readonly n: number;
  readonly from: number;
  readonly to: number;
  readonly says: ReactNode;
  readonly path?: string;
  /** Something is missing here; this line is shown where it would be. */
  readonly ghost?: string;
  /** It was searched for; nothing is said about it. */
  readonly isFound?: true;
};

export type Tint = 'add' | 'remove' | 'plain' | 'head';

const LINES_FIRST = 2_000;
const BYTES_FIRST = 262_144;

export function Source({
  text,
  title,
  marks = [],
  tintOf,
  drawn,
  firstLine = 1,
  numbers,
  isStreaming = false,
  acts,
  onSeenAll,
  label,
}: {
  text: Text;
  title?: ReactNode;
  marks?: readonly Mark[];
  /** How a line is tinted, for a diff. */
  tintOf?: (line: string) => Tint;
  /** A line as it is shown where nothing is marked in it; else it is shown as it is. */
  drawn?: (line: string) => ReactNode;
  firstLine?: number;
  /** What stands before each line, where that is not simply its number. */
  numbers?: readonly string[];
  isStreaming?: boolean;
  acts?: ReactNode;
  /** Called once the last line was on screen. */
  onSeenAll?: () => void;
  label: string;
}): ReactNode {
  const [isWhole, setWhole] = useState(false);
  /** What is searched for; null while nobody searches. */
  const [wanted, setWanted] = useState<string | null>(null);
  const [foundAt, setFoundAt] = useState(0);
  const loaded = useText(text, isWhole);
  if (loaded.is === 'reading')
    return (
      <Frame title={title} acts={acts} label={label}>
        <p className="source-note">
          <ForeignLines text={typeof text === 'string' ? '' : text.preview} />…
        </p>
      </Frame>
    );
  if (loaded.is !== 'text')
    return (
      <Frame title={title} acts={acts} label={label}>
        <p className="source-note">{NOT_THERE[loaded.is]}</p>
      </Frame>
    );
  const left = typeof text === 'string' || isWhole ? 0 : Math.max(0, loaded.bytes - BYTES_FIRST);
  const found = foundIn(loaded.text, wanted ?? '');
  const next = (by: number): void => setFoundAt((foundAt + by + found.length) % Math.max(1, found.length));
  return (
    <Frame
      title={title}
      acts={
        <>
          {acts}
          {wanted === null ? (
            <Button kind="quiet" icon="search" label={`Find in ${inLine(label)}`} onPress={() => setWanted('')} />
          ) : (
            <span className="source-find">
              <input
                // biome-ignore lint/a11y/noAutofocus: the person asked for the field
                autoFocus
                type="search"
                aria-label={`Find in ${inLine(label)}`}
                placeholder="Find"
                value={wanted}
                onChange={(event) => {
                  setWanted(event.target.value);
                  setFoundAt(0);
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Enter') next(event.shiftKey ? -1 : 1);
                  if (event.key === 'Escape') {
                    event.preventDefault();
                    event.stopPropagation();
                    setWanted(null);
                  }
                }}
              />
              <span role="status">
                {wanted === '' ? '' : found.length === 0 ? 'none' : `${foundAt + 1} of ${count(found.length)}`}
              </span>
            </span>
          )}
          <Button kind="quiet" icon="copy" label={`Copy ${inLine(label)}`} onPress={() => void copy(loaded.text)} />
        </>
      }
      label={label}
    >
      <Lines
        {...{ text: loaded.text, marks, firstLine, isStreaming, isCut: left > 0 }}
        {...(wanted ? { found, foundAt } : {})}
        {...(tintOf ? { tintOf } : {})}
        {...(drawn ? { drawn } : {})}
        {...(numbers ? { numbers } : {})}
        {...(onSeenAll ? { onSeenAll } : {})}
      />
      {left > 0 ? (
        <button type="button" className="source-more" onClick={() => setWhole(true)}>
          {bytes(left)} more, load
        </button>
      ) : null}
    </Frame>
  );
}

const FOUND_MAX = 1_000;

function foundIn(text: string, wanted: string): readonly Mark[] {
  if (wanted === '') return [];
  const [all, word] = [text.toLowerCase(), wanted.toLowerCase()];
  const found: Mark[] = [];
  for (
    let from = all.indexOf(word);
    from >= 0 && found.length < FOUND_MAX;
    from = all.indexOf(word, from + word.length)
  )
    found.push({ n: found.length, from, to: from + word.length, says: null, isFound: true });
  return found;
}

const NOT_THERE = {
  erased: 'The text was erased. Its digest is kept in the log.',
  unknown: 'The log has no text with this digest.',
  unreachable: 'The server does not answer. The text is read when it is back.',
} as const;

/** A text by its digest, read when it is shown. */
export function useText(text: Text, isWhole = true): TextAnswer | { readonly is: 'reading' } {
  const [answer, setAnswer] = useState<TextAnswer | null>(null);
  const [digest, seq] = typeof text === 'string' ? [null, 0] : [text.digest, text.seq];
  useEffect(() => {
    if (digest === null) return;
    let isCurrent = true;
    void textOf({ digest, seq }, isWhole ? undefined : BYTES_FIRST).then((each) => isCurrent && setAnswer(each));
    return () => {
      isCurrent = false;
    };
  }, [digest, seq, isWhole]);
  return useMemo(
    () => (typeof text === 'string' ? { is: 'text', text, bytes: text.length } : (answer ?? { is: 'reading' })),
    [text, answer],
  );
}

function Frame({
  title,
  acts,
  label,
  children,
}: {
  title: ReactNode;
  acts: ReactNode;
  label: string;
  children: ReactNode;
}): ReactNode {
  return (
    <section className="source" aria-label={inLine(label)}>
      {title || acts ? (
        <div className="source-head">
          <div className="source-title">{title}</div>
          <div className="source-acts">{acts}</div>
        </div>
      ) : null}
      {children}
    </section>
  );
}

function Lines({
  text,
  marks: said,
  found = NOTHING_FOUND,
  foundAt = 0,
  tintOf,
  drawn,
  firstLine,
  numbers,
  isStreaming,
  isCut,
  onSeenAll,
}: {
  text: string;
  marks: readonly Mark[];
  found?: readonly Mark[];
  /** Which of them is brought into the window. */
  foundAt?: number;
  tintOf?: (line: string) => Tint;
  drawn?: (line: string) => ReactNode;
  firstLine: number;
  numbers?: readonly string[];
  isStreaming: boolean;
  isCut: boolean;
  onSeenAll?: () => void;
}): ReactNode {
  const [linesMax, setLinesMax] = useState(LINES_FIRST);
  const lines = useMemo(() => linesOf(text), [text]);
  const frame = useRef<HTMLDivElement>(null);
  const first = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const marks = found.length === 0 ? said : [...said, ...found];
  const shown = lines.slice(0, linesMax);
  const here = found[foundAt];
  useEffect(() => {
    if (!here) return;
    const line = lines.findIndex(({ to }) => to >= here.from);
    if (line >= linesMax) return setLinesMax(line + 200);
    frame.current?.querySelector(`[data-line="${line}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [here, lines, linesMax]);
  useLayoutEffect(() => {
    if (isStreaming && follows.current && frame.current && text !== '')
      frame.current.scrollTop = frame.current.scrollHeight;
  }, [text, isStreaming]);
  const firstFrom = said[0]?.from;
  useEffect(() => {
    if (firstFrom !== undefined) first.current?.scrollIntoView({ block: 'nearest' });
  }, [firstFrom]);
  const isAll = shown.length === lines.length && !isCut;
  useEffect(() => {
    if (!onSeenAll || !isAll || !end.current) return;
    const watch = new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && onSeenAll());
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [onSeenAll, isAll]);
  return (
    <div
      ref={frame}
      className="source-lines"
      tabIndex={0}
      role="group"
      aria-label="text"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      {shown.map(({ from, to, line }, n) => {
        const here = marks.filter(
          (mark) => mark.from < Math.max(to, from + 1) && Math.max(mark.to, mark.from + 1) > from,
        );
        const begins = here.filter((mark) => mark.from >= from && mark.isFound === undefined);
        const tint = tintOf?.(line) ?? 'plain';
        return (
          <Fragment key={from}>
            <div
              ref={begins.some((mark) => mark === said[0]) ? first : undefined}
              data-line={n}
              className={`line tint-${tint}${here.some(({ isFound }) => !isFound) ? ' line-marked' : ''}`}
            >
              <span className="line-number">{numbers ? numbers[n] : firstLine + n}</span>
              <code>
                {drawn && here.length === 0 ? (
                  drawn(line)
                ) : (
                  <Marked line={line} from={from} marks={here.filter((mark) => mark.ghost === undefined)} />
                )}
                {isStreaming && n === shown.length - 1 ? <span className="caret" /> : null}
              </code>
            </div>
            {begins.map((mark) => (
              <div key={mark.n} className="line line-marked line-note">
                <span className="line-number">
                  <b>{mark.n}</b>
                </span>
                <div className="note">
                  {mark.ghost === undefined ? null : <code className="ghost">{mark.ghost}</code>}
                  <span>{mark.says}</span>
                  {mark.path === undefined ? null : <code className="note-path">{mark.path}</code>}
                </div>
              </div>
            ))}
          </Fragment>
        );
      })}
      {shown.length < lines.length ? (
        <button type="button" className="source-more" onClick={() => setLinesMax(linesMax * 4)}>
          {count(lines.length - shown.length)} more lines, show
        </button>
      ) : (
        <div ref={end} className="source-end" />
      )}
    </div>
  );
}

const NOTHING_FOUND: readonly Mark[] = [];

type Line = { readonly from: number; readonly to: number; readonly line: string };

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (const line of text.split('\n')) {
    lines.push({ from, to: from + line.length, line });
    from += line.length + 1;
  }
  // A newline at the end begins no line.
  if (lines.length > 1 && lines.at(-1)?.line === '') lines.pop();
  return lines;
}

function Marked({ line, from, marks }: { line: string; from: number; marks: readonly Mark[] }): ReactNode {
  const pieces: ReactNode[] = [];
  let at = 0;
  for (const mark of marks.toSorted((a, b) => a.from - b.from)) {
    const [start, end] = [Math.max(at, mark.from - from), Math.min(line.length, mark.to - from)];
    if (end <= start) continue;
    pieces.push(<ForeignLines key={`${at} before`} text={line.slice(at, start)} />);
    pieces.push(
      <mark key={start} className={mark.isFound ? 'found' : undefined}>
        <ForeignLines text={line.slice(start, end)} />
      </mark>,
    );
    at = end;
  }
  pieces.push(<ForeignLines key={`${at} rest`} text={line.slice(at)} />);
  return pieces;
}
