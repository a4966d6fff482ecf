// A patch, file by file. Added lines are green, removed ones red, and the sign at the beginning says it without colour.
// Words of a language are set apart by weight and tone alone.
import { type ReactNode, useMemo } from 'react';
import type { Text } from '../api.ts';
import { count, inLine, plural, shortPath } from '../words.ts';
import { type FilePatch, numbersOf, patchesIn, wordsIn } from './patches.ts';
import { Source, type Tint, useText } from './source.tsx';
import { Foreign, ForeignLines } from './text.tsx';

/** The files of a diff. What a turn was not allowed to change comes first. */
export function Diffs({ text, outside }: { text: Text; outside: ReadonlySet<string> }): ReactNode {
  const loaded = useText(text);
  const files = useMemo(() => (loaded.is === 'text' ? patchesIn(loaded.text) : []), [loaded]);
  if (loaded.is === 'reading') return <p className="pane-note">The diff is read…</p>;
  if (loaded.is !== 'text') return <p className="pane-note">The diff is not there any more; its digest is kept.</p>;
  const sorted = files.toSorted((a, b) => Number(outside.has(b.path)) - Number(outside.has(a.path)));
  return (
    <div className="diffs">
      {sorted.map((patch) => (
        <Diff key={patch.path} patch={patch} isOutside={outside.has(patch.path)} />
      ))}
    </div>
  );
}

export function Diff({
  patch,
  isOutside = false,
  onSeenAll,
}: {
  patch: FilePatch;
  isOutside?: boolean;
  onSeenAll?: () => void;
}): ReactNode {
  const { path, what, lines } = patch;
  const changed = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return (
    <Source
      text={lines.join('\n')}
      label={path}
      numbers={numbersOf(lines)}
      title={
        <>
          <code title={inLine(path)}>
            <Foreign text={shortPath(path, 56)} />
          </code>{' '}
          <span className="quiet">
            {what === 'changed'
              ? `+${count(changed('+'))} −${count(changed('-'))}`
              : `${what}, ${plural(lines.length, 'line')}`}
          </span>
          {isOutside ? <b className="bad"> outside its paths</b> : null}
        </>
      }
      tintOf={tintOf}
      drawn={drawn}
      {...(onSeenAll ? { onSeenAll } : {})}
    />
  );
}

function tintOf(line: string): Tint {
  if (line.startsWith('@@')) return 'head';
  if (line.startsWith('+')) return 'add';
  return line.startsWith('-') ? 'remove' : 'plain';
}

const SIGNS = { add: '+ ', remove: '− ', plain: '  ', head: '' } as const;

/** A line with its sign apart from its words. */
function drawn(line: string): ReactNode {
  const tint = tintOf(line);
  if (tint === 'head') return <ForeignLines text={line} />;
  return (
    <>
      <span className={`diff-sign sign-${tint}`}>{SIGNS[tint]}</span>
      {wordsIn(line.slice(1)).map(({ sort, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a word of a line is its place
        <span key={at} className={sort === 'plain' ? undefined : `word-${sort}`}>
          <ForeignLines text={text} />
        </span>
      ))}
    </>
  );
}
