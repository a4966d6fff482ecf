// Which loadout is cast; and what can be checked but not be cast is refused by name.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { locate } from './locate.ts';
import { locateCast } from './plan.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-plan-'));
  mkdirSync(join(dir, '.baton'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(config: object): void {
  writeFileSync(join(dir, '.baton', 'config.json'), JSON.stringify(config));
}

function workspace() {
  const found = locate(dir, {}, dir);
  if (!found) throw new Error('no workspace');
  return found;
}

async function planned(materia: object, socket: object, script?: object) {
  const config = {
    materia: { M: { tools: 'none', prompt: 'Do.', ...materia } },
    loadouts: { One: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'M', ...socket } } } },
  };
  put(config);
  if (script) writeFileSync(join(dir, 'agents.json'), JSON.stringify(script));
  const found = await locateCast({
    workspace: workspace(),
    file: undefined,
    loadout: undefined,
    agents: script && 'agents.json',
    cwd: dir,
    utilities: { aliases: ['noop'], scripts: [] },
  });
  return found.ok ? 'ok' : found.issues.map(({ code, path }) => `${code} ${path}`);
}

test.each([
  [{}, {}, 'ok'],
  [{ multiTurn: true }, {}, 'ok'],
  [{ generator: true, parallel: true }, {}, 'ok'],
  [{}, { contract: 'gaia' }, 'ok'],
  [{}, { contract: 'operator' }, 'ok'],
  [{}, { parse: 'json', schema: { type: 'object' } }, 'ok'],
  [{}, { parse: 'json', schema: { type: 'nonsense' } }, ['INVALID_CONFIG loadouts.One.sockets.Socket-1.schema']],
  [{}, { parse: 'json', schema: 'missing.json' }, ['INVALID_CONFIG loadouts.One.sockets.Socket-1.schema']],
  [{ schema: '../../outside.json' }, { parse: 'json' }, ['INVALID_CONFIG materia.M.schema']],
])('a materia with %j on a socket with %j: %j', async (materia, socket, expected) => {
  expect(await planned(materia, socket)).toEqual(expected);
});

test('a schema may lie in a file beside the configuration', async () => {
  writeFileSync(join(dir, '.baton', 'score.json'), '{"type":"object","required":["score"]}');
  expect(await planned({}, { parse: 'json', schema: 'score.json' })).toBe('ok');
});

test.each<[string, object, string | undefined, string | string[]]>([
  ['none is active and none named', {}, undefined, ['INVALID_CONFIG activeLoadout']],
  ['none is active, and a sound one named', {}, 'Good', 'Good'],
  ['none is active, and a broken one named', {}, 'Bad', ['UNKNOWN_MATERIA loadouts.Bad.sockets.Socket-1.materia']],
  ['one is active', { activeLoadout: 'Good' }, undefined, 'Good'],
  ['one is active by its id', { activeLoadoutId: 'g' }, undefined, 'Good'],
  ['the active one does not exist', { activeLoadout: 'Nope' }, undefined, ['INVALID_CONFIG activeLoadout']],
  ['the active one does not exist, and a sound one named', { activeLoadout: 'Nope' }, 'Good', 'Good'],
])('of two loadouts %s', async (_what, config, loadout, expected) => {
  const place = (materia: string) => ({ id: 'g', entry: 'Socket-1', sockets: { 'Socket-1': { materia } } });
  const loadouts = { Good: place('M'), Bad: { ...place('Nobody'), id: 'b' } };
  put({ ...config, materia: { M: { tools: 'none', prompt: 'Do.' } }, loadouts });
  const found = await locateCast({ workspace: workspace(), file: undefined, loadout, agents: undefined, cwd: dir });
  expect(found.ok ? found.plan.loadout : found.issues.map(({ code, path }) => `${code} ${path}`)).toEqual(expected);
});

const stranger = { prompt: undefined, tools: undefined, utility: 'unknown' };
test.each([
  ['nobody speaks for it', undefined, ['INVALID_MATERIA materia.M.utility']],
  ['the script speaks for somebody else', { N: ['x'] }, ['INVALID_MATERIA materia.M.utility']],
  ['the script speaks for the materia', { M: ['x'] }, 'ok'],
  ['the script speaks for its socket', { 'Socket-1': ['x'] }, 'ok'],
])('a utility that does not exist: %s', async (_what, script, expected) => {
  expect(await planned(stranger, {}, script)).toEqual(expected);
});
