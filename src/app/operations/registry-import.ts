// Takes over a registry from another folder, and locks it.
import { join, resolve } from 'node:path';
import { importRegistry, keeperOf } from '../../workspace/registry-lock.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'registry.import'>> = async (workspace, { dir }, { actor }) => {
  const home = join(workspace.dir, '.baton');
  const verdict = importRegistry(resolve(workspace.cwd, dir), home, new Date().toISOString());
  if (!verdict.allow) return verdict;
  const { loaded, texts } = keeperOf(home)();
  if (loaded && texts) {
    const load = { kind: 'registry.load', registry: loaded, texts, reason: 'imported' } as const;
    await workspace.ledgerStore({ begins: true }).submit(load, actor);
  }
  return verdict;
};
