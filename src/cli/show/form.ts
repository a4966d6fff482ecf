// How the answer of an operation is shown where it is not shown as a verdict.
import type { Given } from '../../app/perform.ts';
import { agoText, spanText } from '../../app/views/in-words.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import type { Call } from '../command.ts';
import type { ShownLine } from '../paint.ts';

export type Form = {
  /** What scripts get: a member of `details`, or what is made of them; without it the verdict. */
  readonly value?: string | ((details: JsonObject, call: Call) => unknown);
  /** What people get; without it the same as scripts. */
  readonly lines?: (details: JsonObject, call: Call, given: Given, verdict: Verdict) => readonly ShownLine[];
  /** What people get for each value that comes before the end; without it each is a line of JSON. */
  readonly each?: (value: JsonObject, call: Call) => readonly ShownLine[];
  /** What people get with it, on standard error. */
  readonly notes?: (details: JsonObject, call: Call, given: Given, verdict: Verdict) => readonly ShownLine[];
  /** How people see a refusal: `lines` with its findings, like a fault of the command, the `same` as an answer; else as a verdict. */
  readonly refusal?: 'lines' | 'fault' | 'same';
  /** For a value that is bad news and no refusal. */
  readonly isBad?: (details: JsonObject) => boolean;
};

export type Forms = Readonly<Record<string, Form>>;

/** A message about a person's own file begins with its line. */
export const PLACE = /^([^\s:]+:\d+:\d+|config\.json): /;

export function rowsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** What was done, in one sentence. */
export const reasonLine: NonNullable<Form['lines']> = (_details, _call, _given, { reason }) => [reason];

/** How long ago a moment of the log was; a text that is no moment stays as it is. */
export function ageOf(at: Json | undefined): string {
  const time = Date.parse(String(at ?? ''));
  return Number.isNaN(time) ? String(at ?? '-') : agoText(time, Date.now());
}

/** For how long something has been so: `for 3 min`. */
export function spanOf(since: string): string {
  return spanText(Date.parse(since), Date.now());
}

const FINDINGS_SHOWN = 10;

/** A refusal for people, with its findings. */
export function refusalLines({ code, reason, details }: Verdict): readonly string[] {
  const faults = Array.isArray(details.faults)
    ? (details.faults as { seq: number; kind: string; reason: string }[])
    : [];
  const more = faults.length > FINDINGS_SHOWN ? [`  … and ${faults.length - FINDINGS_SHOWN} more`] : [];
  const listed = faults.slice(0, FINDINGS_SHOWN).map((fault) => `  ${fault.seq}  ${fault.kind}  ${fault.reason}`);
  return [`baton: ${code}: ${reason}`, ...(faults.length > 1 ? [...listed, ...more] : [])];
}
