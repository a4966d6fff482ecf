// Which field of the format is on which tab of the form. A test holds that no field of the tables is missing.

import type { Field, ObjectField } from '../../../src/kernel/fields.ts';
import { LOADOUT, LOOP, SOCKET } from '../../../src/kernel/graph/loadout-fields.ts';
import { AGENT, UTILITY } from '../../../src/kernel/graph/materia-fields.ts';

export const TABS = ['Agent', 'Contract', 'Edges', 'Limits', 'Trust'] as const;
export type Tab = (typeof TABS)[number];

export const SOCKET_FIELDS: Readonly<Record<Tab, readonly string[]>> = {
  Agent: ['label', 'description'],
  Contract: ['parse', 'contract', 'strict', 'schema', 'assign', 'advance', 'foreach'],
  Edges: ['edges'],
  Limits: ['limits', 'lockScope', 'checkers'],
  Trust: [],
};

export const MATERIA_FIELDS: Readonly<Record<Tab, readonly string[]>> = {
  Agent: [
    ...['runner', 'model', 'tools', 'prompt', 'promptFile', 'system', 'thinking', 'multiTurn'],
    ...['utility', 'command', 'script', 'params', 'once', 'wait', 'mcp'],
    ...['label', 'description', 'group', 'color', 'type'],
  ],
  Contract: ['generator', 'parallel', 'parallelSafe', 'parse', 'contract', 'schema', 'assign'],
  Edges: [],
  Limits: [
    ...['timeoutMs', 'lockScope', 'writes', 'cwd', 'sandbox', 'onCrash', 'fallbacks'],
    ...['env', 'args', 'baseUrl', 'wire', 'keyVariable'],
  ],
  Trust: ['identity', 'lockState', 'catalogOrigin'],
};

/** Kept by the canvas, or shown as something else than a field. */
export const DRAWN_FIELDS: Readonly<Record<'socket' | 'loop' | 'loadout', readonly string[]>> = {
  socket: ['materia', 'socketKind', 'empty', 'layout'],
  loop: ['sockets', 'consumes', 'exits', 'parallel'],
  loadout: ['entry', 'sockets', 'loops', 'layout'],
};

export const LOOP_FIELDS = ['iterator', 'exit'];
export const LOADOUT_FIELDS = ['label', 'description', 'inputs'];
/** Seldom used: folded under More. Most are there for configurations that come from Materia. */
export const LOADOUT_MORE = ['id', 'source', 'lockState', 'originDefaultId'];

/** Sections of the configuration around a loadout that decide how its casts run. */
export const CONFIG_FIELDS = ['budget', 'limits', 'parallelism', 'defaults', 'checkers', 'worktree', 'notify'];

export const TABLES: Readonly<Record<'socket' | 'loop' | 'loadout' | 'agent' | 'utility', ObjectField>> = {
  ...{ socket: SOCKET, loop: LOOP, loadout: LOADOUT, agent: AGENT, utility: UTILITY },
};

/** The fields that people write: what is obsolete or no longer read has no control. */
export function authoredFields(table: ObjectField): readonly (readonly [string, Field])[] {
  return Object.entries(table.fields).filter(([, field]) => field.obsolete === undefined && field.ignored !== true);
}
