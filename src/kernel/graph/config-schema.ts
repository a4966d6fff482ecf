// The configuration as a JSON Schema, for editors. It knows the shape of every field; what needs the whole graph to be
// seen is `check`'s.

import { HOOK_MODES } from '../approval/policy.ts';
import { TIERS } from '../approval/request.ts';
import type { JsonObject } from '../json.ts';
import { CHECKER_TIMES } from './checker.ts';
import { CONDITIONS, CONTRACTS, OUTPUT_BYTES_MAX, RUNNERS, TOOL_SCOPES, WIRES } from './config.ts';
import { FOLDER_BELOW } from './folder-below.ts';
import { HOOK_RULES } from './hook-rules.ts';
import { MODEL_RUNNERS } from './runner-choice.ts';
import { MAIN_CHECKOUT } from './worktree.ts';

const text = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 1 };
const amount = { type: 'integer', minimum: 0 };
const socketId = { type: 'string', pattern: '^Socket-[1-9][0-9]*$' };
const target = { type: 'string', pattern: '^(end|Socket-[1-9][0-9]*)$' };
const address = { type: 'string', pattern: '^https?://[^\\s/?#@]+([/?#][^\\s]*)?$' };
const condition = { enum: [...CONDITIONS] };
const assign = { type: 'object', additionalProperties: text };
const walk = { items: text, as: text, cursor: text, done: target };

const edge: JsonObject = {
  type: 'object',
  required: ['when', 'to'],
  properties: { when: condition, to: target, maxTraversals: count },
};

const socket: JsonObject = {
  type: 'object',
  required: ['materia'],
  properties: {
    materia: text,
    contract: { enum: [...CONTRACTS] },
    parse: { enum: ['text', 'json'] },
    assign,
    edges: { type: 'array', items: edge },
    advance: {
      type: 'object',
      required: ['cursor', 'items'],
      properties: { cursor: text, items: text, when: condition, done: target },
    },
    foreach: { type: 'object', required: ['items'], properties: walk },
    limits: {
      type: 'object',
      properties: { maxOutputBytes: { ...count, maximum: OUTPUT_BYTES_MAX }, timeoutMs: count },
    },
    schema: { type: ['object', 'string'] },
    strict: { type: 'boolean' },
  },
};

const loop: JsonObject = {
  type: 'object',
  required: ['sockets'],
  properties: {
    sockets: { type: 'array', minItems: 1, items: socketId },
    consumes: {
      type: 'object',
      required: ['from'],
      properties: { from: socketId, output: text, as: text, cursor: text },
    },
    iterator: { type: 'object', required: ['items'], properties: walk },
    exits: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'from', 'condition', 'targetSocketId'],
        properties: { id: text, from: socketId, condition, targetSocketId: socketId },
      },
    },
  },
};

const variable: JsonObject = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,199}$' };
const place: JsonObject = { baseUrl: address, wire: { enum: [...WIRES] }, keyVariable: variable };

