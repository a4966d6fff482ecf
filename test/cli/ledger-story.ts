// What the tests of the ledger's commands share: payloads, short forms of the commands, and a clock that can be moved.
import type { JsonObject } from '../../src/kernel/json.ts';
import { packet, RUN, result, type WantedTask } from '../../src/kernel/ledger/fixtures/book.ts';
import { baton, type How, injecting, json, put, type Ran } from './baton.ts';

export { packet, RUN, result };

export type Answer = {
  readonly allow: boolean;
  readonly code: string;
  readonly reason: string;
  readonly details: JsonObject;
};

/** Runs a command that answers with a verdict; the exit code must fit it. */
export async function ask(dir: string, args: readonly string[], how: How = {}): Promise<Answer> {
  const ran = await baton(dir, args, how);
  const verdict = json<Answer>(ran);
  if (ran.code !== (verdict.allow ? 0 : 1)) throw new Error(`exit ${ran.code} with ${ran.stdout}${ran.stderr}`);
  return verdict;
}

export async function create(dir: string, id: string, wish: WantedTask = {}): Promise<Answer> {
  put(dir, { '.baton/in.json': packet(id, wish) });
  return ask(dir, ['task', 'create', '.baton/in.json']);
}

export function claim(dir: string, id: string, owner = 'ann', ...more: string[]): Promise<Answer> {
  return ask(dir, ['task', 'claim', id, '--owner', owner, ...more]);
}

/** Claims a task and answers with its fence. */
export async function start(dir: string, id: string, owner = 'ann', ...more: string[]): Promise<number> {
  const verdict = await claim(dir, id, owner, ...more);
  if (!verdict.allow) throw new Error(verdict.reason);
  return Number(verdict.details.fence);
}

export function finish(dir: string, id: string, fence: number, over: JsonObject = {}): Promise<Answer> {
  return ask(dir, ['task', 'finish', '-', '--fence', String(fence)], { input: JSON.stringify(result(id, over)) });
}

export function heartbeat(dir: string, id: string, fence: number, how: How = {}, owner = 'ann'): Promise<Answer> {
  return ask(dir, ['heartbeat', id, '--owner', owner, '--fence', String(fence)], how);
}

/** The same command so many seconds later. */
export function later(seconds: number): How {
  const code = `const now=Date.now;Date.now=()=>now()+${seconds * 1000}`;
  return injecting(code);
}

export async function rows(dir: string, ...more: string[]): Promise<readonly JsonObject[]> {
  return json<readonly JsonObject[]>(await baton(dir, ['task', 'list', '--json', ...more]));
}

/** The kinds and codes of what stands in the log. */
export async function codesIn(dir: string): Promise<readonly string[]> {
  const entries = json<readonly JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json']));
  return entries.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
}

export type { Ran };
