// What would have been refused, for a team that wants to look before it enforces: one JSON object a line.
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../kernel/json.ts';
import { scrubJson } from '../kernel/secrets.ts';
import type { HookDecision } from './protocol.ts';

const REPORT_FILE = 'hooks.jsonl';

export function reportDenial(
  stateDir: string,
  event: string,
  decision: Exclude<HookDecision, { kind: 'allow' }>,
  at: Date,
): void {
  const { code, reason, details } = decision.verdict;
  const line: JsonObject = { at: at.toISOString(), event, would: decision.kind, code, reason, details };
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const file = openSync(join(stateDir, REPORT_FILE), flags, 0o600);
  try {
    // One write for a line: hooks of several agents write side by side.
    writeSync(file, `${JSON.stringify(scrubJson(line).value)}\n`);
  } finally {
    closeSync(file);
  }
}
