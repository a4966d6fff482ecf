// Brings the ledger in line with what the configuration says about paths, before anything is claimed on it.
import { existsSync } from 'node:fs';
import type { Door } from '../engine/door.ts';
import { isObject } from '../kernel/json.ts';
import { readJsonFile } from '../workspace/load-config.ts';
import type { Workspace } from '../workspace/locate.ts';

export async function configureLocks(door: Door, { configFile }: Workspace, by: string): Promise<void> {
  const config = existsSync(configFile) ? readJsonFile(configFile) : null;
  const locks = isObject(config) ? config.locks : null;
  if (!isObject(locks) || typeof locks.caseInsensitive !== 'boolean') return;
  await door.submit({ kind: 'ledger.configure', foldCase: locks.caseInsensitive }, by);
}
