// `baton registry import`: takes over a registry from another folder, and locks it.
import { join, resolve } from 'node:path';
import { importRegistry } from '../../workspace/registry-import.ts';
import { keeperOf } from '../../workspace/registry-kept.ts';
import { type Call, EXIT, out, outJson, Refused } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const [dir = ''] = call.words;
  const home = join(workspaceOf(call).dir, '.baton');
  const verdict = importRegistry(resolve(call.cwd, dir), home, new Date().toISOString());
  if (!verdict.allow) throw new Refused(verdict);
  const { loaded, texts } = keeperOf(home)();
  if (loaded && texts) {
    const load = { kind: 'registry.load', registry: loaded, texts, reason: 'imported' } as const;
    await withLedger(call, ({ door }) => door.submit(load, person()), { begins: true });
  }
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}
