// Secrets that must not reach the log. Scripts and commands of a cast may contain them: such a text is replaced by a mark in the log
// and kept in a private file until it is used. What agents and utilities print is stored without the secrets of their
// environment.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AttemptResult, Runner, Runners, Witness } from '../engine/ports.ts';
import type { Packet, Watch } from '../kernel/cast/packet.ts';
import { knownValues, type Variables, withoutValues } from '../kernel/credential.ts';
import type { Materia, Rules, Script } from '../kernel/graph/config.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { findSecrets, scrubJson } from '../kernel/secrets.ts';
import { ancestorsOf, processVariables } from './process/process-identity.ts';

const MARK = /^\u27e6hidden text (\d+)\u27e7$/;
const SIGN = '\u27e6hidden text ';

type Hidden = { readonly script: Script | null; readonly rules: Rules; readonly texts: readonly string[] };

/** Script and rules with a mark in the place of each text that holds a secret, and those texts. */
export function hideSecrets(script: Script | null, rules: Rules): Hidden {
  const texts: string[] = [];
  const mark = (text: string): string => {
    texts.push(text);
    return `${SIGN}${texts.length - 1}\u27e7`;
  };
  const hide = (value: Json): Json => differing(value, scrubJson(value).value, mark);
  const words = (value: Json): Json => hide(withoutOptionValues(value, mark));
  const turns = Object.entries(script ?? {}).map(([key, said]) => [key, said.map(hide)] as const);
  const materia = Object.entries(rules.materia).map(([id, each]) => [id, withChangedFields(each, words)] as const);
  const checkers = Object.entries(rules.checkers).map(([name, each]) => {
    return [name, isObject(each) && each.command ? { ...each, command: words(each.command) } : each] as const;
  });
  return {
    script: script && Object.fromEntries(turns),
    rules: { ...rules, materia: Object.fromEntries(materia), checkers: Object.fromEntries(checkers) },
    texts,
  };
}

/** What of a materia becomes a command, or a message to one. */
const FIELDS = ['command', 'args', 'params', 'baseUrl', 'fallbacks'] as const;

function withChangedFields(materia: Materia, change: (value: Json) => Json): Materia {
  const given = materia as unknown as JsonObject;
  const fields = FIELDS.flatMap((field) => {
    const value = given[field];
    return value === undefined || value === null ? [] : [[field, change(value)] as const];
  });
  return { ...materia, ...Object.fromEntries(fields) } as Materia;
}

/** The value with a mark in place of each scrubbed text, because the meaning of a text may depend on its place. */
function differing(value: Json, clean: Json, mark: (text: string) => string): Json {
  if (isString(value)) return value === clean ? value : mark(value);
  if (Array.isArray(value) && Array.isArray(clean)) {
    return (value as readonly Json[]).map((each, index) =>
      differing(each, (clean as readonly Json[])[index] ?? null, mark),
    );
  }
  if (!isObject(value) || !isObject(clean)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, differing(each, clean[key] ?? null, mark)]),
  );
}

/** `--password` and what follows it are one credential, though they are two words. */
function withoutOptionValues(value: Json, mark: (text: string) => string): Json {
  if (!Array.isArray(value)) return value;
  const list = value as readonly Json[];
  return list.map((each, index) => {
    const before = list[index - 1];
    if (!isString(each) || !isString(before) || !before.startsWith('-')) return each;
    return findSecrets(`${before}=${each}`).length > 0 ? mark(each) : each;
  });
}

/** Keeps the hidden texts of a cast where only their owner can read them. */
export function keepHidden(stateDir: string, cast: string, { texts }: Pick<Hidden, 'texts'>): void {
  if (texts.length === 0) return;
  mkdirSync(join(stateDir, 'hidden'), { recursive: true, mode: 0o700 });
  writeFileSync(hiddenFile(stateDir, cast), JSON.stringify(texts), { mode: 0o600 });
}

