// The agent handoff as a JSON Schema, for publishing and for models that take a schema. It is the contract of a socket
// that requires nothing and assigns nothing; `read` decides, and knows more than a schema can say.
import type { JsonObject } from '../../kernel/json.ts';
import { ITEM_FIELDS, SEVERITIES } from './fields.ts';

const NON_BLANK = { type: 'string', pattern: '\\S' } as const;

export const handoffSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:baton:schema:materia-handoff',
  title: 'Materia handoff',
  description: 'The one JSON object an agent returns at the end of its turn.',
  type: 'object',
  additionalProperties: false,
  properties: {
    workItems: {
      description: 'Generated or refined units of work, in order.',
      type: 'array',
      items: { $ref: '#/$defs/workItem' },
    },
    satisfied: { description: 'What guarded edges and advancement read.', type: 'boolean' },
    context: { description: 'Text for the agents downstream.', type: 'string' },
    event: {
      description: 'Events for people and hooks; taken out before the payload is handed on.',
      type: 'array',
      items: { $ref: '#/$defs/event' },
    },
  },
  $defs: {
    workItem: {
      type: 'object',
      additionalProperties: false,
      required: [...ITEM_FIELDS],
      properties: { title: NON_BLANK, context: NON_BLANK },
    },
    event: {
      type: 'object',
      required: ['type'],
      properties: {
        type: NON_BLANK,
        severity: { enum: [...SEVERITIES], default: 'info' },
        message: { type: 'string' },
        payload: { type: 'object' },
        source: {
          type: 'object',
          properties: { materia: { type: 'string' }, socketId: { type: 'string' } },
        },
      },
    },
  },
};
