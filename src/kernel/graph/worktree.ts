// What the configuration says of the worktree in which a cast works: whether it gets one, and how it is set up.
import { isObject, isPositiveInteger, isText, type Json, type JsonObject } from '../json.ts';
import { normalPath, PATH_FAULTS } from '../ledger/path.ts';
import { given } from './authored.ts';
import { error, type Findings, shown } from './issue.ts';
import { checkUnknown } from './shape.ts';

export type WorktreeRules = {
  /** Programs with their arguments, run one after the other in the new worktree, without a shell. */
  readonly setup: readonly (readonly string[])[];
  /** Files and folders that git ignores and that are copied from the workspace. */
  readonly copy: readonly string[];
  /** For each program. */
  readonly timeoutMs: number;
};

export const SETUP_TIMEOUT_MS = 600_000;
const FIELDS = ['setup', 'copy', 'timeoutMs'];

/** Null where casts work in the directory itself. */
export function worktreeOf(config: JsonObject): WorktreeRules | null {
  const written = given(config, 'worktree');
  if (written === false) return null;
  const rules = isObject(written) ? written : {};
  const [setup, copy, timeoutMs] = [given(rules, 'setup'), given(rules, 'copy'), given(rules, 'timeoutMs')];
  return {
    setup: stepsOf(setup) ?? [],
    copy: Array.isArray(copy) ? copy.filter(isText) : [],
    timeoutMs: isPositiveInteger(timeoutMs) ? timeoutMs : SETUP_TIMEOUT_MS,
  };
}

export function* checkWorktree(written: Json | undefined): Findings {
  if (written === undefined || typeof written === 'boolean') return;
  if (!isObject(written)) {
    const fix = 'Write false to work in the directory itself, or an object with setup, copy and timeoutMs.';
    yield error('INVALID_CONFIG', 'worktree', `worktree is ${shown(written)}. ${fix}`);
    return;
  }
  const [setup, copy, timeoutMs] = [given(written, 'setup'), given(written, 'copy'), given(written, 'timeoutMs')];
  if (setup !== undefined && stepsOf(setup) === null) {
    const fix =
      'Write a program and its arguments such as ["npm", "ci"], or a list of such lists; no shell reads them.';
    yield error('INVALID_CONFIG', 'worktree.setup', `setup is ${shown(setup)}. ${fix}`);
  }
  if (copy !== undefined && !Array.isArray(copy)) {
    yield error('INVALID_CONFIG', 'worktree.copy', `copy is ${shown(copy)}. Write a list of names such as [".env"].`);
  }
  for (const [index, name] of (Array.isArray(copy) ? copy : []).entries()) yield* checkName(name, index);
  if (timeoutMs !== undefined && !isPositiveInteger(timeoutMs)) {
    const message = `timeoutMs is ${shown(timeoutMs)}. Write a whole number above 0, or leave the field out.`;
    yield error('INVALID_CONFIG', 'worktree.timeoutMs', message);
  }
  yield* checkUnknown(written, FIELDS, 'worktree', 'worktree');
}

/** What is copied lies in the workspace, and neither is all of it nor belongs to git or to us. */
function* checkName(name: Json, index: number): Findings {
  const normal = isText(name) ? normalPath(name) : null;
  const first = normal?.ok ? (normal.path.split('/')[0] ?? '') : '';
  const isOurs = normal?.ok && !normal.path.startsWith('/') && !['.', '.git', '.baton'].includes(first);
  if (isOurs) return;
  const why = normal === null || normal.ok ? 'is not a file or folder that can be copied' : PATH_FAULTS[normal.fault];
  const fix = 'Name a file or folder inside the workspace, such as ".env".';
  yield error('INVALID_CONFIG', `worktree.copy[${index}]`, `${shown(name)} ${why}. ${fix}`);
}

/** One program, or several; null where it is neither. */
function stepsOf(setup: Json | undefined): readonly (readonly string[])[] | null {
  if (!Array.isArray(setup)) return null;
  if (setup.length === 0) return [];
  const steps = setup.every(Array.isArray) ? setup : [setup];
  const isStep = (step: Json): step is readonly string[] =>
    Array.isArray(step) && step.length > 0 && isText(step[0]) && step.every((word) => typeof word === 'string');
  return steps.every(isStep) ? steps : null;
}
