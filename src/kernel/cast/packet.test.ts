// What a runner is given for one dispatch.
import { expect, test } from 'vitest';
import { always, exit, graph, no, notSatisfied, plan, satisfied } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import type { JsonObject } from '../json.ts';
import { packetOf, watchOf } from './packet.ts';

const packet = ({ cast, turn }: Play) => packetOf(cast, turn);

test('an agent gets its brief and its limits', () => {
  const socket = { materia: 'Write', limits: { timeoutMs: 5000, maxOutputBytes: 99 } };
  const cast = play({ config: graph({ 'Socket-1': socket }), agents: { Write: ['x'] }, hold: true });
  expect(packet(cast)).toMatchObject({
    ...{ cast: 'c', turn: 1, attempt: 1, socket: 'Socket-1', timeoutMs: 5000, maxOutputBytes: 99, utility: null },
    materia: { id: 'Write', type: 'agent' },
    brief: cast.briefs('Socket-1')[0],
    scripted: { turn: 'x' },
  });
});

test('a script that says nothing more is told apart from no script', () => {
  const config = graph({ 'Socket-1': { materia: 'Write' } });
  expect(packet(play({ config, agents: { Write: [] }, hold: true })).scripted).toEqual({});
  expect(packet(play({ config })).scripted).toBeNull();
});

test('a utility gets the data, the item under its names, its cursor by the name people gave it, and the notes', () => {
  const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
  const sockets = {
    'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Write', advance: { ...advance, when: 'always' }, edges: [always('Socket-2')] },
    'Socket-3': { materia: 'Plan', edges: [always('Socket-4')] },
    'Socket-4': { materia: 'Tool', advance, edges: [satisfied('Socket-4'), notSatisfied('Socket-4', 1)] },
  };
  const loops = {
    first: { sockets: ['Socket-2'], consumes: { from: 'Socket-1' }, exits: [exit('Socket-2', 'always', 'Socket-3')] },
    second: { sockets: ['Socket-4'], consumes: { from: 'Socket-3' } },
  };
  const agents = { Plan: [plan(2), plan(1, 'Late')], Write: ['x', '$repeat'], Tool: [no('again'), no()] };
  const cast = play({ config: graph(sockets, { loops }), request: 'please', agents });
  const item = { title: 'Late 1', context: 'do late 1' };
  expect(packet(cast).utility).toEqual({
    ...{ request: 'please', item, itemKey: 'WI-1', itemLabel: 'Late 1' },
    state: { ...cast.cast.data, item, workItem: item, currentWorkItem: item },
    cursor: { name: 'workItemIndex', index: 0 },
    cursors: { workItemIndex: 0 },
    rework: expect.arrayContaining([{ from: 'Socket-4', reason: 'again' }]),
  });
});

test('outside a loop it gets no item', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Tool' } }), agents: { Tool: [{}] }, hold: true });
  const nothing = { item: null, itemKey: null, itemLabel: null, cursor: null, cursors: {}, rework: [] };
  expect(packet(cast).utility).toEqual({ request: 'do it', state: {}, ...nothing });
});

const reader = { prompt: 'Look.', tools: 'readOnly' };
const writer = { prompt: 'Write.', tools: 'coding' };
const command = { runner: 'command', command: ['x'] };
const model = { model: 'm' };

test.each<[string, JsonObject, boolean, boolean]>([
  ['a program that may only read', { ...reader, ...command }, true, true],
  ['a program that keeps its reader from writing', { ...reader, runner: 'claude' }, false, true],
  ['a program that keeps from writing who has no tools', { ...reader, tools: 'none', runner: 'codex' }, false, true],
  ['a program of which a reader has paths', { ...reader, runner: 'pi', lockScope: ['notes'] }, true, false],
  ['a program that may write', { ...writer, runner: 'pi' }, true, false],
  ['a program with an empty scope', { ...writer, ...command, lockScope: [] }, true, true],
  ['a program that only reads and has paths', { ...reader, ...command, lockScope: ['notes'] }, true, false],
  ['a utility', { type: 'utility', command: ['x'] }, true, false],
  ['a utility with an empty scope', { type: 'utility', command: ['x'], lockScope: [] }, true, true],
  ['a model that is asked directly', { ...writer, ...model, runner: 'openai' }, false, false],
  ['a model that may only read', { ...reader, ...model, runner: 'anthropic' }, false, true],
  ['a person with paths', { ...writer, runner: 'person' }, true, false],
  ['a person without any', { ...reader, runner: 'person' }, false, true],
])('of %s: whether its changes are noted, and whether it may make none', (_who, M, files, readsOnly) => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'M' } }, { materia: { M } }) });
  expect(watchOf(cast.state, cast.cast, cast.turn)).toMatchObject({ files, readsOnly });
});

