// What the configuration says of the worktree in which a cast works: whether it gets one, and how it is set up.
import { isObject, isPositiveInteger, isText, type Json, type JsonObject } from '../json.ts';
import { normalPath, PATH_FAULTS } from '../ledger/path.ts';
import { given } from './authored.ts';
import { error, type Findings, listed, shown } from './issue.ts';
import { checkUnknown } from './shape.ts';

export type WorktreeRules = {
  /** Programs with their arguments, run one after the other in the new worktree, without a shell. */
  readonly setup: readonly (readonly string[])[];
  /** Files and folders that git ignores and that are copied from the workspace. */
  readonly copy: readonly string[];
  /** For each program. */
  readonly timeoutMs: number;
  /** Folders of installed packages that the worktree shares with the workspace; absent: those that are found. */
  readonly link?: readonly string[];
  /** What becomes of a turn while which files of the main checkout changed; absent: it is refused. */
  readonly mainCheckout?: MainCheckout;
};

/** Whether a change of the main checkout refuses the turn that ran meanwhile, or is only reported. */
export type MainCheckout = (typeof MAIN_CHECKOUT)[number];
export const MAIN_CHECKOUT = ['refuse', 'warn'] as const;

export const SETUP_TIMEOUT_MS = 600_000;
const FIELDS = ['setup', 'copy', 'link', 'timeoutMs', 'mainCheckout'];

/** Null where casts work in the directory itself. */
export function worktreeOf(config: JsonObject): WorktreeRules | null {
  const written = given(config, 'worktree');
  if (written === false) return null;
  const rules = isObject(written) ? written : {};
  const [setup, copy, timeoutMs] = [given(rules, 'setup'), given(rules, 'copy'), given(rules, 'timeoutMs')];
  const [link, mainCheckout] = [given(rules, 'link'), given(rules, 'mainCheckout')];
  return {
    setup: stepsOf(setup) ?? [],
    copy: Array.isArray(copy) ? copy.filter(isText) : [],
    timeoutMs: isPositiveInteger(timeoutMs) ? timeoutMs : SETUP_TIMEOUT_MS,
    ...(Array.isArray(link) ? { link: link.filter(isText) } : {}),
    ...(mainCheckout === 'refuse' || mainCheckout === 'warn' ? { mainCheckout } : {}),
  };
}

export function* checkWorktree(written: Json | undefined): Findings {
  if (written === undefined || typeof written === 'boolean') return;
  if (!isObject(written)) {
    const fix =
      'Write false to work in the directory itself, or an object with setup, copy, link, timeoutMs and mainCheckout.';
    yield error('INVALID_CONFIG', 'worktree', `worktree is ${shown(written)}. ${fix}`);
    return;
  }
  const [setup, timeoutMs] = [given(written, 'setup'), given(written, 'timeoutMs')];
  if (setup !== undefined && stepsOf(setup) === null) {
    const fix =
      'Write a program and its arguments such as ["npm", "ci"], or a list of such lists; no shell reads them.';
    yield error('INVALID_CONFIG', 'worktree.setup', `setup is ${shown(setup)}. ${fix}`);
  }
  yield* checkNames(written, 'copy', '.env');
  yield* checkNames(written, 'link', 'node_modules');
  const mainCheckout = given(written, 'mainCheckout');
  if (mainCheckout !== undefined && mainCheckout !== 'refuse' && mainCheckout !== 'warn') {
    const message = `mainCheckout is ${shown(mainCheckout)}. Write ${listed(MAIN_CHECKOUT)}, or leave the field out.`;
    yield error('INVALID_CONFIG', 'worktree.mainCheckout', message);
  }
  if (timeoutMs !== undefined && !isPositiveInteger(timeoutMs)) {
    const message = `timeoutMs is ${shown(timeoutMs)}. Write a whole number above 0, or leave the field out.`;
    yield error('INVALID_CONFIG', 'worktree.timeoutMs', message);
  }
  yield* checkUnknown(written, FIELDS, 'worktree', 'worktree');
}

function* checkNames(written: JsonObject, field: 'copy' | 'link', example: string): Findings {
  const names = given(written, field);
  if (names !== undefined && !Array.isArray(names)) {
    const message = `${field} is ${shown(names)}. Write a list of names such as ["${example}"].`;
    yield error('INVALID_CONFIG', `worktree.${field}`, message);
  }
  for (const [index, name] of (Array.isArray(names) ? names : []).entries()) {
    yield* checkName(name, `worktree.${field}[${index}]`, example);
  }
}

/** What is copied or linked lies in the workspace, and neither is all of it nor belongs to git or to us. */
function* checkName(name: Json, path: string, example: string): Findings {
  const normal = isText(name) ? normalPath(name) : null;
  const first = normal?.ok ? (normal.path.split('/')[0] ?? '') : '';
  const isOurs = normal?.ok && !normal.path.startsWith('/') && !['.', '.git', '.baton'].includes(first);
  if (isOurs) return;
  const why = normal === null || normal.ok ? 'is not a file or folder that can be shared' : PATH_FAULTS[normal.fault];
  const fix = `Name a file or folder inside the workspace, such as "${example}".`;
  yield error('INVALID_CONFIG', path, `${shown(name)} ${why}. ${fix}`);
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
