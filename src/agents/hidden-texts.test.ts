import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { always, graph } from '../../test/loadouts.ts';
import type { Runner } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import { hideSecrets, keepHidden, revealed, revealing } from './hidden-texts.ts';

const KEY = `AKIA${'B'.repeat(16)}`;
const script = {
  A: ['plain', `the key is ${KEY}`, { $turn: { output: { note: KEY, ok: true }, delayMs: 5 } }, '$repeat'],
  B: [{ satisfied: true }],
};
const rules = resolve(
  graph(
    { 'Socket-1': { materia: 'Tool', edges: [always('end')] } },
    {
      materia: {
        Tool: {
          type: 'utility',
          command: ['deploy', '--password', 'hunter2hunter2', `--key=${KEY}`],
          params: { apiKey: 'x7Kp2mQ9vL4tR8wZ' },
          parse: 'json',
        },
      },
    },
  ),
  'Flow',
);

function stateFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-hidden-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('nothing with a secret in it is frozen, and everything is used as it was written', () => {
  const state = stateFolder();
  const hidden = hideSecrets(script, rules);
  expect(JSON.stringify(hidden)).toContain(KEY);
  const frozen = JSON.stringify([hidden.script, hidden.rules]);
  expect(frozen).not.toContain('AKIA');
  expect(frozen).not.toContain('hunter2');
  expect(frozen).not.toContain('x7Kp2mQ9');
  expect(frozen).toContain('deploy');
  expect(hidden.script?.B).toEqual(script.B);
  keepHidden(state, 'c', hidden);
  expect(revealed(hidden.script, state, 'c')).toEqual(script);
  expect(revealed(hidden.rules, state, 'c')).toEqual(rules);
  expect(statSync(join(state, 'hidden', 'c.json')).mode & 0o077).toBe(0);
});

test('a text that is gone is said to be gone, and nothing is run in its place', async () => {
  const frozen = hideSecrets(script, rules);
  const state = stateFolder();
  expect(revealed(frozen.rules.materia.Tool, state, 'c')).toBeNull();
  const ran: Packet[] = [];
  const runner: Runner = {
    run: async (packet) => {
      ran.push(packet);
      return { kind: 'output', output: '' };
    },
    recover: async () => ({ kind: 'output', output: '' }),
  };
  const packet = { cast: 'c', scripted: null, materia: frozen.rules.materia.Tool } as unknown as Packet;
  const place = { cwd: '/', configDir: '/', attemptDir: join(state, 'attempts', 'c-1.1') };
  const asked: Packet[] = [];
  const runnerFor = (packet: Packet) => {
    asked.push(packet);
    return runner;
  };
  const run = () => revealing({ runnerFor }).runnerFor(packet).run(packet, place, AbortSignal.abort());
  expect(await run()).toMatchObject({ kind: 'fault', fault: 'refused' });
  keepHidden(state, 'c', frozen);
  expect(await run()).toMatchObject({ kind: 'output' });
  expect(ran.map(({ materia }) => materia)).toEqual([rules.materia.Tool]);
  // A runner is set up with what its packet says, so the one that ran was made for the whole packet.
  expect(asked.at(-1)?.materia).toEqual(rules.materia.Tool);
});

test('what holds no secret leaves nothing behind', () => {
  const state = stateFolder();
  keepHidden(state, 'c', { texts: [] });
  expect(() => statSync(join(state, 'hidden'))).toThrow();
});

test('an address of somebody who stands in for another may hold a secret too', () => {
  const fallbacks = [{ model: 'b', baseUrl: 'http://user:hunter2hunter2@host/v1', keyVariable: 'MY_KEY' }];
  const Ask = { prompt: 'p', tools: 'none', runner: 'openai', model: 'a', fallbacks };
  const own = resolve(graph({ 'Socket-1': { materia: 'Ask', edges: [always('end')] } }, { materia: { Ask } }), 'Flow');
  const state = stateFolder();
  const hidden = hideSecrets(null, own);
  expect(JSON.stringify(hidden.rules)).not.toContain('hunter2');
  keepHidden(state, 'c', hidden);
  expect(revealed(hidden.rules, state, 'c')).toEqual(own);
});
