// The names of the utilities, apart from their code: checking a configuration needs only the names.
import type { AnswerFields } from '../kernel/graph/answer-fields.ts';

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
};

/** The fields at the top of what a utility returns, beside those of a handoff: what an edge may ask the value of. */
const FIELDS: Readonly<Partial<Record<BuiltinName | ShippedName, AnswerFields>>> = {
  'vcs.detect': { kind: { values: ['jj', 'git', 'none'], required: true }, root: { types: ['string', 'null'] } },
  'project.ensureIgnored': {
    ok: { values: [true], required: true },
    root: { types: ['string'], required: true },
    file: { types: ['string'], required: true },
  },
};

/** The files that each is known to change, where `params.file` names no other. */
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
