// A plain session of the real Claude Code with our hooks installed: a helper learns the name it claims under, and whoever
// started it is told what its report says.
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ModelRequest, modelServer } from '../../src/testing/index.ts';
import { BATON, baton, project } from '../cli/baton.ts';
import { create, result } from '../cli/ledger-story.ts';
import { assertInstalled, CLI, homeFolder } from './contenders.ts';

beforeAll(assertInstalled);

const REPORT = '.agents/reports/T-1.json';
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
