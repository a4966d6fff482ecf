// The blocked agents and handoffs of a project, also kept in the user's configuration folder. A block is a fact of the log. With
// another state folder, of the workspace or of the user, that fact would be missing. So the file belongs to the project's path.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userFolder } from '../access/user-folder.ts';
import { CODES } from '../kernel/codes.ts';
import { isObject, isString, type Json } from '../kernel/json.ts';
import { type CarriedBlock, keyOfBlocked } from '../kernel/trust/state.ts';
import { nameOfProject } from './checkpoints.ts';

export type KeptBlock = CarriedBlock & { readonly since: number };

/** The blocks kept for this project. An unreadable file has none. */
export function keptBlocks(dir: string, env: NodeJS.ProcessEnv): readonly KeptBlock[] {
  try {
    return parseBlocks(readFileSync(fileFor(dir, env), 'utf8'));
  } catch {
    return [];
  }
}

export function keepBlocks(dir: string, env: NodeJS.ProcessEnv, blocks: readonly KeptBlock[]): void {
  const file = fileFor(dir, env);
  if (blocks.length === 0) return rmSync(file, { force: true });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ project: dir, blocks }), { mode: 0o600, flush: true });
  renameSync(draft, file);
}

/** A null member means that the block does not name it. Invalid entries are ignored. */
export function parseBlocks(text: string): readonly KeptBlock[] {
  const value = JSON.parse(text) as Json;
  const blocks = isObject(value) && Array.isArray(value.blocks) ? value.blocks : [];
  return blocks.filter(isObject).filter((one) => isBlock(one)) as unknown as readonly KeptBlock[];
}

function isBlock({ key, agent, hash: prompt, context, code, reason, pin, since }: Record<string, Json>): boolean {
  const isName = (name: unknown): name is string | null => name === null || isString(name);
  return (
    isName(agent) &&
    isName(prompt) &&
    isName(context) &&
    (agent !== null || context !== null) &&
    key === keyOfBlocked({ agent, hash: prompt, context }) &&
    isString(code) &&
    Object.hasOwn(CODES, code) &&
    isString(reason) &&
    (pin === null || (isObject(pin) && isString(pin.version) && isString(pin.hash))) &&
    typeof since === 'number'
  );
}

function fileFor(dir: string, env: NodeJS.ProcessEnv): string {
  return join(userFolder(env), 'quarantine', `${nameOfProject(dir)}-${hash('sha256', dir, 'hex').slice(0, 16)}.json`);
}
