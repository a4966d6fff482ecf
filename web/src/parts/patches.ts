// A patch of git, taken apart: its files, their lines, and the words of a line.
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

/** The number of each line in the file as it is now; a line that was removed has none. */
export function numbersOf(lines: readonly string[]): readonly string[] {
  let next = 1;
  return lines.map((line) => {
    const [, start] = /^@@ -\S+ \+(\d+)/.exec(line) ?? [];
    if (start !== undefined) next = Number(start);
    return start !== undefined || line.startsWith('-') || line.startsWith('\\') ? '' : String(next++);
  });
}

type Word = { readonly sort: 'comment' | 'text' | 'number' | 'word' | 'plain'; readonly text: string };

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
