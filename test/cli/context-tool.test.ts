// What an agent looks up of the shared knowledge while it works: the sections it may read, and no others.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownIdentity } from '../../src/agents/process/process-identity.ts';
import { overProgram } from '../mcp/client.ts';
import { agent, baton, flow, json, project } from './baton.ts';

test('read_context names the sections its agent may read, and gives each of them', async () => {
  const config = flow(
    { A: agent },
    { 'Socket-1': { materia: 'A', parse: 'json' } },
    { context: { sections: { services: {}, infra: {} }, read: { A: ['services'] } } },
  );
  const script = { A: [{ $turn: { output: '{}', delayMs: 120_000 } }] };
  const dir = project({ '.baton/config.json': config, 'agents.json': script, 'a.json': { port: 80 } });
  for (const section of ['services', 'infra']) {
    expect((await baton(dir, ['context', 'set', section, 'a.json'])).code).toBe(0);
  }
  const started = await baton(dir, ['cast', '--detach', '--json', '--agents', 'agents.json', 'do it']);
  const cast = String(json(started).cast);
  const folder = join(dir, '.baton/state/attempts', `${cast}-1.1`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'claim'), JSON.stringify({ by: 'supervisor', ...ownIdentity() }));
  const env = { BATON_CAST: cast, BATON_ATTEMPT: '1.1', BATON_HOME: join(dir, '.baton/state') };
  const { ask } = await overProgram(dir, env);
  expect((await ask('read_context')).details).toMatchObject({ cast, knowledge: ['services'] });
  expect((await ask('read_context', { section: 'services' })).details).toEqual({
    section: 'services',
    value: { port: 80 },
  });
  for (const section of ['infra', 'nope', 'constructor']) {
    expect(await ask('read_context', { section })).toMatchObject({ allow: false, code: 'UNKNOWN_SECTION' });
  }
});
