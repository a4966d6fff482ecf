// Plain sessions of the real Claude Code with our hooks installed.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ModelRequest, modelServer } from '../../src/testing/index.ts';
import { BATON, batonProcess as baton, json, project } from '../cli/baton.ts';
import { create, result } from '../cli/ledger-story.ts';
import { assertInstalled, CLI, homeFolder } from './contenders.ts';

beforeAll(assertInstalled);

const REPORT = 'reports/T-1.json';
const wholeText = ({ messages }: ModelRequest) => messages.map(({ text }) => text).join('\n');
const results = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === 'tool').length;

test('claude: a helper claims under its own name, and its report is summed up for whoever started it', async () => {
  const dir = project();
  const home = homeFolder();
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  await create(dir, 'T-1', { report_path: REPORT });
  mkdirSync(dirname(join(dir, REPORT)), { recursive: true });
  expect((await baton(dir, ['install', 'claude', '--yes'])).code).toBe(0);
  const text = JSON.stringify(result('T-1'));
  const helped = (request: ModelRequest) => {
    const [, name = ''] = /baton task claim TASK --owner (\S+)/.exec(wholeText(request)) ?? [];
    const command = `${BATON} task claim T-1 --owner ${name} && printf %s '${text}' > ${REPORT}`;
    return results(request) > 0
      ? 'It is done.'
      : { toolCalls: [{ name: 'Bash', input: { command, description: 'do it' } }] };
  };
  const prompt = 'HELPER: do your part';
  const server = await modelServer({
    answers: (request) => {
      if (!wholeText(request).includes('LEADER')) return helped(request);
      if (results(request) > 0) return 'All is done.';
      const input = { description: 'do it', prompt, subagent_type: 'general-purpose', run_in_background: false };
      return { toolCalls: [{ name: 'Agent', input }] };
    },
  });
  onTestFinished(() => server.close());
  const ran = await baton(dir, ['-p', '--model', 'some-model', '--allowedTools', 'Agent,Bash'], {
    program: [join(CLI, 'node_modules', '.bin', 'claude')],
    input: 'LEADER: let it be done',
    env: { HOME: home, ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: server.url },
  });
  expect([ran.code, ran.stdout.trim()]).toEqual([0, 'All is done.']);
  const [leader, helper] = ['LEADER', 'HELPER'].map((who) =>
    server.requests.filter((request) => wholeText(request).includes(`${who}: `)).map(wholeText),
  );
  expect(leader?.at(-1)).toContain('<subagent-result task_id="T-1" status="done"');
  // Nothing set the helper to work again.
  expect(helper?.filter((said) => !said.includes('LEADER'))).toHaveLength(2);
});

test('claude: --verify starts the program and tells a hook that refuses from one that is not there', async () => {
  const dir = project();
  const home = homeFolder();
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const server = await modelServer({
    answers: (request) => {
      const [, file_path = ''] = /file_path (\S+)/.exec(wholeText(request)) ?? [];
      return results(request) > 0 ? 'done' : { toolCalls: [{ name: 'Write', input: { file_path, content: 'test' } }] };
    },
  });
  onTestFinished(() => server.close());
  const PATH = `${join(CLI, 'node_modules', '.bin')}:${process.env.PATH}`;
  const env = { HOME: home, PATH, ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: server.url };
  const verify = () => baton(dir, ['install', 'claude', '--verify', '--json'], { env });
  const before = await verify();
  expect([before.code, json(before)]).toMatchObject([1, { verified: false, reason: /did not refuse it/ }]);
  expect((await baton(dir, ['install', 'claude', '--yes'])).code).toBe(0);
  const after = await verify();
  expect([after.code, json(after)]).toMatchObject([
    0,
    { agent: 'claude', verified: true, reason: /the hook refused it/ },
  ]);
  expect(readdirSync(join(dir, '.baton')).filter((name) => name.startsWith('hook-test'))).toEqual([]);
});
