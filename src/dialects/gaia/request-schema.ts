// What `gaia/merge` and `gaia/transition` are asked, as JSON Schemas. They say what can be judged at all: an entry that is
// malformed or a status that is none is no fault of the request but a part of the answer.
import type { JsonObject } from '../../kernel/json.ts';
import { PLAN_STATUSES } from './contract.ts';

const $schema = 'https://json-schema.org/draft/2020-12/schema';

export const MERGE_SCHEMA: JsonObject = {
  $schema,
  title: 'Entries to merge into stored sections',
  type: 'object',
  properties: {
    base: { type: ['object', 'null'], description: 'the stored sections by name; empty when left out' },
    entries: {
      type: ['array', 'null'],
      description: 'objects of contract, the name of a section, and payload, an object',
      examples: [[{ contract: 'services', payload: { login: { port: 8080 } } }]],
    },
    writable_sections: { type: ['array', 'null'], items: { type: 'string' }, description: 'none when left out' },
  },
};

export const TRANSITION_SCHEMA: JsonObject = {
  $schema,
  title: 'The statuses one agent reported, in order',
  type: 'object',
  required: ['reports'],
  properties: {
    reports: {
      type: 'array',
      minItems: 1,
      description: `each one of ${PLAN_STATUSES.join(', ')}`,
      examples: [['IN_PROGRESS', 'COMPLETE']],
    },
  },
};
