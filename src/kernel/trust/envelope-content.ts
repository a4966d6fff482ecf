// What an envelope on an edge of a graph carries: the request, its bounds, the expected result, and what was done and
// decided before. All of it is bounded; the facts of the cast have the whole.
import { itemValue } from '../cast/data.ts';
import { readsOnly } from '../cast/lock-scope.ts';
import { linesFor, notesFor, workText } from '../cast/notes.ts';
import { type Cast, type Turn, walkOf } from '../cast/state.ts';
import { contractOf } from '../graph/route.ts';
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { forbiddenText } from '../ledger/scope.ts';
import type { Task } from '../ledger/state.ts';
import { matchSurfaces } from '../report/envelope.ts';
import { truncate } from '../text.ts';

const DESCRIPTION_CHARS_MAX = 2_000;
const INPUT_CHARS_MAX = 16_384;
/** Well below what an envelope may have, which holds it some levels down. */
const DEPTH_MAX = 16;

/** The request, and the output of the agent before: the part of a brief that came from others. */
export function requestFor(cast: Cast, turn: Turn, task: Task | null): JsonObject {
  const last =
    turn.lane === null
      ? { output: cast.lastOutput, json: cast.lastJson, isJson: cast.lastIsJson }
      : walkOf(cast, turn)?.said;
  return {
    type: typeOf(cast, turn),
    description: truncate(turn.item?.label ?? cast.request, DESCRIPTION_CHARS_MAX).trim() || 'the request of the cast',
    input_data: { socket: turn.socket, item: turn.item?.key ?? null, ...(last ? handedOn(last) : {}) },
    constraints: constraintsOn(cast, turn, task),
    expected_output: expectedOf(cast, turn, task),
  };
}

const ENTRIES_MAX = 20;
const ENTRY_CHARS_MAX = 400;
const WORK_CHARS_MAX = 4_000;

function bounded(entries: readonly string[]): readonly string[] {
  return entries.slice(-ENTRIES_MAX).map((entry) => truncate(entry, ENTRY_CHARS_MAX));
}

/** A turn that must say yes or no decides, one that may change files does a task, and any other one looks into something. */
function typeOf(cast: Cast, turn: Turn): string {
  if (contractOf(cast.rules, turn.socket).requires.includes('satisfied')) return 'decision';
  return mayChange(cast, turn) ? 'task' : 'analysis';
}

/** Where it may write, what its packet states, and what was rejected before. */
function constraintsOn(cast: Cast, turn: Turn, task: Task | null): readonly string[] {
  const paths = (words: string, list: readonly string[]) =>
    list.length === 0 ? [] : [`${words}: ${list.slice(0, ENTRIES_MAX).join(', ')}`];
  return bounded([
    ...(mayChange(cast, turn) ? paths('Change only', task?.lockScope ?? []) : ['Change no file.']),
    ...paths('Leave alone', task ? forbiddenText(task) : []),
    ...(task?.context ?? []).flatMap(({ kind, value }) => (kind === 'constraint' && isString(value) ? [value] : [])),
    ...notesOn(cast, turn).map(({ label, reason }) => `Settle what ${label} rejected: ${reason}`),
  ]);
}

function expectedOf(cast: Cast, turn: Turn, task: Task | null): string {
  const criteria = bounded(task?.criteria ?? []);
  const { dialect, requires } = contractOf(cast.rules, turn.socket);
  const fields = requires.length === 0 ? '' : `, with ${requires.join(' and ')}`;
  return [`an answer in the contract ${dialect}${fields}`, ...criteria].join('\n- ');
}

export function stateFor(cast: Cast, turn: Turn): JsonObject {
  const value = turn.item ? itemValue(cast, turn.item) : undefined;
  const context = isObject(value) && isString(value.context) ? truncate(value.context, WORK_CHARS_MAX) : null;
  const work = truncate(workText(cast, turn), WORK_CHARS_MAX);
  return {
    conversation_history: bounded(linesFor(cast.heard, turn.item)).map((content) => ({ role: 'agent', content })),
    accumulated_context: {
      request: truncate(cast.request, DESCRIPTION_CHARS_MAX),
      ...(turn.item ? { item: { key: turn.item.key, title: turn.item.label, context } } : {}),
      ...(work === '' ? {} : { work }),
    },
    decisions_made: [
      ...notesOn(cast, turn).map(({ label, reason }) => ({ by: label, decision: 'not_satisfied', reason })),
      ...cast.reports.map(({ agent, status, verification }) => ({ by: agent, decision: status, reason: verification })),
    ].slice(-ENTRIES_MAX),
  };
}

function notesOn(cast: Cast, { socket, item }: Turn) {
  return notesFor(cast, socket, item?.key ?? null);
}

const SURFACES_MAX = 6;

export function surfacesOf(cast: Cast, { item }: Turn): readonly string[] {
  const value = item ? itemValue(cast, item) : undefined;
  const words = isObject(value) && isString(value.context) ? value.context : '';
  const text = item ? `${item.label}\n${words}` : cast.request;
  return matchSurfaces(text, cast.rules.surfaces ?? {})
    .slice(0, SURFACES_MAX)
    .map(({ surface }) => surface);
}

/** A payload that is too long to be carried along whole is cut as text; the fact of its own turn has all of it. */
function handedOn({
  output,
  json,
  isJson,
}: {
  readonly output: string;
  readonly json: Json;
  readonly isJson: boolean;
}): JsonObject {
  if (output === '') return {};
  if (isJson && output.length <= INPUT_CHARS_MAX && isShallow(json, DEPTH_MAX)) return { handoff: json };
  return { handoff: truncate(output, INPUT_CHARS_MAX) };
}

function isShallow(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

function mayChange(cast: Cast, { socket }: Turn): boolean {
  return readsOnly(cast, socket) === null;
}
