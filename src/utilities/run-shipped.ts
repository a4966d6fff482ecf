// Runs one shipped utility as a process: `node run-shipped.ts NAME`, its input as JSON on standard input, its result on
// standard output; exit code 1 with the reason on standard error when there is no result.
import { text } from 'node:stream/consumers';
import { isObject, isString } from '../kernel/json.ts';
import { runShipped, type ShippedInput } from './index.ts';

const outcome = await answer(process.argv[2] ?? '', await text(process.stdin));
if (outcome.ok) process.stdout.write(outcome.output);
else process.stderr.write(`${outcome.reason}\n`);
process.exitCode = outcome.ok ? 0 : 1;

async function answer(name: string, message: string) {
  const input = readInput(message);
  if (input === null) return { ok: false, reason: 'the standard input is not the message that utilities get' } as const;
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
