// What the configuration says of the worktree in which a cast works: whether it gets one, and how it is set up.
import { isObject, isPositiveInteger, isText, type Json, type JsonObject } from '../json.ts';
import { given } from './authored.ts';

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

/** One program, or several; null where it is neither. */
function stepsOf(setup: Json | undefined): readonly (readonly string[])[] | null {
  if (!Array.isArray(setup)) return null;
  if (setup.length === 0) return [];
  const steps = setup.every(Array.isArray) ? setup : [setup];
  const isStep = (step: Json): step is readonly string[] =>
    Array.isArray(step) && step.length > 0 && isText(step[0]) && step.every((word) => typeof word === 'string');
  return steps.every(isStep) ? steps : null;
}
