// What agents and utilities say is stored and handed on without the secrets of their environment.
import type { AttemptResult, Runner, Runners } from '../engine/ports.ts';
import { knownValues, type Variables, withoutValues } from '../kernel/credential.ts';
import type { Materia } from '../kernel/graph/config.ts';
import { isObject, isString, type Json } from '../kernel/json.ts';
import { ancestorsOf, variablesOf } from './process/process-identity.ts';

export function withoutKnownValues(runners: Runners, env: Variables): Runners {
  return {
    runnerFor(packet) {
      const runner = runners.runnerFor(packet);
      const values = valuesOf(packet.materia, env);
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
export function valuesOf(materia: Materia, env: Variables): readonly string[] {
  if (materia.type === 'utility') return knownValues(env, materia.env);
  const { env: listed = [], keyVariable } = materia;
  return knownValues(env, [...listed, ...(keyVariable === undefined ? [] : [keyVariable])]);
}

/**
 * The secrets that the agent of an attempt was given. A server of its own may run with less than the agent, so the processes
 * above count, too.
 */
export function valuesAbove(materia: Materia, env: Variables, pid = process.pid): readonly string[] {
  const above = ancestorsOf(pid).map((one): Variables => variablesOf(one.pid) ?? {});
  const values = new Set([env, ...above].flatMap((each) => valuesOf(materia, each)));
  return [...values].sort((a, b) => b.length - a.length);
}

function cleaned(result: AttemptResult, values: readonly string[]): AttemptResult {
  return changed(result as unknown as Json, (text) => withoutValues(text, values)) as unknown as AttemptResult;
}

function changed(value: Json, change: (text: string) => string): Json {
  if (isString(value)) return change(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => changed(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each, change)]));
}
