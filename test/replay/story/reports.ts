// Agents that report with a status: they go on, ask, are blocked and finish; what their reports bring to the knowledge of
// the workspace, and what a person does with it.

import { agentIdOf } from '../../../src/kernel/cast/rules.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { graph } from '../../loadouts.ts';
import { asBlock, type Parts, type PlanStatus, reportOf } from '../../reports.ts';
import { SEAL, type Stage } from './stage.ts';

const CONFIG: JsonObject = {
  ...graph(
    { 'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia' } },
    { materia: { Spec: { tools: 'none', prompt: 'Find out why.' } } },
  ),
  context: { sections: { services: { description: 'What runs' } }, write: { Spec: ['services'] } },
};

export const says = (status: PlanStatus, parts: Parts = {}): string => asBlock(reportOf(status, parts));

const evidence = (payload: JsonObject): JsonObject => ({
  contract: 'evidence',
  payload: { brief_id: 7, ac_id: 'AC-1', ...payload },
});

const LEARNT: JsonObject = {
  update_contracts: [
    { contract: 'services', payload: { api: { port: 8080, language: 'TypeScript' } } },
    { contract: 'network', payload: { zone: 'eu' } },
    evidence({ type: 'text', text: 'The clock was ahead.', task_id: 'T-7', created_by_agent: 'Spec' }),
    evidence({ type: 'file', artifact_path: 'out/run.txt' }),
    'not an entry',
  ],
  memorialize_suggestions: [
    {
      ...{ description: 'Clocks drift', body: 'Compare the clocks first.', slug: 'clocks' },
      ...{ type: 'decision', class: 'anchor', rationale: 'it took a day' },
    },
  ],
  memory_suggestions: ['The tests need a key.', 'Tabs are used here.', 'Nobody has decided about this.'],
};

export async function tellOfReports(stage: Stage): Promise<void> {
  await toTheEnd(stage);
  await lookedAt(stage);
  await byHand(stage);
}

async function toTheEnd(stage: Stage): Promise<void> {
  const report = async (output: string, code: Parameters<Stage['say']>[3] = 'OK') =>
    stage.say(await stage.turn('spec'), output, {}, code);
  // What the agent says is said below; of the script the answer counts.
  const script = { Spec: ['first', 'second', { $answer: 'The one in the cellar.' }, 'and on', '$repeat'] };
  await stage.start('spec', { config: CONFIG, request: 'golden spec', script });
  await report(says('IN_PROGRESS', { next_action: 'read the log' }));
  await report(says('NEEDS_INPUT', { next_action: 'Which clock?' }));
  await report(says('NEEDS_INPUT', { next_action: 'Tabs or spaces?' }));
  await stage.tell({ kind: 'turn.answer', cast: 'spec', output: 'tabs' });
  const loop_state = { iteration: 1, max_iterations: 3, metric: 0.5, threshold: 0.9 };
  await report(says('COMPLETE', { more: { loop_state } }), 'CONTRACT_VIOLATION');
  await report(says('BLOCKED', { open_gaps: ['no access to the registry'] }), 'AGENT_BLOCKED');
  await stage.tell({ kind: 'turn.answer', cast: 'spec', output: 'you have it now' });
  const last = await stage.turn('spec');
  await stage.say(last, says('COMPLETE', { key_outputs: ['the clock was wrong'], more: LEARNT }));
  await stage.verify(last, { artifacts: { 'out/run.txt': { inside: true, bytes: 42 } } });
}

/** An agent whose program really runs: what it did so far is looked at when it asks. */
async function lookedAt(stage: Stage): Promise<void> {
  const agent_id = agentIdOf('looked', 'Socket-1', null);
  const agent = { runner: 'codex', session: { runner: 'codex', id: 'thread-1' } };
  await stage.start('looked', { config: CONFIG, request: 'golden looked' });
  await stage.prepare('looked', { seal: SEAL });
  const asking = await stage.turn('looked');
  const question = `May I use AKIA${'C'.repeat(16)}?`;
  await stage.say(asking, says('NEEDS_INPUT', { agent_id, next_action: question }), { agent });
  await stage.verify(asking, { changes: { 'notes.md': 'sha256:1' } });
  await stage.tell({ kind: 'turn.answer', cast: 'looked', output: 'no' });
  await stage.prepare('looked', { seal: SEAL });
  const done = await stage.turn('looked');
  const more = { update_contracts: [evidence({ type: 'hearsay', text: 'They say so.' })] };
  await stage.say(done, says('COMPLETE', { agent_id, more }));
  await stage.verify(done);
}

/** A person sets a section, puts it back, and decides what is remembered. */
async function byHand(stage: Stage): Promise<void> {
  const person = { isAgent: false } as const;
  const first = { api: { port: 8080, language: 'TypeScript' } };
  await stage.tell({ kind: 'context.write', section: 'services', payload: { api: {} }, replace: true, ...person });
  const back = { section: 'services', to: 1, value: first, seen: 2, reason: 'it was right' };
  await stage.tell({ kind: 'context.revert', ...back, ...person });
  const region = { region: 'eu-1' };
  await stage.tell({ kind: 'context.write', section: 'network', payload: region, replace: false, ...person });
  await stage.tell({ kind: 'memory.accept', id: 'm1', section: 'services', ...person });
  await stage.tell({ kind: 'memory.accept', id: 'm2', ...person });
  await stage.tell({ kind: 'memory.drop', id: 'm3', reason: 'spaces are', ...person });
}
