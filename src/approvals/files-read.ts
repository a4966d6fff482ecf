// The files that build tools read without naming them: a makefile and its includes, a package.json and the settings of its
// package manager, the settings and hooks of a git repository. Their contents decide what runs, so they are bound with the command.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { gitFilesRead } from '../git/repository-files.ts';
import type { Invocation } from '../shell/programs.ts';

const INCLUDED_MAX = 64;
const PARENTS_MAX = 64;
const MAKEFILE_BYTES_MAX = 1_048_576;

type FilesRead = {
  readonly paths: readonly string[];
  /** False if there are too many to follow. */
  readonly isWhole: boolean;
};

type Reader = (folder: string, run: Invocation, home: string | undefined) => FilesRead;

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
const PACKAGE = 'package.json';
const GIT_SETTINGS = ['.gitconfig', '.config/git/config'];
/** Settings next to the package.json or in the home. Some of them name a shell or other code. */
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', 'bunfig.toml'];
const HOME_SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml', '.bunfig.toml'];

const READERS: Readonly<Record<string, Reader>> = {
  make: makefiles,
  gmake: makefiles,
  npm: packageFiles,
  npx: packageFiles,
  pnpm: packageFiles,
  yarn: packageFiles,
  bun: packageFiles,
  git: repositoryFiles,
};

/** The files that the programs of a command read in its possible folders. */
export function filesRead(
  runs: readonly Invocation[],
  folders: readonly string[],
  home: string | undefined,
): FilesRead {
  const found = runs.flatMap((run) => {
    const reader = Object.hasOwn(READERS, run.program) ? READERS[run.program] : undefined;
    return reader ? folders.map((folder) => reader(folder, run, home)) : [];
  });
  return { paths: [...new Set(found.flatMap(({ paths }) => paths))], isWhole: found.every(({ isWhole }) => isWhole) };
}

/** A missing makefile is bound too, because make would read it if it appeared. */
function makefiles(folder: string, { args }: Invocation): FilesRead {
  const named = valuesOf(args, /^(?:-[a-zA-Z]*f|--file|--makefile)$/, /^(?:-f|--file=|--makefile=)(.+)$/);
  const looked = valuesOf(args, /^(?:-[a-zA-Z]*I|--include-dir)$/, /^(?:-I|--include-dir=)(.+)$/);
  const begin = [...MAKEFILES, ...named].map((name) => resolve(folder, name));
  const folders = [folder, ...looked.map((name) => resolve(folder, name))];
  const paths = new Set(begin);
  for (const file of paths) {
    for (const included of includedBy(file, folders)) paths.add(included);
    if (paths.size > INCLUDED_MAX + begin.length) return { paths: [...paths], isWhole: false };
  }
  return { paths: [...paths], isWhole: true };
}

/** The values of an option: the word after `alone`, or the part of a word that `joined` finds. */
function valuesOf(args: Invocation['args'], alone: RegExp, joined: RegExp): readonly string[] {
  return args.flatMap(({ text }, at) => (alone.test(text) ? args[at + 1]?.text : joined.exec(text)?.[1]) ?? []);
}