const materia: JsonObject = {
  type: 'object',
  properties: {
    type: { enum: ['agent', 'utility'] },
    label: { type: 'string' },
    description: { type: 'string' },
    group: { type: 'string' },
    generator: { type: 'boolean' },
    parse: { enum: ['text', 'json'] },
    contract: { enum: [...CONTRACTS] },
    assign,
    timeoutMs: count,
    schema: { type: ['object', 'string'] },
    prompt: text,
    promptFile: text,
    tools: {
      anyOf: [
        { enum: [...TOOL_SCOPES] },
        {
          type: 'object',
          required: ['type', 'tools'],
          properties: { type: { const: 'custom' }, tools: { type: 'array', items: text } },
        },
      ],
    },
    runner: { enum: [...RUNNERS] },
    system: text,
    env: { type: 'array', items: variable },
    args: { type: 'array', items: { type: 'string' } },
    ...place,
    fallbacks: {
      type: 'array',
      items: {
        type: 'object',
        anyOf: [{ required: ['runner'] }, { required: ['model'] }],
        additionalProperties: false,
        properties: { runner: { enum: [...RUNNERS] }, model: text, ...place },
      },
    },
    mcp: { type: 'boolean' },
    model: { type: 'string' },
    thinking: { enum: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
    identity: text,
    onCrash: { enum: ['rerun', 'wait'] },
    sandbox: { enum: ['bwrap'] },
    cwd: { type: 'string', pattern: FOLDER_BELOW.source },
    multiTurn: { type: 'boolean' },
    utility: text,
    command: {
      type: 'array',
      minItems: 1,
      prefixItems: [text],
      items: { anyOf: [text, { type: 'array', items: text }] },
    },
    script: {
      type: 'object',
      required: ['kind', 'name'],
      properties: { kind: { const: 'shippedUtility' }, name: text },
    },
    params: { type: 'object' },
    once: { type: 'boolean' },
    writes: { type: 'array', items: text },
  },
};

const when: JsonObject = { enum: [...CHECKER_TIMES] };
const checker: JsonObject = {
  anyOf: [
    {
      type: 'object',
      required: ['command'],
      properties: {
        command: { type: 'array', minItems: 1, items: { type: 'string' } },
        exitCode: { type: 'integer', minimum: 0, maximum: 255 },
        timeoutMs: count,
        when,
      },
    },
    {
      type: 'object',
      required: ['file'],
      properties: { file: text, exists: { type: 'boolean' }, contains: text, when },
    },
    {
      type: 'object',
      required: ['json', 'equals'],
      properties: { json: text, pointer: { type: 'string', pattern: '^(/|$)' }, path: text, equals: {}, when },
    },
    { type: 'object', required: ['diff'], properties: { diff: { type: 'array', minItems: 1, items: text }, when } },
    { type: 'null' },
  ],
};

const cost = { type: 'number', minimum: 0 };
const price: JsonObject = {
  type: 'object',
  required: ['input', 'output'],
  properties: { input: cost, output: cost, cached: cost },
};

const words = { type: 'array', maxItems: 64, items: { ...text, maxLength: 200 } };
const surface: JsonObject = {
  type: 'object',
  required: ['agent'],
  properties: {
    agent: text,
    keywords: words,
    commands: words,
    artifacts: words,
    neighbours: words,
    checks: words,
    sections: words,
  },
};
const sectionName = { type: 'string', pattern: '^(?!memory$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' };

export const CONFIG_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Baton configuration',
  type: 'object',
  required: ['materia', 'loadouts'],
  properties: {
    $schema: { type: 'string' },
    activeLoadout: text,
    budget: {
      type: 'object',
      properties: {
        maxTokens: amount,
        maxCost: { type: 'number', minimum: 0 },
        maxDurationMs: count,
        warnAtPercent: { type: 'number', minimum: 1, maximum: 100 },
        maxTokensPerDay: amount,
        maxCostPerDay: { type: 'number', minimum: 0 },
      },
    },
    limits: {
      type: 'object',
      properties: { maxNoAdvanceCycles: amount, repairTurnsMax: amount, maxBriefBytes: count, modelSilenceMs: count },
    },
    defaults: {
      type: 'object',
      properties: { runner: { enum: [...MODEL_RUNNERS] }, model: text },
      additionalProperties: false,
    },
    runners: {
      type: 'object',
      propertyNames: { enum: [...RUNNERS] },
      additionalProperties: { type: 'object', properties: { maxConcurrent: count, perMinute: count } },
    },
    prices: { type: 'object', additionalProperties: price },
    mcp: { type: 'boolean' },
    surfaces: { type: 'object', maxProperties: 64, additionalProperties: surface },
    reconnaissanceAgent: text,
    context: {
      type: 'object',
      properties: {
        sections: {
          type: 'object',
          propertyNames: sectionName,
          additionalProperties: { type: 'object', properties: { description: { type: 'string' } } },
        },
        read: { type: 'object', additionalProperties: words },
        write: { type: 'object', additionalProperties: words },
      },
    },
    checkers: { type: 'object', additionalProperties: checker },
    locks: { type: 'object', properties: { caseInsensitive: { type: 'boolean' } } },
    checkpointEvery: { type: 'object', properties: { minutes: count, facts: count } },
    hooks: {
      type: 'object',
      properties: {
        contract: { enum: [...CONTRACTS] },
        contractAt: { type: 'array', items: { enum: ['Stop', 'SubagentStop'] } },
        worklog: { type: 'boolean' },
        rules: {
          type: 'object',
          propertyNames: { enum: [...HOOK_RULES] },
          additionalProperties: {
            anyOf: [
              { type: 'boolean' },
              {
                type: 'object',
                required: ['allow'],
                properties: { allow: { type: 'array', items: text } },
                additionalProperties: false,
              },
            ],
          },
        },
      },
    },
    approvals: {
      type: 'object',
      properties: {
        tiers: { type: 'object', additionalProperties: { enum: [...TIERS] } },
        blocked: { type: 'array', items: text },
        env: { type: 'array', items: text },
        writes: { enum: [...TIERS] },
        hook: { enum: [...HOOK_MODES] },
        pendingHours: count,
        grantMinutes: count,
      },
    },
    worktree: {
      anyOf: [
        { type: 'boolean' },
        {
          type: 'object',
          properties: {
            setup: {
              anyOf: [
                { type: 'array', items: { type: 'string' } },
                { type: 'array', items: { type: 'array', minItems: 1, items: { type: 'string' } } },
              ],
            },
            copy: { type: 'array', items: text },
            link: { type: 'array', items: text },
            mainCheckout: { enum: [...MAIN_CHECKOUT] },
            timeoutMs: count,
          },
        },
      ],
    },
    materia: { type: 'object', additionalProperties: { anyOf: [materia, { type: 'null' }] } },
    loadouts: {
      type: 'object',
      additionalProperties: {
        anyOf: [
          {
            type: 'object',
            required: ['entry', 'sockets'],
            properties: {
              entry: socketId,
              sockets: { type: 'object', propertyNames: socketId, additionalProperties: socket },
              loops: { type: 'object', additionalProperties: loop },
            },
          },
          { type: 'null' },
        ],
      },
    },
  },
};
