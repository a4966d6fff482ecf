// evidence_report: the seven lists an agent bases its status on, and the verification without which nothing is complete.
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { claimedCommands } from '../../kernel/report/commands.ts';
import { EVIDENCE_KEYS, type PlanStatus } from './contract.ts';
import { type Finding, missing, textOf } from './finding.ts';
import { either, isEmpty, usable } from './presence.ts';

/** Every valid status needs the seven keys. What they hold is the agent's affair: even null is an answer. */
export function checkEvidence(report: JsonObject): Finding[] {
  const section = usable(report.evidence_report);
  const absent = EVIDENCE_KEYS.filter((key) => !section || !holds(section, key)).map((key) =>
    missing(key.toUpperCase(), `evidence_report.${key}`, `${key} is missing: give a list, [] when there is nothing`),
  );
  if (section) return absent;
  return [
    missing('EVIDENCE_REPORT', 'evidence_report', 'give evidence_report as an object with its seven keys'),
    ...absent,
  ];
}

/** COMPLETE has to be backed by a verification that passed; other statuses may carry any, even a failed one. */
export function checkVerification(report: JsonObject, plan: PlanStatus | null): Finding[] {
  if (plan !== 'COMPLETE') return [];
  const path = 'evidence_report.verification';
  const verification = isObject(report.evidence_report) ? report.evidence_report.verification : undefined;
  if (!isObject(verification)) {
    const advice =
      'COMPLETE needs an object with method, checks and result; report IN_PROGRESS if nothing was verified';
    return [missing('VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE', path, advice)];
  }
  const { result } = verification;
  if (typeof result === 'string' && result.trim().toLowerCase() === 'pass') return [];
  const advice = 'COMPLETE needs the result "pass"; report IN_PROGRESS or BLOCKED if the verification did not pass';
  return [missing('VERIFICATION_RESULT_MUST_BE_PASS', `${path}.result`, advice)];
}

/** Commands were run and none of their output is quoted: worth a look, never a refusal. */
export function lacksVerbatimOutput(report: JsonObject): boolean {
  if (claimedCommands(report).length === 0) return false;
  return entriesOf(report, 'verbatim_outputs').every((entry) => PLACEHOLDERS.has(plain(textOf(entry))));
}

const PLACEHOLDERS = new Set([
  '',
  '[]',
  '-',
  'n/a',
  'na',
  'none',
  'no output',
  'no output captured',
  'no output to capture',
  'not applicable',
  'not available',
  'no command run',
  'no commands run',
  'no command(s) run',
  'no verbatim output',
]);

function plain(text: string): string {
  const word = text.trim().toLowerCase();
  return word.endsWith('.') ? word.slice(0, -1) : word;
}

function holds(section: JsonObject, key: string): boolean {
  return Object.hasOwn(section, key) || Object.hasOwn(section, key.toUpperCase());
}

function entriesOf(report: JsonObject, key: string): readonly Json[] {
  const value = either(usable(report.evidence_report), key);
  if (Array.isArray(value)) return value.filter((entry) => entry !== null);
  return value === undefined || isEmpty(value) ? [] : [value];
}
