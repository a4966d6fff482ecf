// The plugin as OpenCode loads it: what it prints of each event, and whom it asks before a tool.
import { afterEach, expect, test, vi } from 'vitest';
import { opencode } from './opencode.ts';
import baton from './opencode-plugin.ts';
import { reportFrom } from './program-runner.ts';

type Loaded = {
  event(input: { event: object }): Promise<void>;
  'tool.execute.before'(call: { tool: string }, output: { args?: object }): Promise<void>;
};

afterEach(() => {
  delete process.env.BATON_OPENCODE_GUARD;
  vi.restoreAllMocks();
});

async function printed(event: object): Promise<string> {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  await ((await baton()) as Loaded).event({ event });
  vi.restoreAllMocks();
  return lines.join('');
}

test.each<[string, object, object | null]>([
  ['what is said', { type: 'message.part.delta', properties: { field: 'text', delta: 'Hi' } }, { said: 'Hi' }],
  ['what is thought', { type: 'message.part.delta', properties: { field: 'reasoning', delta: 'Hm' } }, null],
  ['the model', { type: 'message.updated', properties: { info: { role: 'assistant', modelID: 'm' } } }, { model: 'm' }],
  ['the brief', { type: 'message.updated', properties: { info: { role: 'user' } } }, null],
  ['that it works', { type: 'session.status', properties: { status: { type: 'busy' } } }, null],
  [
    'that it asks again',
    { type: 'session.status', properties: { status: { type: 'retry', message: 'boom', next: 0 } } },
    { retry: 'boom', forMs: 0 },
  ],
  [
    'a tool at work',
    {
      type: 'message.part.updated',
      properties: {
        part: { type: 'tool', tool: 'bash', callID: 'c', state: { status: 'running', input: { command: 'ls' } } },
      },
    },
    { begun: 'c', tool: 'bash', input: { command: 'ls' } },
  ],
  ['a tool that has ended', { type: 'message.part.updated', properties: { part: { type: 'tool', state: {} } } }, null],
])('of its events: %s', async (_what, event, told) => {
  const line = await printed(event);
  expect(line).toBe(told === null ? '' : `${JSON.stringify({ type: 'baton', ...told })}\n`);
});

test('each wait that it prints counts as a try, and a tool at work is no silence of the model', () => {
  const lines = [
    { type: 'baton', retry: 'boom', forMs: 2_000 },
    { type: 'baton', retry: 'boom', forMs: 4_000 },
    { type: 'baton', model: 'm' },
    { type: 'step_start', sessionID: 'ses_1' },
    { type: 'baton', begun: 'c', tool: 'bash', input: { command: 'sleep 900' } },
  ];
  const heard = reportFrom(opencode, lines.map((line) => JSON.stringify(line)).join('\n'));
  expect(heard).toMatchObject({ retries: 2, openCalls: 1, model: 'm', sessionId: 'ses_1', isFinished: false });
});

test.each<[string, { tool: string }, object, string | null]>([
  ['a command', { tool: 'bash' }, { command: 'git push' }, 'not this one'],
  ['a write', { tool: 'write' }, { filePath: 'a.ts' }, 'not this one'],
  ['a look', { tool: 'read' }, { filePath: 'a.ts' }, null],
])('with a guard that refuses, %s gives: %s', async (_what, call, args, reason) => {
  const refuses = { program: 'sh', args: ['-c', 'cat >/dev/null; echo "not this one" >&2; exit 2'] };
  process.env.BATON_OPENCODE_GUARD = JSON.stringify(refuses);
  const asked = ((await baton()) as Loaded)['tool.execute.before'](call, { args });
  if (reason === null) await expect(asked).resolves.toBeUndefined();
  else await expect(asked).rejects.toThrow(reason);
  delete process.env.BATON_OPENCODE_GUARD;
  await expect(((await baton()) as Loaded)['tool.execute.before'](call, { args })).resolves.toBeUndefined();
});
