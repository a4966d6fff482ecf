// The lock of a registry folder on disk: which exact bytes each agent's prompt has.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LOCK_PATH, MANIFEST_PATH } from '../dialects/governed/load.ts';
import { lockOf } from '../dialects/governed/lock.ts';
import { readerOf, sha256 } from '../dialects/governed/registry-folder.ts';
import { isObject } from '../kernel/json.ts';
import { readJsonFile } from './load-config.ts';

export type Pinned = {
  readonly file: string;
  /** The agents whose prompts are pinned now. An agent whose prompt cannot be read is not among them. */
  readonly agents: readonly string[];
};

/** Whether the folder already says who exists or which bytes are pinned: then neither is for others to write. */
export function hasRegistry(dir: string): boolean {
  return [MANIFEST_PATH, LOCK_PATH].some((path) => existsSync(join(dir, path)));
}

/** Pins every agent of the folder's manifest to the bytes its prompt has now. An older lock is replaced, whole or not at all. */
export function writeRegistryLock(dir: string): Pinned {
  const lock = lockOf(readJsonFile(join(dir, MANIFEST_PATH)), readerOf(dir), sha256);
  const file = join(dir, LOCK_PATH);
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, `${JSON.stringify(lock, null, 2)}\n`);
  renameSync(draft, file);
  return { file, agents: isObject(lock.prompts) ? Object.keys(lock.prompts) : [] };
}
