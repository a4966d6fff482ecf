// A project that is a git repository, for tests of what casts do there.
import { execFileSync } from 'node:child_process';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { initRepository } from '../init-repository.ts';
import { always, flow, project, put } from './baton.ts';

/** Runs git in a folder and answers what it says. */
export function git(dir: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** A repository whose first commit has these files. The state of casts is ignored in it. */
export function repository(files: Readonly<Record<string, Json>> = {}): string {
  const dir = project();
  initRepository(dir);
  put(dir, { '.gitignore': '.baton/state/\ncast.json\nagents.json\n*.log\n.env\n', 'a.txt': 'one\n', ...files });
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'first');
  return dir;
}

export function commit(dir: string, message: string): string {
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', message);
  return git(dir, 'rev-parse', 'HEAD');
}

export const coder: JsonObject = { tools: 'coding', prompt: 'Do it.' };

/** Sockets in a row, each with the materia of this name. */
export function row(materia: JsonObject, names: readonly string[], more: JsonObject = {}): JsonObject {
  const sockets = names.map((name, index): [string, Json] => {
    const next = index + 1 < names.length ? { edges: [always(`Socket-${index + 2}`)] } : {};
    return [`Socket-${index + 1}`, { materia: name, ...next }];
  });
  return flow(materia, Object.fromEntries(sockets), more);
}

/** A scripted turn that writes files. */
export function writes(files: Readonly<Record<string, string>>, more: JsonObject = {}): JsonObject {
  return { $turn: { output: 'done', write: files, ...more } };
}

/** The worktrees that git knows of, besides the repository's own. */
export function worktreesOf(dir: string): string[] {
  const lines = git(dir, 'worktree', 'list', '--porcelain').split('\n');
  return lines.flatMap((line) => (line.startsWith('worktree ') ? [line.slice('worktree '.length)] : [])).slice(1);
}
