// A patch, file by file. Added lines are green, removed ones red, and the sign at the beginning says it without colour.
import type { ReactNode } from 'react';
import { plural } from '../words.ts';
import { Source, type Tint } from './source.tsx';
import { Foreign } from './text.tsx';

export type FilePatch = { readonly path: string; readonly what: string; readonly lines: readonly string[] };

/** The files of a patch of git. */
export function patchesIn(patch: string): readonly FilePatch[] {
  if (patch === '') return [];
  return patch.split(/^(?=diff --git )/m).flatMap((part): readonly FilePatch[] => {
    const lines = part.replace(/\n$/, '').split('\n');
    const start = lines.findIndex((line) => line.startsWith('@@'));
    const head = start < 0 ? lines : lines.slice(0, start);
    const path = pathIn(head);
    if (path === null) return [];
    const what = head.some((line) => line.startsWith('new file'))
      ? 'new file'
      : head.some((line) => line.startsWith('deleted file'))
        ? 'deleted'
        : 'changed';
    const body =
      start < 0 ? head.filter((line) => /^(Binary|GIT binary|rename|similarity)/.test(line)) : lines.slice(start);
    // All of a new file is one part, and its heading says nothing.
    const isWhole = what === 'new file' && body.filter((line) => line.startsWith('@@')).length === 1;
    return [{ path, what, lines: isWhole ? body.slice(1) : body }];
  });
}

function pathIn(head: readonly string[]): string | null {
  const named = (sign: string) => head.find((line) => line.startsWith(`${sign} `))?.slice(4);
  const [after, before] = [named('+++'), named('---')];
  const line = after && after !== '/dev/null' ? after : before;
  if (line)
    return unquoted(line)
      .replace(/^[ab]\//, '')
      .replace(/\t$/, '');
  const [, path] = /^diff --git .* "?b\/(.*?)"?$/.exec(head[0] ?? '') ?? [];
  return path ?? null;
}

/** git writes a path with odd characters as a quoted string with octal bytes. */
function unquoted(path: string): string {
  if (!path.startsWith('"')) return path;
  const bytes: number[] = [];
  const inner = path.slice(1, path.lastIndexOf('"'));
  for (const [, octal, sign, plain] of inner.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else bytes.push(...new TextEncoder().encode(sign === undefined ? plain : ({ n: '\n', t: '\t' }[sign] ?? sign)));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function tintOf(line: string): Tint {
  if (line.startsWith('@@')) return 'head';
  if (line.startsWith('+')) return 'add';
  return line.startsWith('-') ? 'remove' : 'plain';
}

/** The number of each line in the file as it is now; a line that was removed has none. */
function numbersOf(lines: readonly string[]): readonly string[] {
  let next = 1;
  return lines.map((line) => {
    const [, start] = /^@@ -\S+ \+(\d+)/.exec(line) ?? [];
    if (start !== undefined) next = Number(start);
    return start !== undefined || line.startsWith('-') || line.startsWith('\\') ? '' : String(next++);
  });
}

export function Diff({ patch, onSeenAll }: { patch: FilePatch; onSeenAll?: () => void }): ReactNode {
  const { path, what, lines } = patch;
  return (
    <Source
      text={lines.join('\n')}
      label={path}
      numbers={numbersOf(lines)}
      title={
        <>
          <code>
            <Foreign text={path} />
          </code>{' '}
          <span className="quiet">
            {what}, {plural(lines.length, 'line')}
          </span>
        </>
      }
      tintOf={tintOf}
      {...(onSeenAll ? { onSeenAll } : {})}
    />
  );
}
