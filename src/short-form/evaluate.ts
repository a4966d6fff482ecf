// Reads a short form in TypeScript. The file is a program, so it runs in a process of its own that may read no file, write none and start
// nothing, without our environment, and has ten seconds. What it exports by default is the loadout.
import { spawnSync } from 'node:child_process';
import { isObject, isString, type Json } from '../kernel/json.ts';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 1_048_576;

/** `defineLoadout` only answers what it is given here: mistakes are found afterwards, and named with their lines. */
const LOADER = `
import { registerHooks, stripTypeScriptTypes } from 'node:module';
const own = 'data:text/javascript,export const defineLoadout = (file) => file;';
registerHooks({
  resolve(name, context, next) {
    if (name === 'baton-run') return { url: own, shortCircuit: true };
    if (context.parentURL?.startsWith('data:')) throw new Error('A loadout imports baton-run and nothing else, but this one imports ' + name + '.');
    return next(name, context);
  },
});
for (const name of ['fetch', 'WebSocket', 'EventSource']) delete globalThis[name];
for (const name of ['getBuiltinModule', 'binding', '_linkedBinding', 'dlopen']) process[name] = undefined;
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
let answer;
try {
  const code = stripTypeScriptTypes(Buffer.concat(chunks).toString('utf8'));
  const { default: value } = await import('data:text/javascript;base64,' + Buffer.from(code).toString('base64'));
  if (value === undefined) throw new Error('It has no default export. Write: export default defineLoadout({ … }).');
  answer = { value };
} catch (error) {
  const [, line] = /^ +at .*data:[^ ]*:(\\d+):\\d+\\)?$/m.exec(error?.stack ?? '') ?? [];
  answer = { message: String(error?.message ?? error), line: Number(line ?? 1) };
}
process.stdout.write('\\n' + JSON.stringify(answer));
`;

const OPTIONS = ['--permission', '--no-warnings', '--input-type=module', '--eval', LOADER];

type Evaluated =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string; readonly line: number };

export function evaluateLoadout(text: string): Evaluated {
  const fault = (message: string, line = 1): Evaluated => ({ ok: false, message, line });
  const { stdout, error } = spawnSync(process.execPath, OPTIONS, {
    input: text,
    encoding: 'utf8',
    env: {},
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: ANSWER_BYTES_MAX,
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT')
    return fault(`It ran longer than ${TIMEOUT_MS / 1_000} seconds and was ended.`);
  if (error) return fault(`It could not be run: ${error.message}.`);
  const answer = answerIn(stdout);
  if (answer === null) return fault('It ended before it exported a loadout.');
  if (isString(answer.message)) return fault(firstLine(answer.message), Number(answer.line));
  return { ok: true, value: answer.value ?? null };
}

/** The file may print as well; our answer is the last line. */
function answerIn(stdout: string): Readonly<Record<string, Json>> | null {
  try {
    const answer = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1)) as Json;
    return isObject(answer) ? answer : null;
  } catch {
    return null;
  }
}

function firstLine(message: string): string {
  const line = message.split('\n').find((each) => each.trim() !== '') ?? message;
  return line.trim();
}
