// The sources of `src` as text, and their shape: how many, how long, which names have several homes, which files import each
// other in a circle. `npm run shape [-- --list]` prints it.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A file by its path in `src`, with its text. */
type Source = readonly [path: string, source: string];

export type Shape = {
  readonly files: number;
  readonly lines: number;
  /** Exported names that more than one file defines, each with those files. Passing a name on is not a definition. */
  readonly namesWithManyHomes: readonly (readonly [name: string, files: readonly string[]])[];
  /** Groups of files that reach each other by imports, those of types among them. */
  readonly cycles: readonly (readonly string[])[];
};

export function shapeOf(sources: readonly Source[]): Shape {
  const scanned = sources.map(([path, source]) => ({ path, ...scan(source) }));
  const homes = new Map<string, string[]>();
  for (const { path, code } of scanned)
    for (const name of exportsOf(code)) homes.set(name, [...(homes.get(name) ?? []), path]);
  const graph = new Map(
    scanned.map(({ path, code, strings }) => [path, importsOf(code, strings).map((each) => targetOf(path, each))]),
  );
  return {
    files: sources.length,
    lines: sources.reduce((sum, [, source]) => sum + source.split('\n').length - 1, 0),
    namesWithManyHomes: [...homes].filter(([, files]) => files.length > 1).sort(([a], [b]) => (a < b ? -1 : 1)),
    cycles: cyclesIn(graph),
  };
}

/** The names that a file defines and exports. */
function exportsOf(code: string): Set<string> {
  const defined = code.matchAll(
    /\bexport\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\s*\*?|const|let|class|type|interface|enum)\s+(\w+)/g,
  );
  const listed = code.matchAll(/\bexport\s+(?:type\s+)?\{([^}]*)\}(?!\s*from\b)/g);
  const unpacked = code.matchAll(/\bexport\s+(?:const|let)\s+[[{]([^=]*)[\]}]\s*=/g);
  const last = (list: string) => list.split(',').map((part) => /(\w+)\s*$/.exec(part)?.[1] ?? '');
  const names = Array.from(defined, ([, name = '']) => name);
  const lists = Array.from([...listed, ...unpacked], ([, list = '']) => last(list));
  return new Set([...names, ...lists.flat()].filter((name) => name !== ''));
}

/** The groups of more than one file in which each reaches each other one. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const groups: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    lowest.set(path, order.size - 1);
    open.push(path);
    for (const target of graph.get(path) ?? []) {
      if (!graph.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (open.includes(target)) lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(target) ?? 0));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const group = open.splice(open.indexOf(path));
    if (group.length > 1) groups.push(group.sort());
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return groups.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
}

/** The files of `src` without its tests and what belongs to them. */
export function programs(): readonly Source[] {
  const files = globSync('**/*.ts', { cwd: join(ROOT, 'src') }).filter(isProgram);
  return files.map((path) => [path, readFileSync(join(ROOT, 'src', path), 'utf8')]);
}

function isProgram(path: string): boolean {
  return !path.endsWith('.test.ts') && !path.includes('/fixtures/');
}

/** A file of `src` as its path there; a package by its name; the rest as it is written. */
export function targetOf(path: string, specifier: string): string {
  if (specifier.startsWith('.')) return join(dirname(path), specifier);
  return specifier.startsWith('node:')
    ? specifier
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
}

/** Static, dynamic and type imports, exports from elsewhere, and files named beside this one. */
export function importsOf(code: string, strings: readonly string[]): string[] {
  const imported = code.matchAll(/\b(?:from|import)\s*\(?\s*"(\d+)"/g);
  const beside = code.matchAll(/\bURL\s*\(\s*"(\d+)"\s*,\s*import\.meta\.url/g);
  const texts = (found: Iterable<RegExpMatchArray>) => Array.from(found, ([, number]) => strings[Number(number)] ?? '');
  return [...texts(imported), ...texts(beside).filter((name) => /\.[cm]?[jt]s$/.test(name))];
}

/** The code without its comments; every string is replaced by its number in `strings`. */
export function scan(source: string): { code: string; strings: string[] } {
  const strings: string[] = [];
  let code = '';
  let at = 0;
  // Templates that are open, each with the number of braces open inside its present expression.
  const templates: number[] = [];
  const keep = (text: string) => {
    strings.push(text);
    code += `"${strings.length - 1}"`;
  };
  const readTemplate = () => {
    const from = at;
    while (at < source.length && source[at] !== '`' && !source.startsWith('${', at)) at += source[at] === '\\' ? 2 : 1;
    keep(source.slice(from, at));
    if (source[at] === '`') at += 1;
    else {
      at += 2;
      code += '(';
      templates.push(0);
    }
  };
  while (at < source.length) {
    const char = source[at] ?? '';
    const open = templates.at(-1);
    if (source.startsWith('//', at)) at = endOf(source, at, '\n');
    else if (source.startsWith('/*', at)) at = endOf(source, at + 2, '*/') + 2;
    else if (char === "'" || char === '"') {
      const end = closing(source, at, char);
      keep(source.slice(at + 1, end));
      at = end + 1;
    } else if (char === '/' && startsPattern(code)) {
      at = closing(source, at, '/') + 1;
      keep('');
    } else if (char === '`') {
      at += 1;
      readTemplate();
    } else if (char === '}' && open === 0) {
      templates.pop();
      code += ')';
      at += 1;
      readTemplate();
    } else {
      if (open !== undefined && char === '{') templates[templates.length - 1] = open + 1;
      if (open !== undefined && char === '}') templates[templates.length - 1] = open - 1;
      code += char;
      at += 1;
    }
  }
  return { code, strings };
}

function endOf(source: string, from: number, mark: string): number {
  const end = source.indexOf(mark, from);
  return end < 0 ? source.length : end;
}

/** Where a string or a pattern ends; within brackets of a pattern its own mark is an ordinary character. */
function closing(source: string, from: number, mark: string): number {
  let inBrackets = false;
  for (let at = from + 1; at < source.length; at++) {
    const char = source[at];
    if (char === '\\') at++;
    else if (mark === '/' && char === '[') inBrackets = true;
    else if (mark === '/' && char === ']') inBrackets = false;
    else if (char === mark && !inBrackets) return at;
  }
  return source.length;
}

/** A slash after a value divides; after anything else it opens a pattern. */
function startsPattern(code: string): boolean {
  const before = code.trimEnd();
  return /(?:^|[([{,;:=!&|?+\-*%<>~^}]|\b(?:return|typeof|case|in|of|void|delete|await))$/.test(before);
}

if (import.meta.main) {
  const { files, lines, namesWithManyHomes, cycles } = shapeOf(programs());
  console.log(`${files} files, ${lines} lines`);
  console.log(`${namesWithManyHomes.length} exported names with more than one home`);
  console.log(`${cycles.length} import cycles, with ${cycles.flat().length} files`);
  if (process.argv.includes('--list')) {
    for (const [name, homes] of namesWithManyHomes) console.log(`  ${name}: ${homes.join(', ')}`);
    for (const cycle of cycles) console.log(`  ${cycle.join(' → ')}`);
  }
}
