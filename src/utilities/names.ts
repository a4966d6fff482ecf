// What the utilities that come with the product are called, apart from what they do: who checks a configuration needs
// the names, and not the programs.

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

/** The slots of the cast data that each of them sets. What `echo` sets depends on what it is given. */
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

/** As `baton check` wants them. */
export const UTILITY_NAMES = { aliases: BUILTINS, scripts: SHIPPED, slots: SLOTS } as const;
