// A project that is a git repository, for tests of what casts do there.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/**
 * A git that kills whoever asked it, once: after it has done, or before it does, what the shell's pattern says. The real
 * one does the work.
 */
export function deadlyGit(dir: string, when: 'before' | 'after', pattern: string): NodeJS.ProcessEnv {
  const real = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'git')));
  const bin = join(dir, '.baton', 'state', 'deadly');
  put(dir, { '.baton/state/deadly/armed': 'x' });
  const kill = `case "$*" in ${pattern}) if rm "${bin}/armed" 2>/dev/null; then kill -9 $PPID; exit 1; fi;; esac`;
  const lines = ['#!/bin/sh', ...(when === 'before' ? [kill] : []), `${real}/git "$@"`, 'code=$?'];
  writeFileSync(join(bin, 'git'), [...lines, ...(when === 'after' ? [kill] : []), 'exit $code', ''].join('\n'));
  chmodSync(join(bin, 'git'), 0o755);
  return { PATH: `${bin}:${process.env.PATH}` };
}