/** The value as it was written; null where one of its texts is not there any more. */
export function revealed<T>(value: T, stateDir: string, cast: string): T | null {
  if (!JSON.stringify(value ?? null).includes(SIGN)) return value;
  const texts = textsIn(hiddenFile(stateDir, cast));
  let isWhole = true;
  const found = mapped(value as Json, (text) => {
    const number = MARK.exec(text)?.[1];
    if (number === undefined) return text;
    const hidden = texts[Number(number)];
    if (hidden === undefined) isWhole = false;
    return hidden ?? '';
  });
  return isWhole ? (found as T) : null;
}

/** Runners that are made for, and given, everything as it was written. */
export function revealing(runners: Runners): Runners {
  return {
    runnerFor(packet) {
      // A runner is set up with the command and the address of its packet, so the packet is whole before one is chosen.
      const open =
        (act: 'run' | 'recover'): Runner['run'] =>
        async (given, place, signal) => {
          const whole = revealedPacket(given, dirname(dirname(place.attemptDir)));
          if (whole) return runners.runnerFor(whole)[act](whole, place, signal);
          const reason = 'a text of the cast is gone from the state folder; start a new cast';
          return { kind: 'fault', fault: 'refused', reason };
        };
      // What an attempt leaves behind does not depend on what is hidden.
      const runner = runners.runnerFor(packet);
      const forget = runner.forget?.bind(runner);
      return { run: open('run'), recover: open('recover'), ...(forget ? { forget } : {}) };
    },
  };
}

function revealedPacket(packet: Packet, stateDir: string): Packet | null {
  const parts = revealed({ scripted: packet.scripted, materia: packet.materia }, stateDir, packet.cast);
  return parts && { ...packet, ...parts };
}

function hiddenFile(stateDir: string, cast: string): string {
  return join(stateDir, 'hidden', `${cast}.json`);
}

function textsIn(file: string): readonly string[] {
  try {
    const texts: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(texts) ? texts.filter(isString) : [];
  } catch {
    return [];
  }
}

function mapped(value: Json, change: (text: string) => string): Json {
  if (isString(value)) return change(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => mapped(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapped(each, change)]));
}

/** A witness that is given the checkers as people wrote them. */
export function revealingCheckers(witness: Witness, stateDir: string): Witness {
  const open = (watch: Watch): Watch => {
    const checkers = revealed(watch.checkers, stateDir, watch.cast);
    return checkers ? { ...watch, checkers } : watch;
  };
  return { ...witness, after: (watch, folder, signal) => witness.after(open(watch), folder, signal) };
}

export function withoutKnownValues(runners: Runners, env: Variables): Runners {
  return {
    runnerFor(packet) {
      const runner = runners.runnerFor(packet);
      const values = secretsFor(packet.materia, env);
      if (values.length === 0) return runner;
      const without = (act: Runner['run']): Runner['run'] => {
        return async (given, place, signal) => cleaned(await act(given, place, signal), values);
      };
      const forget = runner.forget?.bind(runner);
      return {
        run: without(runner.run.bind(runner)),
        recover: without(runner.recover.bind(runner)),
        ...(forget ? { forget } : {}),
      };
    },
  };
}

/** A utility without a list has our whole environment; an agent, and a utility with one, has what the list names. */
export function secretsFor(materia: Materia, env: Variables): readonly string[] {
  if (materia.type === 'utility') return knownValues(env, materia.env);
  const { env: listed = [], keyVariable } = materia;
  return knownValues(env, [...listed, ...(keyVariable === undefined ? [] : [keyVariable])]);
}

/**
 * The secrets that the agent of an attempt was given. A server of its own may run with less than the agent, so the processes
 * above count, too.
 */
export function valuesAbove(materia: Materia, env: Variables, pid = process.pid): readonly string[] {
  const above = ancestorsOf(pid).map((one): Variables => processVariables(one.pid) ?? {});
  const values = new Set([env, ...above].flatMap((each) => secretsFor(materia, each)));
  return [...values].sort((a, b) => b.length - a.length);
}

function cleaned(result: AttemptResult, values: readonly string[]): AttemptResult {
  return withChangedTexts(result as unknown as Json, (text) => withoutValues(text, values)) as unknown as AttemptResult;
}

function withChangedTexts(value: Json, change: (text: string) => string): Json {
  if (isString(value)) return change(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => withChangedTexts(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withChangedTexts(each, change)]));
}
