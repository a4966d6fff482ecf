// What an agent asks for and a person approved runs in the process of the server, once.
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Actor } from '../access/actor.ts';
import { Workspace } from '../app/workspace.ts';
import { openSealKey, sealDecision } from '../approvals/seal.ts';
import type { JsonObject } from '../kernel/json.ts';
import { callTool, toolNamed } from './server.ts';
import type { ToolContext } from './tool.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-approved-')));
mkdirSync(join(dir, '.baton'));
writeFileSync(join(dir, 'made.txt'), 'x');
const located = { dir, configFile: join(dir, '.baton/config.json'), stateDir: join(dir, '.baton/state') };
const env = { PATH: '/usr/bin:/bin', HOME: dir, BATON_CONFIG: join(dir, 'user') };
const attempt = { cast: 'C', turn: 1, attempt: 1, fence: null, task: null, dir: '/nowhere' };
const actor: Actor = { name: 'agent:a@C-1.1', kind: 'agent', role: null, attempt };
const workspace = new Workspace(located, { env });
const context: ToolContext = {
  workspace,
  actor,
  attempt,
  isAgent: true,
  isOwn: async () => true,
  cast: async () => null,
};
const person: ToolContext = {
  ...context,
  actor: { ...actor, name: 'user:ann', kind: 'person', attempt: null },
  isAgent: false,
};

function call(name: string, given: JsonObject, as: ToolContext = context) {
  const tool = toolNamed(name);
  if (!tool) throw new Error('there is no such tool');
  return callTool({ ...as }, tool, given, { signal: new AbortController().signal, progress: async () => undefined });
}

async function approve(id: string): Promise<void> {
  const store = workspace.ledgerStore();
  const [found, key] = [(await store.view('approvals'))[id], openSealKey(env)];
  if (!found || 'allow' in key) throw new Error('there is nothing to approve');
  const choice = { choice: 'approve', gone: [] } as const;
  const sealing = sealDecision(found, choice, { by: 'user:ann', now: Date.now(), key });
  if ('allow' in sealing) throw new Error(sealing.reason);
  const decide = { kind: 'approval.decide', id, reason: 'yes', isAgent: false, ...choice, ...sealing } as const;
  expect(await store.submit(decide, { name: 'user:ann' })).toMatchObject({ allow: true });
}

const WISH = {
  operation: 'tidy up',
  reason: 'it is in the way',
  command: 'rm -v made.txt',
  scope: 'made.txt',
  risk_level: 'LOW',
  rollback: 'git checkout made.txt',
  verification: 'it is gone',
  folder: dir,
};

test('an approved command runs in process, once, and its output is answered', async () => {
  const asked = await call('request_approval', WISH);
  expect(asked).toMatchObject({ allow: true });
  const id = String(asked.details.approval);
  const run = { approval: id, argv: ['rm', '-v', 'made.txt'], folder: dir };
  expect(await call('run_approved', run)).toMatchObject({ allow: false, details: { approval: id } });
  const listed = await call('approvals_list', {}, person);
  expect(listed).toMatchObject({ details: { approvals: [{ id, status: 'pending' }] } });
  await approve(id);
  expect(await call('run_approved', { ...run, argv: ['rm', 'other.txt'] })).toMatchObject({ allow: false });
  const ran = await call('run_approved', run);
  expect(ran).toMatchObject({ allow: true, details: { approval: id, exit: 0, stderr: '' } });
  expect(ran.details.stdout).toContain('made.txt');
  expect(await call('run_approved', run)).toMatchObject({ allow: false });
  await workspace.close();
});
