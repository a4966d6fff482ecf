// Codes of what a workspace knows: sections that agents and people write, and what is suggested to be remembered.
import type { CodeRow } from './row.ts';

export const KNOWLEDGE_CODES = {
  PAYLOAD_NOT_OBJECT: {
    http: 422,
    retry: 'repaired',
    means: 'what was to be written to a section is not an object',
    cause: 'the payload is a list, a text, a number or null; a section is merged member by member',
    fix: 'write an object with the members to add or to update',
  },
  LIVE_STATE: {
    http: 422,
    retry: 'repaired',
    means: 'what was to be written is what a running system happens to be at the moment',
    cause: 'a value looks like an address, a count of what runs, a runtime status or an id that a cloud gave',
    fix: 'leave out the places that the reason names; write what exists in the project, and look the rest up when it is needed',
  },
  SECTION_NAME_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a section of the shared knowledge cannot be called so',
    cause:
      'the name is empty, too long, is `memory`, or has characters other than letters, digits, dot, dash and underscore',
    fix: 'choose a name of at most 64 letters, digits, dots, dashes and underscores that begins with a letter or digit',
  },
  SECTION_TOO_LARGE: {
    http: 413,
    retry: 'repaired',
    means: 'a section would be larger than one may be',
    cause: 'merged with what is stored the section takes more than 64 KiB',
    fix: 'write less, use another section, or let a person shorten it with `baton context set SECTION FILE --replace`',
  },
  CONTEXT_LIMIT: {
    http: 409,
    retry: 'person',
    means: 'the shared knowledge takes no more',
    cause: 'there are 256 sections already, or one report writes more than 64 entries',
    fix: 'combine what belongs to one section into one entry; use a section that is there',
  },
  UNKNOWN_SECTION: {
    http: 404,
    retry: 'repaired',
    means: 'there is no such section',
    cause: 'nothing was ever written under this name',
    fix: '`baton context show` lists the sections',
  },
  UNKNOWN_VERSION: {
    http: 404,
    retry: 'repaired',
    means: 'the section never had this version',
    cause: 'versions are numbered from 1; 0 stands for the section before anything was written to it',
    fix: '`baton context history SECTION` lists the versions',
  },
  UNKNOWN_MEMORY: {
    http: 404,
    retry: 'repaired',
    means: 'there is no such suggestion and no such memory',
    cause: 'the id was never given, or somebody has decided about it already',
    fix: '`baton memory list` shows what waits; with --all what was accepted, too',
  },
  MEMORY_FULL: {
    http: 409,
    retry: 'person',
    means: 'no more can be remembered',
    cause: '256 suggestions were accepted, or 500 wait for a person',
    fix: 'drop what is not needed any more with `baton memory drop ID --reason TEXT`',
  },
} as const satisfies Record<string, CodeRow>;
