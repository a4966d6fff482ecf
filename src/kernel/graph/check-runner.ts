// Checks of who is to carry an agent out: what its runner needs, what it makes nothing of, and who may stand in for it.
import { DEFAULT_RUNNER, orList, PRESENT, runnerCan, runnersThat } from '../capabilities.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { given, listAt } from './authored.ts';
import { COMMAND_SLOTS } from './config.ts';
import { error, type Findings, listed, shown, warning } from './issue.ts';

/** What a runner cannot do is found out before a cast, as far as the file tells. */
export function* checkRunner(materia: JsonObject, path: string): Findings {
  const runner = given(materia, 'runner') ?? DEFAULT_RUNNER;
  if (lacksTools(runner, materia)) yield warning('INVALID_MATERIA', `${path}.tools`, toolless(runner));
  if (isModel(runner) && !isText(given(materia, 'model'))) {
    const fix = 'Name one in model.';
    yield error('INVALID_MATERIA', `${path}.model`, `The runner ${runner} has no model of its own. ${fix}`);
  }
  if (runsCommand(runner) && given(materia, 'tools') === 'readAndRun') {
    const fix = `Write readOnly or coding, or use ${WITH_TOOLS}.`;
    yield warning('INVALID_MATERIA', `${path}.tools`, `The tools of a command cannot be limited to readAndRun. ${fix}`);
  }
  yield* checkFallbacks(materia, runner, path);
  if (runsCommand(runner)) yield* checkSlots(listAt(materia, 'command'), path);
  for (const field of MEANINGLESS[String(runner)] ?? []) {
    if (given(materia, field) === undefined) continue;
    yield warning('INVALID_MATERIA', `${path}.${field}`, `The runner ${runner} makes nothing of ${field}. Remove it.`);
  }
}

function* checkFallbacks(materia: JsonObject, own: Json, path: string): Findings {
  const fallbacks = listAt(materia, 'fallbacks');
  if (fallbacks.some((one) => isObject(one) && (given(one, 'runner') ?? given(one, 'model')) === undefined)) {
    yield error('INVALID_MATERIA', `${path}.fallbacks`, 'A fallback names a runner or a model. Write at least one.');
  }
  for (const [index, fallback] of fallbacks.entries()) {
    if (!isObject(fallback)) continue;
    const runner = given(fallback, 'runner') ?? own;
    const at = `${path}.fallbacks[${index}]`;
    if (isModel(runner) && !isText(given(fallback, 'model'))) {
      const message = `The runner ${shown(runner)} has no model of its own. Name one in model.`;
      yield error('INVALID_MATERIA', `${at}.model`, message);
    }
    // Where the materia itself has no tools it was told so already.
    if (lacksTools(runner, materia) && !isModel(own)) {
      yield warning('INVALID_MATERIA', `${at}.runner`, `${toolless(runner)} It would refuse the turn.`);
    }
    if (runsCommand(runner) && !runsCommand(own)) {
      const fix = 'Give the turn to a materia of its own, or name another runner.';
      yield error('INVALID_MATERIA', `${at}.runner`, `A fallback has no command of its own. ${fix}`);
    }
    if (runnerCan(PRESENT, runner, 'playsScript')) {
      const message = 'A script stands in for nobody. Name a runner that can be called, such as claude, or a person.';
      yield error('INVALID_MATERIA', `${at}.runner`, message);
    }
  }
}

/** What looks like a slot and is none reaches the program as it stands there. */
function* checkSlots(template: readonly Json[], path: string): Findings {
  const words = template.flat().filter(isString);
  const names = words.flatMap((word) =>
    Array.from(word.matchAll(/\{\{ ?([A-Za-z_]{1,40}) ?\}\}/g), ([, name = '']) => name),
  );
  for (const name of new Set(names)) {
    if (COMMAND_SLOTS.some((slot) => slot === name)) continue;
    const fix = `There are ${listed(COMMAND_SLOTS)}.`;
    yield warning('INVALID_MATERIA', `${path}.command`, `Nothing is filled in for {{${name}}}. ${fix}`);
  }
}

function lacksTools(runner: Json, materia: JsonObject): boolean {
  return isModel(runner) && given(materia, 'tools') !== 'none';
}

function toolless(runner: Json): string {
  return `The runner ${String(runner)} asks a model, which has no tools. Write tools: "none", or use ${WITH_TOOLS}.`;
}

/** Asked directly, without a program that would choose a model. */
function isModel(runner: Json | undefined): boolean {
  return runnerCan(PRESENT, runner, 'isModelApi');
}

function runsCommand(runner: Json): boolean {
  return runnerCan(PRESENT, runner, 'runsCommand');
}

const WITH_TOOLS = orList(runnersThat('callsTools'));

const MEANINGLESS: Readonly<Record<string, readonly string[]>> = {
  claude: ['wire', 'keyVariable'],
  codex: ['wire', 'keyVariable'],
  pi: ['baseUrl', 'wire', 'keyVariable'],
  command: ['baseUrl', 'wire', 'keyVariable'],
  openai: ['args', 'env', 'cwd'],
  anthropic: ['args', 'env', 'cwd', 'wire'],
  person: ['model', 'thinking', 'system', 'env', 'args', 'baseUrl', 'cwd', 'wire', 'keyVariable'],
};
