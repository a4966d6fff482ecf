// A diff, file by file. Words of a language are set apart by weight and tone alone: green and red say what came and went.
import { type ReactNode, useMemo, useState } from 'react';
import type { Text } from '../api.ts';
import { useText } from '../parts/source.tsx';
import { ForeignLines } from '../parts/text.tsx';
import { count, inLine, shortPath } from '../words.ts';
import './diff.css';

export type DiffLine = {
  readonly sort: 'add' | 'remove' | 'same' | 'hunk';
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
};
export type DiffFile = {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly DiffLine[];
};

export function filesIn(diff: string): readonly DiffFile[] {
  const files: { path: string; added: number; removed: number; lines: DiffLine[] }[] = [];
  let file: (typeof files)[number] | undefined;
  let [before, after] = [0, 0];
  for (const line of diff.split('\n')) {
    if (line.startsWith('diff --git ')) {
      const path = /^diff --git "?a\/(.*?)"? "?b\/(.*?)"?$/.exec(line)?.[2] ?? line.slice(11);
      file = { path, added: 0, removed: 0, lines: [] };
      files.push(file);
    } else if (!file) continue;
    else if (line.startsWith('@@')) {
      const found = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
      [before, after] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
      file.lines.push({ sort: 'hunk', text: line, before: null, after: null });
    } else if (line.startsWith('+') && !line.startsWith('+++ ')) {
      file.added += 1;
      file.lines.push({ sort: 'add', text: line.slice(1), before: null, after: after++ });
    } else if (line.startsWith('-') && !line.startsWith('--- ')) {
      file.removed += 1;
      file.lines.push({ sort: 'remove', text: line.slice(1), before: before++, after: null });
    } else if (line.startsWith(' '))
      file.lines.push({ sort: 'same', text: line.slice(1), before: before++, after: after++ });
  }
  return files;
}

export type Word = { readonly sort: 'comment' | 'text' | 'number' | 'word' | 'plain'; readonly text: string };

const WORDS =
  /(\/\/.*$|\/\*.*?(?:\*\/|$)|(?:^|\s)#(?![a-z{]).*$|<!--.*?(?:-->|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|(\b\d[\d_.]*\b)|\b(as|async|await|break|case|catch|class|const|continue|def|default|delete|do|elif|else|enum|export|extends|false|finally|fn|for|from|func|function|if|impl|import|in|interface|let|match|mod|new|nil|None|null|of|package|private|pub|public|raise|return|self|static|struct|super|switch|this|throw|True|true|try|type|undefined|use|var|void|while|with|yield|False)\b/g;
const LINE_CHARS_MAX = 2_000;

/** Light colours of syntax: enough to read by, for any language. */
export function wordsIn(line: string): readonly Word[] {
  if (line.length > LINE_CHARS_MAX) return [{ sort: 'plain', text: line }];
  const words: Word[] = [];
  let at = 0;
  for (const found of line.matchAll(WORDS)) {
    if (found.index > at) words.push({ sort: 'plain', text: line.slice(at, found.index) });
    const sort =
      found[1] !== undefined ? 'comment' : found[2] !== undefined ? 'text' : found[3] !== undefined ? 'number' : 'word';
    words.push({ sort, text: found[0] });
    at = found.index + found[0].length;
  }
  if (at < line.length || words.length === 0) words.push({ sort: 'plain', text: line.slice(at) });
  return words;
}

const LINES_FIRST = 400;

export function Diff({ text, outside }: { text: Text; outside: ReadonlySet<string> }): ReactNode {
  const loaded = useText(text);
  const files = useMemo(() => (loaded.is === 'text' ? filesIn(loaded.text) : []), [loaded]);
  if (loaded.is === 'reading') return <p className="pane-note">The diff is read…</p>;
  if (loaded.is !== 'text') return <p className="pane-note">The diff is not there any more; its digest is kept.</p>;
  // What the turn was not allowed to change comes first.
  const sorted = files.toSorted((a, b) => Number(outside.has(b.path)) - Number(outside.has(a.path)));
  return (
    <div className="diff">
      {sorted.map((file) => (
        <FileDiff key={file.path} file={file} isOutside={outside.has(file.path)} />
      ))}
    </div>
  );
}

function FileDiff({ file, isOutside }: { file: DiffFile; isOutside: boolean }): ReactNode {
  const [linesMax, setLinesMax] = useState(LINES_FIRST);
  const shown = file.lines.slice(0, linesMax);
  return (
    <section className={`diff-file${isOutside ? ' diff-outside' : ''}`} aria-label={inLine(file.path)}>
      <h4>
        <code title={inLine(file.path)}>
          <ForeignLines text={shortPath(file.path, 56)} />
        </code>
        {isOutside ? <b>outside its paths</b> : null}
        <span>
          +{count(file.added)} −{count(file.removed)}
        </span>
      </h4>
      <div className="diff-lines" tabIndex={0} role="group" aria-label={`changes of ${inLine(file.path)}`}>
        {shown.map((line, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line of a diff is its place
          <div key={n} className={`diff-line diff-${line.sort}`}>
            <span className="diff-number">{line.after ?? line.before ?? ''}</span>
            <span className="diff-sign">{line.sort === 'add' ? '+' : line.sort === 'remove' ? '−' : ''}</span>
            <code>{line.sort === 'hunk' ? line.text : <Words line={line.text} />}</code>
          </div>
        ))}
      </div>
      {shown.length < file.lines.length ? (
        <button type="button" className="source-more" onClick={() => setLinesMax(linesMax * 4)}>
          {count(file.lines.length - shown.length)} more lines, show
        </button>
      ) : null}
    </section>
  );
}

function Words({ line }: { line: string }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a word of a line is its place
  return wordsIn(line).map((word, at) => <Shown key={at} word={word} />);
}

function Shown({ word: { sort, text } }: { word: Word }): ReactNode {
  const shown = <ForeignLines text={text} />;
  return sort === 'plain' ? shown : <span className={`word-${sort}`}>{shown}</span>;
}
