// Answers with a verdict: the object for scripts; for people what the command has to show, or the refusal with its findings.
import type { Verdict } from '../kernel/verdict.ts';
import { type Call, exitOf, note, out, outJson } from './command.ts';

const FINDINGS_SHOWN = 10;

export function tell(call: Call, verdict: Verdict, shown: (verdict: Verdict) => readonly string[]): number {
  if (call.json) outJson(verdict);
  else if (verdict.allow) for (const line of shown(verdict)) out(line);
  else for (const line of refusalLines(verdict)) note(line);
  return exitOf(verdict);
}

/** A refusal for people, with its findings. */
export function refusalLines({ code, reason, details }: Verdict): readonly string[] {
  const faults = Array.isArray(details.faults)
    ? (details.faults as { seq: number; kind: string; reason: string }[])
    : [];
  const more = faults.length > FINDINGS_SHOWN ? [`  … and ${faults.length - FINDINGS_SHOWN} more`] : [];
  const listed = faults.slice(0, FINDINGS_SHOWN).map((fault) => `  ${fault.seq}  ${fault.kind}  ${fault.reason}`);
  return [`baton: ${code}: ${reason}`, ...(faults.length > 1 ? [...listed, ...more] : [])];
}
