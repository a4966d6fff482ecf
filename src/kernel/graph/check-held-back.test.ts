import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { check } from './check.ts';

const COMMAND = { runner: 'command', command: ['agent'], tools: 'coding' };

/** The issues of a loadout with one socket. */
function issuesOf(materia: JsonObject, socket: JsonObject, config: JsonObject = {}): readonly string[] {
  const sockets = { 'Socket-1': { materia: 'A', ...socket } };
  const all = { materia: { A: { prompt: 'Go.', ...materia } }, loadouts: { L: { entry: 'Socket-1', sockets } } };
  return check({ activeLoadout: 'L', ...all, ...config }).map(({ level, path }) => `${level} ${path}`);
}

const GAIA = { contract: 'gaia', parse: 'json' };
const TOLD = ['warning loadouts.L.sockets.Socket-1.materia'];

test.each<[string, JsonObject, JsonObject, JsonObject, readonly string[]]>([
  ['a program of which nobody is asked', COMMAND, GAIA, {}, TOLD],
  ['a contract on the materia', { ...COMMAND, contract: 'gaia' }, { parse: 'json' }, {}, TOLD],
  ['without tools there is nothing to hold back', { ...COMMAND, tools: 'none' }, GAIA, {}, []],
  ['a turn that cannot ask', COMMAND, {}, {}, []],
  ['unless the configuration wants it there too', COMMAND, {}, { approvals: { hook: 'deny' } }, TOLD],
  ['where it is switched off', COMMAND, GAIA, { approvals: { hook: 'off' } }, []],
  ['programs that have a hook', { tools: 'coding' }, GAIA, {}, []],
  ['in a sandbox nothing is approved', { tools: 'coding', sandbox: 'bwrap' }, GAIA, {}, TOLD],
  ['a person', { runner: 'person', tools: 'none' }, GAIA, {}, []],
])('%s', (_what, materia, socket, config, issues) => {
  expect(issuesOf(materia, socket, config)).toEqual(issues);
});

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['an agent that runs checks where people work', { tools: 'readAndRun' }, {}, TOLD],
  ['beside an agent that may change files', { tools: 'readAndRun' }, { tools: 'coding' }, []],
  ['with paths of its own', { tools: 'readAndRun', lockScope: ['reports'] }, {}, []],
  ['an agent without a shell', { tools: 'readOnly' }, {}, []],
])('%s: %j', (_what, materia, other, issues) => {
  const sockets = {
    'Socket-1': { materia: 'A', edges: [{ to: 'Socket-2', when: 'always' }] },
    'Socket-2': { materia: 'B' },
  };
  const agents = { A: { prompt: 'Go.', ...materia }, B: { prompt: 'Go.', tools: 'none', ...other } };
  const found = check({ activeLoadout: 'L', materia: agents, loadouts: { L: { entry: 'Socket-1', sockets } } });
  expect(found.map(({ level, path }) => `${level} ${path}`)).toEqual(issues);
});
