// What is blocked in a workspace, kept in a folder of the user as well. A block is a fact of the log; with another state
// folder, or after the log was deleted, that fact is missing and the block must not be. So the file belongs to the project,
// not to its state: it lies with the checkpoints, under the path of the project.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CODES } from '../kernel/codes.ts';
import { isObject, isString, type Json } from '../kernel/json.ts';
import type { CarriedBlock } from '../kernel/trust/request.ts';
import { keyOfBlocked } from '../kernel/trust/state.ts';
import { checkpointBase, nameOfProject } from './checkpoint-files.ts';

export type KeptBlock = CarriedBlock & { readonly since: number };

/** The blocks that are kept for the project in this folder. A file that cannot be read keeps none. */
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

/** Null members stand for what a block does not name. Anything else in the file is left out. */
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
  return join(
    checkpointBase(env),
    'quarantine',
    `${nameOfProject(dir)}-${hash('sha256', dir, 'hex').slice(0, 16)}.json`,
  );
}
