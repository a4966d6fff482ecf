// A shipped utility: a function from its input to the text of its result, or to the reason why there is none; and the names of all
// utilities with what each sets and changes. Checking a configuration needs only the names, so their code is elsewhere.
import type { UtilityMessage } from '../agents/process/utility-protocol.ts';
import type { AnswerFields } from '../kernel/graph/answer-fields.ts';
import { isObject, isText, type JsonObject } from '../kernel/json.ts';

/** The part of a utility's standard input that shipped utilities read. */
export type ShippedInput = Pick<UtilityMessage, 'cwd' | 'castId' | 'params' | 'state' | 'item'>;

export type UtilityOutcome =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly reason: string };

export type Utility = (input: ShippedInput) => Promise<UtilityOutcome>;

export function utilityResult(result: JsonObject): UtilityOutcome {
  return { ok: true, output: JSON.stringify(result) };
}

export function utilityFault(reason: string): UtilityOutcome {
  return { ok: false, reason };
}

/** The title of the current work item on one line, or null. */
export function titleOf({ item }: ShippedInput): string | null {
  const title = isObject(item) ? item.title : null;
  return isText(title) ? titleLine(title) : null;
}

export function titleLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

export const BUILTINS = ['noop', 'echo', 'project.ensureIgnored', 'vcs.detect'] as const;
export type BuiltinName = (typeof BUILTINS)[number];

export const SHIPPED = [
  'Ignore-Artifacts',
  'Detect-VCS',
  'Blackbelt-Bootstrap',
  'Blackbelt-Maintain',
  'Mime-Bootstrap',
  'Mime-Maintain',
  'Commit-Sigil',
  'Project-Check',
  'Commit',
] as const;
export type ShippedName = (typeof SHIPPED)[number];

/** The slots of the cast data that each utility sets. What `echo` sets depends on its input. */
const SLOTS: Readonly<Record<Exclude<BuiltinName, 'echo'> | ShippedName, readonly string[]>> = {
  noop: [],
  'project.ensureIgnored': [],
  'vcs.detect': [],
  'Ignore-Artifacts': ['artifactIgnore'],
  'Detect-VCS': ['vcs'],
  'Blackbelt-Bootstrap': ['blackbeltBootstrap'],
  'Blackbelt-Maintain': [],
  'Mime-Bootstrap': ['mimeBootstrap'],
  'Mime-Maintain': ['mimeMaintain'],
  'Commit-Sigil': ['workItems'],
  'Project-Check': ['projectCheck'],
  Commit: ['commit'],
};

/** The fields at the top of the result, besides those of a handoff. An edge may ask for their values. */
const FIELDS: Readonly<Partial<Record<BuiltinName | ShippedName, AnswerFields>>> = {
  'vcs.detect': { kind: { values: ['jj', 'git', 'none'], required: true }, root: { types: ['string', 'null'] } },
  'project.ensureIgnored': {
    ok: { values: [true], required: true },
    root: { types: ['string'], required: true },
    file: { types: ['string'], required: true },
  },
};

/** The files that each changes, unless `params.file` names another one. */
const WRITES: Readonly<Partial<Record<BuiltinName | ShippedName, readonly string[]>>> = {
  'project.ensureIgnored': ['.gitignore'],
  'Ignore-Artifacts': ['.gitignore'],
  'Blackbelt-Bootstrap': ['.gitignore'],
};

/** In the form that `baton check` needs. */
export const UTILITY_NAMES = {
  aliases: BUILTINS,
  scripts: SHIPPED,
  slots: SLOTS,
  fields: FIELDS,
  writes: WRITES,
} as const;