test.each<[string, JsonObject, boolean]>([
  ['a program that may only read', { ...reader, ...command }, false],
  ['an empty scope', { ...writer, ...command, lockScope: [] }, false],
  ['a utility', { type: 'utility', command: ['x'] }, false],
  ['a utility with paths', { type: 'utility', command: ['x'], lockScope: ['notes'] }, true],
  ['a reader with paths', { ...reader, ...command, lockScope: ['notes'] }, true],
  ['a program that may write', { ...writer, ...command }, true],
])('with %s: whether what changes in the directory itself is held against it', (_who, M, compares) => {
  const { state, cast, turn } = play({ config: graph({ 'Socket-1': { materia: 'M' } }, { materia: { M } }) });
  expect(watchOf(state, cast, turn).compares).toBe(compares);
  expect(watchOf(state, { ...cast, root: '/w' }, turn).compares).toBe(true);
});

test.each<[string, JsonObject, JsonObject, string | undefined, string | null]>([
  ['a program that may write', { ...writer, ...command }, {}, '/w', 'refuse'],
  ['a program that may only read', { ...reader, ...command }, {}, '/w', 'refuse'],
  ['a utility with paths', { type: 'utility', command: ['x'], lockScope: ['notes'] }, {}, '/w', 'refuse'],
  ['a utility of which nothing is said', { type: 'utility', command: ['x'] }, {}, '/w', null],
  ['a model that is asked directly', { ...reader, ...model, runner: 'openai' }, {}, '/w', null],
  ['a workspace that says so', { ...writer, ...command }, { worktree: { mainCheckout: 'warn' } }, '/w', 'warn'],
  ['the directory itself', { ...writer, ...command }, {}, undefined, null],
])('with %s: what becomes of changes in the main checkout', (_who, M, more, root, mainCheckout) => {
  const config = { ...graph({ 'Socket-1': { materia: 'M' } }, { materia: { M } }), ...more };
  const { state, cast, turn } = play({ config });
  expect(watchOf(state, { ...cast, ...(root ? { root } : {}) }, turn).mainCheckout).toBe(mainCheckout);
});

test('in a worktree nobody else writes, so that every program is looked at', () => {
  const M = { ...reader, runner: 'claude' };
  const { state, cast, turn } = play({ config: graph({ 'Socket-1': { materia: 'M' } }, { materia: { M } }) });
  expect(watchOf(state, { ...cast, root: '/w' }, turn)).toMatchObject({ files: true, readsOnly: true });
});

test('what a program left before a model took over is still looked at, and not before it had a turn', () => {
  const of = (runner: string, fallback: string, choice: number) => {
    const M = { ...reader, ...model, runner, fallbacks: [{ runner: fallback, model: 'm' }] };
    const { state, cast, turn } = play({ config: graph({ 'Socket-1': { materia: 'M' } }, { materia: { M } }) });
    return watchOf(state, { ...cast, root: '/w' }, { ...turn, choice }).files;
  };
  expect([of('claude', 'openai', 0), of('claude', 'openai', 1)]).toEqual([true, true]);
  expect([of('openai', 'claude', 0), of('openai', 'claude', 1)]).toEqual([false, true]);
});

test('of a script no files are looked at, unless it has paths', () => {
  const of = (materia: string) => {
    const config = graph({ 'Socket-1': { materia } });
    const { state, cast, turn } = play({ config, agents: { [materia]: ['x'] }, hold: true });
    return watchOf(state, cast, turn);
  };
  expect([of('Judge'), of('Tool'), of('Write')].map(({ files, looks }) => [files, looks])).toEqual([
    [false, false],
    [false, false],
    [true, false],
  ]);
});
