// What a look at the machine is about, what it finds, and how to repair what is missing.
import type { Code } from '../../kernel/codes.ts';
import type { AgentMateria, Issue } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Workspace } from '../workspace.ts';

export type MachineFinding = {
  readonly name: string;
  /** An error keeps a cast from starting. A warning is shown: it may go well. */
  readonly level: 'ok' | 'warning' | 'error';
  readonly found: string;
  /** What to do about it; null where nothing is to be done. */
  readonly fix: string | null;
  /** The code of a cast that is refused for it. */
  readonly code?: Code;
};

export const okFinding = (name: string, found: string): MachineFinding => ({ name, level: 'ok', found, fix: null });
export const warningFinding = (name: string, found: string, fix: string): MachineFinding => ({
  name,
  level: 'warning',
  found,
  fix,
});
export const errorFinding = (name: string, found: string, fix: string, code?: Code): MachineFinding => ({
  ...{ name, level: 'error', found, fix },
  ...(code === undefined ? {} : { code }),
});

/** The same as an issue of a cast, so that scripts read one shape. */
export function issueOf({ name, level, found, fix, code = 'PREFLIGHT_FAILED' }: MachineFinding): Issue {
  const path = `machine.${name}`;
  return { code, level: level === 'error' ? 'error' : 'warning', path, message: findingText({ found, fix }) };
}

export function findingText({ found, fix }: Pick<MachineFinding, 'found' | 'fix'>): string {
  return fix === null ? found : `${found}; ${fix}`;
}

/** What is going to run: the agents and commands of one cast, or of all loadouts of a configuration. */
export type Needs = {
  readonly agents: readonly AgentMateria[];
  readonly commands: readonly { readonly id: string; readonly command: readonly string[] }[];
  readonly checkers: JsonObject;
  /** The names of those that run during a cast. */
  readonly checks: readonly string[];
  /** A worktree is set up by commands first. */
  readonly isSetUp: boolean;
  /** The cast works in a worktree where git can make one. */
  readonly isApart: boolean;
};

export type StartScene = {
  readonly workspace: Workspace;
  readonly needs: Needs;
  readonly now: number;
  /** Everything is looked at, also what takes long or keeps no cast from starting. */
  readonly isDoctor: boolean;
  /** Runners that have answered a question just now. */
  readonly proved: ReadonlySet<string>;
  /** For tests: the free space at a folder. */
  readonly freeBytes?: (folder: string) => number;
};
