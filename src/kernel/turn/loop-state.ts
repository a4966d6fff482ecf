// The loop of an agent that works in iterations towards a threshold. A COMPLETE that disproves itself, because iterations are
// left and the threshold is not reached, is held, and the agent goes on with its loop; that is no broken report, and it comes
// to its end with the iterations that the agent itself named.
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import { integerOf, numberOf } from './coerced-number.ts';

export type LoopState = {
  readonly iteration: number;
  readonly max: number;
  readonly metric: number;
  readonly threshold: number;
};

/** However many iterations an agent names, its COMPLETE is held this often in one turn and no more. */
export const HELD_MAX = 50;

const CODE = 'LOOP_STATE_INCOMPLETE:';

/** Null where a value is no number: the rule is off then, for it can only hold back what disproves itself. */
export function loopStateIn({ loop_state: loop }: JsonObject): LoopState | null {
  if (!isObject(loop)) return null;
  const [iteration, max] = [integerOf(loop.iteration), integerOf(loop.max_iterations)];
  const [metric, threshold] = [numberOf(loop.metric), numberOf(loop.threshold)];
  if (iteration === null || max === null || metric === null || threshold === null) return null;
  return { iteration, max, metric, threshold };
}

export function isUnfinished({ iteration, max, metric, threshold }: LoopState): boolean {
  return iteration < max && metric < threshold;
}

export function codeOfLoop({ iteration, max, metric, threshold }: LoopState): string {
  return `${CODE}iteration=${iteration}<max=${max},metric=${decimal(metric)}<threshold=${decimal(threshold)}`;
}

// Measures are printed with a fraction and iterations without one, so that the code tells them apart.
function decimal(number: number): string {
  const text = String(number);
  return Number.isInteger(number) && !text.includes('e') ? `${text}.0` : text;
}

export type HeldLoop = {
  /** How often a COMPLETE of this turn was held by now. */
  readonly round: number;
  /** What the agent said, and what it is told. */
  readonly said: string;
  readonly told: string;
};

/** Whether a refusal is about nothing but an unfinished loop. */
export function isOnlyLoop({ code, details }: Denied): boolean {
  const [missing, invalid] = [textsIn(details.missing), textsIn(details.invalid)];
  return code === 'CONTRACT_VIOLATION' && invalid.length === 0 && missing.length === 1 && isLoopCode(missing[0]);
}

/** How the loop goes on after a refusal that is about nothing else; null where its iterations, or ours, are spent. */
export function heldLoop(refusal: Denied, heldBefore: number): HeldLoop | null {
  if (!isOnlyLoop(refusal)) return null;
  const { code, iteration, max, metric, threshold } = partsIn(refusal);
  if (!(heldBefore < roundsMax(max))) return null;
  const said = `COMPLETE at iteration ${iteration} of ${max}`;
  const told = `COMPLETE is held (${code}): the metric is ${metric}, below its threshold of ${threshold}, and iterations are left. Go on with the next iteration, and report COMPLETE when the threshold is reached or the iterations are used up.`;
  return { round: heldBefore + 1, said, told };
}

/** A refusal as people are told of it. A COMPLETE that its loop holds is refused like a broken report, which it is not. */
export function toldRefusal({ verdict, loop }: { readonly verdict: Denied; readonly loop?: HeldLoop }): Denied {
  if (!loop) return verdict;
  const { iteration, max, metric, threshold } = partsIn(verdict);
  const reason = `COMPLETE is held, round ${loop.round} of ${roundsMax(max)}: at iteration ${iteration} of ${max} the metric is ${metric}, below its threshold of ${threshold}`;
  return deny('LOOP_STATE_INCOMPLETE', reason, verdict.details);
}

function roundsMax(max: string): number {
  return Math.min(Number(max), HELD_MAX);
}

function partsIn({ details }: Denied) {
  const [code = ''] = textsIn(details.missing);
  const [, iteration = '', max = '', metric = '', threshold = ''] = PARTS.exec(code) ?? [];
  return { code, iteration, max, metric, threshold };
}

const PARTS = /^LOOP_STATE_INCOMPLETE:iteration=([^<]{1,40})<max=([^,]{1,40}),metric=([^<]{1,40})<threshold=(.{1,40})$/;

function isLoopCode(code: string | undefined): boolean {
  return code?.startsWith(CODE) === true;
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter(isString) : [];
}
