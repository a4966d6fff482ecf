// The names of the utilities, apart from their code: checking a configuration needs only the names.

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

/** In the form that `baton check` needs. */
export const UTILITY_NAMES = { aliases: BUILTINS, scripts: SHIPPED, slots: SLOTS } as const;
