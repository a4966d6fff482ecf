// Runs one shipped utility as a process: `node run-shipped.ts NAME`. The input is JSON on standard input, the result is on standard
// output. Without a result, the exit code is 1 and the reason is on standard error.
import { text } from 'node:stream/consumers';
import { isObject, isString } from '../kernel/json.ts';
import { runShipped, type ShippedInput } from './index.ts';

const outcome = await answer(process.argv[2] ?? '', await text(process.stdin));
if (outcome.ok) process.stdout.write(outcome.output);
else process.stderr.write(`${outcome.reason}\n`);
process.exitCode = outcome.ok ? 0 : 1;

async function answer(name: string, message: string) {
  const input = readInput(message);
  if (input === null) return { ok: false, reason: 'standard input is not a utility message' } as const;
  return await runShipped(name, input);
}

function readInput(message: string): ShippedInput | null {
  try {
    const value: unknown = JSON.parse(message);
    if (!isObject(value)) return null;
    const { cwd, castId, params, state, item = null } = value;
    return isString(cwd) && isString(castId) && isObject(params) && isObject(state)
      ? { cwd, castId, params, state, item }
      : null;
  } catch {
    return null;
  }
}
