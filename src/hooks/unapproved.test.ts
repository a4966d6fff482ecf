// What is told of a turn whose commands nobody was asked about, and that nothing is where somebody was.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AttemptDirs, AttemptResult, Runners } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { reportingUnapproved } from './cast-guard.ts';
import { noteLetThrough } from './guard-command.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/baton', import.meta.url));
let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-unapproved-'));
  mkdirSync(join(dir, '.baton/state/attempts/c-1.1'), { recursive: true });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What comes of an attempt in which these commands were seen. */
async function toldOf(
  commands: readonly string[],
  more: Partial<Packet> = {},
  hook?: string,
  kind: AttemptResult['kind'] = 'output',
): Promise<AttemptResult> {
  const stateDir = join(dir, '.baton/state');
  const configFile = join(dir, '.baton/config.json');
  writeFileSync(configFile, JSON.stringify(hook === undefined ? {} : { approvals: { hook } }));
  const result = { kind, output: 'x', agent: { commands } } as AttemptResult;
  const runners: Runners = { runnerFor: () => ({ run: async () => result, recover: async () => result }) };
  const packet = {
    materia: { type: 'agent', tools: 'coding' },
    holdsCommands: true,
    scripted: null,
    ...more,
  } as Packet;
  const scene = { workspace: { dir, stateDir, configFile } as LocatedWorkspace, env: process.env, program: PROGRAM };
  const place = { cwd: dir, attemptDir: join(stateDir, 'attempts/c-1.1') } as AttemptDirs;
  return reportingUnapproved(runners, scene).runnerFor(packet).run(packet, place, new AbortController().signal);
}

const unapproved = async (...given: Parameters<typeof toldOf>) => (await toldOf(...given)).agent?.unapproved ?? [];

test.each<[string, string[], string[]]>([
  ['what changes state', ['ls', 'git push origin x'], ['git push origin x']],
  ['what a program says of the shell around it', ["/bin/bash -lc 'git push origin x'"], ['git push origin x']],
  ['a path elsewhere', ['touch /var/x'], ['touch /var/x']],
  ['what only reads or checks', ['cat a', 'git status', 'npm test'], []],
  ['what was approved', [`${PROGRAM} exec --approval P-1 -- git push`, 'baton exec --approval P-1 -- git push'], []],
  [
    'more than what was approved',
    ['baton exec --approval P-1 -- git push; git push -f'],
    ['baton exec --approval P-1 -- git push; git push -f'],
  ],
])('%s', async (_what, commands, told) => {
  expect(await unapproved(commands)).toEqual(told);
});

test.each<[string, Partial<Packet>, string | undefined, number]>([
  ['a turn that cannot ask for approvals', { holdsCommands: false }, undefined, 0],
  ['unless the configuration wants them there too', { holdsCommands: false }, 'deny', 1],
  ['where they are switched off', {}, 'off', 0],
  ['an agent without tools', { materia: { type: 'agent', tools: 'none' } as Packet['materia'] }, undefined, 0],
  ['a scripted agent', { scripted: {} }, undefined, 0],
  ['a configuration that cannot be read: check says what is wrong with it', {}, 'dney', 0],
])('where it is told: %s', async (_what, more, hook, count) => {
  expect(await unapproved(['git push'], more, hook)).toHaveLength(count);
});

test('an attempt that was lost runs again, so nothing is told of it', async () => {
  const { agent } = await toldOf(['git push'], {}, undefined, 'lost');
  expect(agent).toEqual({ commands: ['git push'] });
});

test('what the hook let through is not told', async () => {
  const env = { BATON_CAST: 'c', BATON_ATTEMPT: '1.1' };
  await noteLetThrough('make deploy', env, join(dir, '.baton/state'));
  await noteLetThrough('git push', { ...env, BATON_ATTEMPT: '1.2' }, join(dir, '.baton/state'));
  expect(await unapproved(["bash -lc 'make deploy'", 'git push'])).toEqual(['git push']);
});

test('it is said in words as well, the first ones of many', async () => {
  const many = Array.from({ length: 8 }, (_, index) => `git push origin ${index}`);
  const { agent } = await toldOf(many);
  expect(agent?.warnings).toHaveLength(6);
  expect(agent?.warnings?.[0]).toBe('ran without approval: git push origin 0');
  expect(agent?.warnings?.at(-1)).toBe('ran without approval: 3 more');
});