/** The files of `include` lines. A name that make computes cannot be known. */
function includedBy(file: string, folders: readonly string[]): readonly string[] {
  const text = textOf(file).replace(/\\\r?\n/g, ' ');
  const lines = text.matchAll(/^ *(?:-|s)?include[ \t]+([^#\n]+)/gm);
  const words = [...lines].flatMap(([, names = '']) => names.trim().split(/\s+/));
  const names = words.filter((word) => word !== '' && !word.includes('$'));
  const paths = names.flatMap((name) => folders.map((folder) => resolve(folder, name)));
  return paths.flatMap((path) => [path, ...(matchesOf(path) ?? [])]);
}

/** Looks up to the nearest package.json, and binds missing ones on the way too. */
function packageFiles(folder: string, { args }: Invocation, home: string | undefined): FilesRead {
  const moved = valuesOf(args, /^(?:--prefix|--cwd|--dir|-C)$/, /^(?:--prefix|--cwd|--dir)=(.+)$/);
  const starts = [folder, ...moved.map((path) => resolve(folder, path))];
  const settings = home !== undefined && isAbsolute(home) ? HOME_SETTINGS.map((name) => join(home, name)) : [];
  const above = starts.flatMap(foldersToPackage);
  const inside = args.some(({ text }) => IN_WORKSPACES.test(text)) ? above.flatMap(workspacesIn) : [];
  const found = inside.flatMap((pattern) => [pattern, ...(matchesOf(pattern) ?? [])]);
  return {
    paths: [...above.flatMap((at) => [PACKAGE, ...SETTINGS].map((name) => join(at, name))), ...settings, ...found],
    isWhole: inside.every((pattern) => !isPattern(pattern) || matchesOf(pattern) !== null),
  };
}

/** Git runs hooks and helpers that the settings name, and they say where it pushes. A new hook is a difference, too. */
function repositoryFiles(folder: string, { args }: Invocation, home: string | undefined): FilesRead {
  const moved = valuesOf(args, /^(?:-C|--git-dir|--work-tree)$/, /^(?:--git-dir|--work-tree)=(.+)$/);
  const found = [folder, ...moved.map((path) => resolve(folder, path))].flatMap(gitFilesRead);
  const settings = home !== undefined && isAbsolute(home) ? GIT_SETTINGS.map((name) => join(home, name)) : [];
  const hooks = found.flatMap((path) => matchesOf(path) ?? []).filter((path) => !path.endsWith('.sample'));
  return { paths: [...found, ...settings, ...hooks], isWhole: true };
}

/** Options with which a package manager runs in other packages of the project. */
const IN_WORKSPACES = /^(?:-w|-ws|-F|-r|--recursive|workspaces?|--?(?:w|F|workspaces?|filter(?:-prod)?)(?:=.*)?)$/;

/** The package.json of each workspace, as patterns. */
function workspacesIn(folder: string): readonly string[] {
  const patterns = [
    ...inPackage(textOf(join(folder, PACKAGE))),
    ...inYaml(textOf(join(folder, 'pnpm-workspace.yaml'))),
  ];
  return patterns.filter((one) => !one.startsWith('!')).map((one) => join(resolve(folder, one), PACKAGE));
}

function inPackage(text: string): readonly string[] {
  try {
    const { workspaces } = JSON.parse(text) as { workspaces?: unknown };
    const listed = (workspaces as { packages?: unknown } | undefined)?.packages ?? workspaces;
    return Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** Takes the items of every list. An extra file costs at most one question. */
function inYaml(text: string): readonly string[] {
  return [...text.matchAll(/^[ \t]*-[ \t]+(['"]?)([^'"#\n]+)\1/gm)].map(([, , item = '']) => item.trim());
}

function isPattern(path: string): boolean {
  return /[*?[{]/.test(path);
}

function foldersToPackage(folder: string): readonly string[] {
  const folders = [folder];
  for (let at = folder; folders.length < PARENTS_MAX && !isFile(join(at, PACKAGE)); at = dirname(at)) {
    if (dirname(at) === at) break;
    folders.push(dirname(at));
  }
  return folders;
}

function textOf(file: string): string {
  try {
    const found = statSync(file);
    return found.isFile() && found.size <= MAKEFILE_BYTES_MAX ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

// The files that a shell pattern matches now. It may match more than a shell does: an extra file costs one question, a missing
// file costs safety.
const MATCHES_MAX = 512;
const LOOKS_MAX = 4_096;
const STARS_MAX = 4;

/** The paths that an absolute pattern matches, in order. Null if it is no pattern, or if it matches too many. */
export function matchesOf(pattern: string): readonly string[] | null {
  if (!/[*?[{]/.test(pattern) || !pattern.startsWith('/')) return null;
  let places = [''];
  let looks = 0;
  for (const part of pattern.split('/').slice(1)) {
    if (part === '') continue;
    if (!/[*?[{]/.test(part)) {
      places = places.map((place) => `${place}/${part}`);
      continue;
    }
    const fits = fitting(part);
    const next: string[] = [];
    for (const place of places) {
      const names = namesIn(place === '' ? '/' : place);
      looks += names.length + 1;
      if (looks > LOOKS_MAX) return null;
      for (const name of names) if (fits(name)) next.push(`${place}/${name}`);
    }
    if (next.length > MATCHES_MAX) return null;
    places = next;
  }
  return places.sort();
}

/** Braces and many stars match everything. */
function fitting(part: string): (name: string) => boolean {
  if (part.includes('{') || (part.match(/\*+/g)?.length ?? 0) > STARS_MAX) return () => true;
  const source = part
    .replace(/\[[^\]]*\]/g, '?')
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '[^]*')
    .replaceAll('?', '[^]');
  const whole = new RegExp(`^${source}$`, 'u');
  return (name) => whole.test(name);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
