// What the runs of one attempt amount to together, shown with a program that tells its tokens and fails before it answers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
import { claude } from './claude.ts';
import { command } from './command.ts';
import { programRunner } from './program-runner.ts';

const RETRY = { retriesMax: 3, firstMs: 1, waitMaxMs: 100 };
const packet = (more: object = {}) =>
  ({
    ...{ cast: 'c', turn: 1, attempt: 1, socket: 'Socket-1', brief: 'Do it.', session: null, task: null },
    ...{
      timeoutMs: 30_000,
      maxOutputBytes: 1_000,
      retriesMax: 4,
      modelSilenceMs: 600_000,
      offersTools: false,
      holdsCommands: false,
    },
    materia: { type: 'agent', runner: 'claude', tools: 'none', model: 'm', thinking: null },
    ...more,
  }) as unknown as Packet;

function place() {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-program-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  return { cwd, configDir: cwd, attemptDir: join(cwd, 'attempts', 'c-1.1') };
}

const result = (more: object) =>
  JSON.stringify({ type: 'result', usage: { input_tokens: 1_000, output_tokens: 1_000 }, ...more });

test('what the runs before the last one used counts too, also for whoever takes the attempt over', async () => {
  const at = place();
  const program = join(at.cwd, 'claude');
  const failed = result({ subtype: 'success', is_error: true, api_error_status: 503, result: 'down' });
  const fine = result({ subtype: 'success', result: 'fine', usage: { input_tokens: 1, output_tokens: 1 } });
  const script = `#!/bin/sh\necho x >> runs\nif [ $(wc -l < runs) -lt 3 ]; then echo '${failed}'; exit 1; fi\necho '${fine}'\n`;
  writeFileSync(program, script, { mode: 0o755 });
  const runner = programRunner(claude, { program }, { retry: RETRY });
  const signal = new AbortController().signal;
  const used = { kind: 'output', output: 'fine', usage: { input: 2_001, output: 2_001 } };
  expect(await runner.run(packet(), at, signal)).toMatchObject(used);
  expect(await runner.recover(packet(), at, signal)).toMatchObject(used);
});

test('a program that is told the name of its conversation is noted to have kept it', async () => {
  const made = command(['sh', '-c', 'printf %s "$1"', 'x', '{{session}}']);
  const materia = { type: 'agent', runner: 'command', tools: 'coding', model: null, thinking: null };
  const ran = await programRunner(made).run(packet({ materia }), place(), new AbortController().signal);
  if (ran.kind !== 'output') throw new Error(ran.reason);
  expect(ran.output).toHaveLength(36);
  expect(ran.agent?.session).toEqual({ runner: 'command', id: ran.output });
});

const asksAgain = (status: number, error: string) =>
  JSON.stringify({ type: 'system', subtype: 'api_retry', error, error_status: status, retry_delay_ms: 10 });

test.each([
  ['in vain', 401, 'authentication_failed', 4, { code: 'AUTH_REQUIRED', fault: 'refused' }],
  ['more often than its turn may', 500, 'server_error', 3, { code: 'PROVIDER_ERROR', tries: 5 }],
])('a program that asks again %s is ended', async (_what, status, error, retriesMax, ends) => {
  const at = place();
  const program = join(at.cwd, 'claude');
  const line = asksAgain(status, error);
  // It would ask for ever.
  writeFileSync(program, `#!/bin/sh\nwhile true; do echo '${line}'; sleep 0.3; done\n`, { mode: 0o755 });
  const ran = await programRunner(claude, { program }).run(packet({ retriesMax }), at, new AbortController().signal);
  expect(ran).toMatchObject({ kind: 'fault', ...ends });
  expect(ran.kind === 'fault' ? ran.reason : '').toMatch(/sign-in or key was refused|server error at the provider/);
});

const BEGUN = JSON.stringify({ type: 'system', subtype: 'init', session_id: 's', model: 'm' });
const CALLS = JSON.stringify({
  type: 'assistant',
  message: { id: 'a', model: 'm', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'make' } }] },
});

test.each([
  ['a model that says nothing', BEGUN, { kind: 'fault', fault: 'transport', code: 'MODEL_SILENT' }],
  ['but not a tool that takes its time', `${BEGUN}\n${CALLS}`, { kind: 'output', output: 'fine' }],
])('%s is given up at its own limit', async (_what, first, ends) => {
  const at = place();
  const program = join(at.cwd, 'claude');
  const fine = result({ subtype: 'success', result: 'fine' });
  writeFileSync(program, `#!/bin/sh\ncat <<'E'\n${first}\nE\nsleep 4\necho '${fine}'\n`, { mode: 0o755 });
  const runner = programRunner(claude, { program }, { retry: RETRY });
  expect(await runner.run(packet({ modelSilenceMs: 1_500 }), at, new AbortController().signal)).toMatchObject(ends);
});
