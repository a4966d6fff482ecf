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
    cause:
      'the words on the way to a value name something that runs, and how many there are, how it is or where it is; or a text has the form of an address or of an id that a cloud gave',
    fix: 'leave out the places that the reason names; write what exists in the project, what is wanted below a word such as `spec` or `desired`, and look the rest up when it is needed',
  },
  SECTION_NAME_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a section of the shared knowledge cannot be called so',
    cause:
      'the name is empty, too long, is `memory` or `evidence`, or has characters other than letters, digits, dot, dash and underscore',
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
  EVIDENCE_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a piece of evidence that a report deposits lacks the promised shape; none of its evidence is taken',
    cause:
      'brief_id is no whole number, ac_id is blank, type is none of the five, or not exactly one of text and artifact_path is given',
    fix: 'mend the member that the path names and deposit all evidence of the report again',
  },
  EVIDENCE_OUTSIDE: {
    http: 422,
    retry: 'repaired',
    means:
      'a file that is named as evidence does not lie in the workspace; none of the evidence of the report is taken',
    cause: 'artifact_path is absolute, climbs out with `..`, or goes through a link that leads elsewhere',
    fix: 'copy the file into the folder you work in and name it relative to that',
  },
  EVIDENCE_TOO_LARGE: {
    http: 413,
    retry: 'repaired',
    means: 'a piece of evidence is larger than one may be; none of the evidence of the report is taken',
    cause: 'the text takes more than 64 KiB, or the file more than 64 MiB',
    fix: 'deposit the part that shows it; write a long text to a file and name its path',
  },
  EVIDENCE_WITHHELD: {
    http: 422,
    retry: 'repaired',
    means: 'a piece of evidence is in order and not taken, because another one of the same report is not',
    cause: 'the evidence of a report is taken all together or not at all',
    fix: 'mend the other one, and deposit all of it again',
  },
  EVIDENCE_MISSING: {
    http: 404,
    retry: 'repaired',
    means: 'a file that is named as evidence is not there; the evidence is taken all the same',
    cause: 'the report names an artifact_path at which nothing was found when the turn ended',
    fix: 'write the file before reporting, or correct the path and deposit it again',
  },
  CONTEXT_UNCHANGED: {
    http: 200,
    retry: 'never',
    means: 'a section holds all of what was written to it already, so that it got no new version',
    cause: 'the payload repeats members that are stored with the same values',
    fix: 'nothing; leave the entry out next time',
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
