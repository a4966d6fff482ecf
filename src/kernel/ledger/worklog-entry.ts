// The members of a worklog entry. Others start with `x_`, as the contract asks of extensions: a file that we write holds no
// member that a program could take for a setting.
import type { JsonObject } from '../json.ts';

export const WORKLOG_FIELDS = {
  required: ['timestamp', 'run_id', 'task_id', 'actor', 'action', 'files_touched', 'decision', 'result', 'next_step'],
  optional: ['schema_version', 'generated_at', 'code', 'evidence'],
} as const;

const KNOWN: ReadonlySet<string> = new Set([...WORKLOG_FIELDS.required, ...WORKLOG_FIELDS.optional]);

export function unknownMembers(entry: JsonObject): readonly string[] {
  return Object.keys(entry).filter((name) => !isKnown(name));
}

/** The entry without its unknown members, which entries of older versions may have. */
export function withKnownMembers(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => isKnown(name)));
}

function isKnown(name: string): boolean {
  return KNOWN.has(name) || name.startsWith('x_');
}
