// Two specialists and an orchestrator on one goal: a question, an illegal report, a permission, a write that is not allowed, and
// one report of all. Whoever carries the cast on is killed at each pause, and somebody else goes on.
import { expect, test } from 'vitest';
import { asBlock, type PlanStatus, reportOf } from '../reports.ts';
import { baton, project, type Ran, read, start } from './baton.ts';

const consolidation = (found: string, next: string) => ({
  ownership_assessment: 'owned_here',
  confirmed_findings: [found],
  suspected_findings: ['none'],
  conflicts: ['the two clocks disagree'],
  open_gaps: ['none'],
  next_best_agent: next,
});
const says = (status: PlanStatus, parts: Parameters<typeof reportOf>[1] = {}) => ({
  $turn: { output: asBlock(reportOf(status, parts)), delayMs: 100, usage: { input: 10, output: 5 } },
});
const gaia = (materia: string, to: string) => ({
  materia,
  contract: 'gaia',
  parse: 'json',
  edges: [{ when: 'satisfied', to }],
});
const config = {
  loadouts: {
    Goal: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': gaia('Network', 'Socket-2'),
        'Socket-2': gaia('Store', 'Socket-3'),
        'Socket-3': { materia: 'Lead' },
      },
    },
  },
  materia: {
    Network: { tools: 'none', prompt: 'Look at the network.' },
    Store: { tools: 'none', prompt: 'Look at the store.' },
    Lead: { tools: 'none', prompt: 'Sum up.' },
  },
  surfaces: {
    network: { agent: 'Network', keywords: ['slow', 'network'] },
    store: { agent: 'Store', keywords: ['slow', 'store'] },
  },
  context: { sections: { services: {}, people: {} }, write: { Network: ['services'] } },
};
const approval_request = {
  operation: 'clears the cache',
  exact_content: 'rm -r cache',
  scope: 'the cache',
  risk_level: 'LOW',
  rollback: 'it fills again',
  verification: 'ls cache',
};
const agents = {
  Network: [
    says('NEEDS_INPUT', {
      next_action: 'which region?',
      more: { consolidation_report: consolidation('asked', 'none') },
    }),
    // Sent on without an answer, it must first say that it works again.
    says('COMPLETE', { more: { consolidation_report: consolidation('hasty', 'none') } }),
    says('IN_PROGRESS', { next_action: 'ask again', more: { consolidation_report: consolidation('asked', 'none') } }),
    says('NEEDS_INPUT', {
      next_action: 'which region?',
      more: { consolidation_report: consolidation('asked', 'none') },
    }),
    says('COMPLETE', {
      key_outputs: ['the network is fine'],
      more: {
        consolidation_report: consolidation('the network is fine', 'Store'),
        update_contracts: [
          { contract: 'services', payload: { edge: { region: 'north' } } },
          { contract: 'people', payload: { owner: 'me' } },
        ],
        memory_suggestions: ['Ask for the region first.'],
      },
    }),
  ],
  Store: [
    says('APPROVAL_REQUEST', { more: { approval_request, consolidation_report: consolidation('cache', 'none') } }),
    says('COMPLETE', {
      key_outputs: ['the cache was stale'],
      more: { consolidation_report: consolidation('the cache was stale', 'Lead') },
    }),
  ],
  Lead: ['The cache was stale; the network is fine.'],
};

const PATIENT = { timeout: 180_000 };
const told = ({ stdout }: Ran) => JSON.parse(stdout);

/** Starts a command and kills it as soon as it has begun to drive: what it wrote before counts, the rest is carried on. */
async function killed(dir: string, args: readonly string[], said: RegExp): Promise<void> {
  const run = start(dir, args);
  await expect.poll(() => run.stderr(), { timeout: 30_000, interval: 5 }).toMatch(said);
  run.child.kill('SIGKILL');
  await run.ended;
}

test(
  'specialists and an orchestrator reach one goal over every pause, though each time somebody is killed',
  PATIENT,
  async () => {
    const dir = project({ '.baton/config.json': config, 'agents.json': agents, 'cache/a': 'x' });
    await killed(dir, ['cast', '--agents', 'agents.json', 'Why is the store slow over the network?'], /Network/);
    const asked = told(await baton(dir, ['resume', '--json']));
    expect([asked.status, asked.code]).toEqual(['waiting', 'ANSWER_NEEDED']);
    expect((await baton(dir, ['status'])).stdout).toContain('which region?');
    expect(told(await baton(dir, ['why', asked.cast, '--json'])).code).toBe('ANSWER_NEEDED');

    // Sent on without an answer: COMPLETE cannot follow the question, and it is in the log.
    await killed(dir, ['decide', `${asked.cast}:1`, 'rerun'], /▸ Network · attempt/);
    const again = told(await baton(dir, ['resume', '--json']));
    expect([again.status, again.code]).toEqual(['waiting', 'ANSWER_NEEDED']);
    expect((await baton(dir, ['log', '--after', '0'])).stdout).toContain('ILLEGAL_TRANSITION');

    await killed(dir, ['answer', asked.cast, 'north'], /▸ Network · attempt/);
    const wants = told(await baton(dir, ['resume', '--json']));
    expect([wants.status, wants.code]).toEqual(['waiting', 'APPROVAL_NEEDED']);
    const [approval] = told(await baton(dir, ['approvals', '--json']));
    await killed(dir, ['approve', approval.id, '--reason', 'it fills again'], /▸ Store · attempt/);
    const done = told(await baton(dir, ['resume', '--json']));
    expect([done.status, done.path.length]).toEqual(['completed', 3]);

    const log = (await baton(dir, ['log', '--after', '0'])).stdout;
    expect(log).toContain('WRITE_NOT_PERMITTED');
    expect(told(await baton(dir, ['context', 'show', '--json']))).toMatchObject([
      { section: 'people', version: 0, by: null },
      { section: 'services', version: 1, by: 'Network', value: { edge: { region: 'north' } } },
    ]);
    expect((await baton(dir, ['context', 'show', 'services'])).stdout).toContain('north');
    expect((await baton(dir, ['memory', 'list'])).stdout).toContain('Ask for the region first.');

    // The consolidated report has each agent's word, and the orchestrator was told it.
    const shown = told(await baton(dir, ['show', 'latest', '--json', '--turns']));
    expect(JSON.stringify(shown.report)).toContain('the two clocks disagree');
    expect(shown.turns.at(-1).brief).toContain('the network is fine');
    expect(read(dir, 'cache/a')).toBe('x');
  },
);
