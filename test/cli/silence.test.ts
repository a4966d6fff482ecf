// Programs and models that fall silent, through the real command line.
import { expect, onTestFinished, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import { modelServer } from '../../src/testing/index.ts';
import { agent, baton, flow, json, project, read } from './baton.ts';

test('a model call that hangs ends at its own limit, with its own cause', async () => {
  const server = await modelServer({ answers: () => ({ stall: 'during', text: 'let me think' }) });
  onTestFinished(() => server.close());
  const Ask = { ...agent, runner: 'openai', model: 'm', baseUrl: `${server.url}/v1` };
  const config = flow({ Ask }, { 'Socket-1': { materia: 'Ask' } }, { limits: { modelSilenceMs: 700 } });
  const dir = project({ '.baton/config.json': config });
  const view = json<CastView>(await baton(dir, ['cast', '--json', 'do it']));
  expect(view).toMatchObject({ status: 'failed', code: 'AGENT_FAILED', result: { failure: { code: 'MODEL_SILENT' } } });
  expect(view.reason).toContain('got nothing from its model for 1 s');
});

test('the processor time of a program that only waits is no sign of life', async () => {
  // It works for a second, and then wakes up now and then for nothing.
  const idle = `const end = Date.now() + 1_000; while (Date.now() < end);
    setInterval(() => { const until = performance.now() + 0.5; while (performance.now() < until); }, 100);`;
  const Wait = { ...agent, runner: 'command', command: [process.execPath, '-e', idle], timeoutMs: 14_000 };
  const dir = project({ '.baton/config.json': flow({ Wait }, { 'Socket-1': { materia: 'Wait' } }) });
  const { reason } = json<CastView>(await baton(dir, ['cast', '--json', 'do it']));
  expect(Number(/gave its last sign of life (\d+) s before/.exec(reason)?.[1])).toBeGreaterThanOrEqual(5);
});

test.each([
  ['an agent, which runs twice', { ...agent, runner: 'command' }, 'AGENT_FAILED', 'x\nx\n'],
  ['a utility, which runs once', { type: 'utility' }, 'UTILITY_FAILED', 'x\n'],
])('who is killed with its supervisor each time does not begin again for ever: %s', async (_, who, code, runs) => {
  const kill = 'echo x >> runs; kill -9 $PPID; sleep 9';
  const config = flow({ M: { ...who, command: ['sh', '-c', kill] } }, { 'Socket-1': { materia: 'M' } });
  const dir = project({ '.baton/config.json': config });
  const view = json<CastView>(await baton(dir, ['cast', '--json', '--in-place', 'do it']));
  expect(view).toMatchObject({ status: 'failed', code });
  expect(view.reason).toContain('killed together with its supervisor');
  expect(read(dir, 'runs')).toBe(runs);
});
