// Secrets that are known by where they come from and not by how they look: the values of variables that an agent was
// given. What it says is stored and handed on without them.
import type { AttemptResult, Runner, Runners } from '../engine/ports.ts';
import type { Materia } from '../kernel/graph/config.ts';
import { isObject, isString, type Json } from '../kernel/json.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const SECRET_NAME = /TOKEN|KEY|SECRET|PASS|PWD|CREDENTIAL|AUTH/i;
/** A region or a path is handed on like a key; only what nobody would say by chance is taken for one. */
const SECRET_VALUE = /^(?=.{0,200}[a-z])(?=.{0,200}[A-Z])(?=.{0,200}[0-9])[A-Za-z0-9+_=-]{16,4096}$/;
const CHARS_MIN = 8;

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

/** The longest first: one may be a part of another. */
export function valuesOf(materia: Materia, env: Variables): readonly string[] {
  if (materia.type === 'utility') return [];
  const { env: listed = [], keyVariable } = materia;
  const names = [...listed, ...(keyVariable === undefined ? [] : [keyVariable])];
  const values = names.flatMap((name) => {
    const value = env[name] ?? '';
    const isSecret = SECRET_NAME.test(name) || SECRET_VALUE.test(value);
    return isSecret && value.length >= CHARS_MIN ? [value] : [];
  });
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

function cleaned(result: AttemptResult, values: readonly string[]): AttemptResult {
  return changed(result as unknown as Json, (text) =>
    values.reduce((clean, value) => clean.replaceAll(value, '[secret:env]'), text),
  ) as unknown as AttemptResult;
}

function changed(value: Json, change: (text: string) => string): Json {
  if (isString(value)) return change(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => changed(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each, change)]));
}
