// Who has a turn: the runner and model that its materia names, or a fallback, and what belongs to each of them.
import { expect, test } from 'vitest';
import { graph } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import type { Code } from '../codes.ts';
import type { AgentMateria } from '../graph/config.ts';
import type { JsonObject } from '../json.ts';
import { choiceName, choicesOf, chosenMateria, continuedSession, materiaOf, nextChoice, variablesOf } from './rules.ts';

/** A cast whose first socket has this materia. */
function asking(materia: JsonObject): Play {
  const Ask = 'type' in materia ? materia : { tools: 'none', prompt: 'Ask.', ...materia };
  return play({ config: graph({ 'Socket-1': { materia: 'Ask' } }, { materia: { Ask } }) });
}
const agent = (materia: JsonObject) => materiaOf(asking(materia).cast, 'Socket-1') as AgentMateria;
const UTILITY = { type: 'utility', command: ['tool'] };

test.each<[string, JsonObject, readonly string[]]>([
  ['a model of a program', { runner: 'codex', model: 'a' }, ['codex a', 'codex null']],
  ['no model', { runner: 'codex' }, ['codex null']],
  ['its own model among others', { runner: 'codex', fallbacks: [{ model: 'b' }] }, ['codex null', 'codex b']],
  [
    'the own model of another program',
    { runner: 'codex', model: 'a', fallbacks: [{ runner: 'claude' }] },
    ['codex a', 'claude null', 'codex null'],
  ],
  ['a model that is asked directly', { runner: 'openai', model: 'a' }, ['openai a']],
])('the choices of a materia that names %s', (_what, materia, names) => {
  expect(choicesOf({}, agent(materia)).map(({ runner, model }) => `${runner} ${model}`)).toEqual(names);
});

const MODELS = { runner: 'codex', model: 'a', fallbacks: [{ model: 'b' }, { runner: 'claude' }] };

test.each<[Code, number, boolean, number | null]>([
  ['AGENT_CRASHED', 0, true, null],
  ['PROVIDER_ERROR', 0, false, null],
  ['PROVIDER_ERROR', 0, true, 1],
  ['RATE_LIMITED', 0, false, 1],
  ['AUTH_REQUIRED', 0, false, 2],
  ['RATE_LIMITED', 2, false, null],
  ['MODEL_UNAVAILABLE', 2, false, 3],
  ['MODEL_UNAVAILABLE', 3, false, null],
])('%s at choice %i (last try: %s) leads to choice %s', (cause, at, isLast, next) => {
  expect(nextChoice({}, agent(MODELS), at, cause, isLast)).toBe(next);
});

const PLACE = { baseUrl: 'http://a/v1', wire: 'chat', keyVariable: 'KEY' };
const ARGS = { runner: 'codex', model: 'a', args: ['--fast'], fallbacks: [{ model: 'b' }, { runner: 'claude' }] };

test.each<[string, JsonObject, number, object, readonly string[]]>([
  ['the first choice keeps all', { runner: 'openai', model: 'a', ...PLACE }, 0, { model: 'a', ...PLACE }, ['args']],
  ['another model of the runner keeps its arguments', ARGS, 1, { runner: 'codex', model: 'b', args: ['--fast'] }, []],
  ['another runner has none of them', ARGS, 2, { runner: 'claude', model: null }, ['args']],
  ['where none are named, none are added', MODELS, 1, { runner: 'codex', model: 'b' }, ['args', 'baseUrl']],
  ['a choice beyond the last is the first', ARGS, 9, { runner: 'codex', model: 'a', args: ['--fast'] }, []],
  ['a utility has no other', UTILITY, 1, { type: 'utility', command: ['tool'] }, ['runner', 'model']],
])('%s', (_what, materia, choice, has, lacks) => {
  const chosen = chosenMateria(asking(materia).cast, { socket: 'Socket-1', choice });
  expect(chosen).toMatchObject(has);
  expect(Object.keys(chosen).filter((key) => lacks.includes(key))).toEqual([]);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['an agent that names some', { env: ['TOKEN', 'HOST'] }, ['TOKEN', 'HOST']],
  ['an agent that names none', {}, []],
  ['a utility', UTILITY, []],
])('the variables that %s is handed', (_what, materia, names) => {
  expect(variablesOf(materiaOf(asking(materia).cast, 'Socket-1'))).toEqual(names);
});

test.each<[string, JsonObject, number, boolean]>([
  ['the same runner', ARGS, 0, true],
  ['the same runner with another model', ARGS, 1, true],
  ['another runner', ARGS, 2, false],
  ['a utility', UTILITY, 0, false],
])('whether %s continues the conversation', (_what, materia, choice, isContinued) => {
  const session = { runner: 'codex', id: 's' };
  const { cast } = asking(materia);
  expect(continuedSession(cast, { socket: 'Socket-1', choice, session })).toBe(isContinued ? session : null);
  expect(continuedSession(cast, { socket: 'Socket-1', choice, session: null })).toBeNull();
});

test.each([
  [null, 'codex with its own model'],
  ['a', 'codex with a'],
])('a choice of model %s is called %s', (model, name) => {
  expect(choiceName({ runner: 'codex', model })).toBe(name);
});
