// What the workspace knows and remembers. Agents write it in their reports; people look at it and set it right.
import type { OperationEntry } from '../operation.ts';

const BY_PEOPLE = { leftOut: 'people set right what is known, by the command line or the library' } as const;
const SECTION = { type: 'text', word: 'SECTION', means: 'the section', example: 'services' } as const;
const MEMORY = { type: 'text', word: 'ID', required: true, means: 'the id of the suggestion', example: 'm7' } as const;

export const KNOWLEDGE = {
  'context.show': {
    name: 'context.show',
    group: 'knowledge',
    act: 'look',
    means: 'the sections, or the one that is named',
    example: 'baton context show services',
    fields: { section: SECTION },
    mcp: { leftOut: 'an agent reads sections with read_context, as far as its materia may' },
  },
  'context.diff': {
    name: 'context.diff',
    group: 'knowledge',
    act: 'look',
    means: 'what its last version changed; what came since V1; what differs between V1 and V2',
    example: 'baton context diff services 2 3',
    fields: {
      section: { ...SECTION, required: true },
      from: { type: 'count', word: 'V1', means: 'the version before', example: 2 },
      to: { type: 'count', word: 'V2', means: 'the version after', example: 3 },
    },
    mcp: BY_PEOPLE,
  },
  'context.history': {
    name: 'context.history',
    group: 'knowledge',
    act: 'look',
    means: 'every version, and every write that was refused: who, when, in which turn',
    example: 'baton context history services',
    fields: { section: { ...SECTION, required: true } },
    mcp: BY_PEOPLE,
  },
  'context.revert': {
    name: 'context.revert',
    group: 'knowledge',
    act: 'decide',
    means: 'give it the value of an earlier version again; 0 is nothing at all',
    example: 'baton context revert services --to 3 --reason "the port was a guess"',
    fields: {
      section: { ...SECTION, required: true },
      to: { type: 'count', value: 'V', required: true, means: 'the version to go back to', example: 3 },
      reason: { type: 'text', mayBeEmpty: true, means: 'why, for the log', example: 'the port was a guess' },
    },
    mcp: BY_PEOPLE,
  },
  'context.set': {
    name: 'context.set',
    group: 'knowledge',
    act: 'decide',
    means: 'merge a JSON object into it',
    example: 'baton context set services services.json',
    fields: {
      section: { ...SECTION, required: true },
      value: { type: 'json', word: 'FILE', required: true, means: 'the object' },
      replace: { type: 'flag', means: 'in the place of what it holds: what is not in FILE goes' },
    },
    mcp: BY_PEOPLE,
  },
  'memory.list': {
    name: 'memory.list',
    group: 'knowledge',
    act: 'look',
    means: 'what waits for a decision',
    example: 'baton memory list --all',
    fields: { all: { type: 'flag', means: 'what was accepted, too' } },
    mcp: BY_PEOPLE,
  },
  'memory.accept': {
    name: 'memory.accept',
    group: 'knowledge',
    act: 'decide',
    means: 'later turns are told it: with a section those that may read it, else all',
    example: 'baton memory accept m7 --section services',
    fields: {
      id: MEMORY,
      section: { type: 'text', mayBeEmpty: true, value: 'SECTION', means: 'the section it belongs to' },
    },
    mcp: BY_PEOPLE,
  },
  'memory.drop': {
    name: 'memory.drop',
    group: 'knowledge',
    act: 'decide',
    means: 'it is not taken, or not to be remembered any more; it is not suggested again',
    example: 'baton memory drop m7 --reason "not true"',
    fields: { id: MEMORY, reason: { type: 'text', mayBeEmpty: true, means: 'why, for the log' } },
    mcp: BY_PEOPLE,
  },
} as const satisfies Readonly<Record<string, OperationEntry>>;
