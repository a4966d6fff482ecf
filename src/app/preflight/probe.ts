// Asks each runner of a cast for one word, where a person wants proof that somebody is signed in and the model is there.

import { PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import type { Code } from '../../kernel/codes.ts';
import type { AgentMateria } from '../../kernel/graph/config.ts';
import type { Context } from '../operation.ts';
import { proofKey } from './agents.ts';
import { errorFinding, type MachineFinding, okFinding } from './finding.ts';

type ProbeAnswers = { readonly proved: ReadonlySet<string>; readonly findings: readonly MachineFinding[] };

/** Each runner with each model once, all at the same time. */
export async function probed(
  agents: readonly AgentMateria[],
  { signal, onEvent }: Pick<Context, 'signal' | 'onEvent'>,
): Promise<ProbeAnswers> {
  const asked = agents.filter(({ runner }) => runnerCan(PRESENT, runner, 'asksProvider'));
  const distinct = new Map(asked.map((agent) => [`${proofKey(agent)} ${agent.model ?? ''}`, agent]));
  if (distinct.size === 0) return { proved: new Set(), findings: [] };
  onEvent({
    kind: 'note',
    text: `asking ${[...new Set(asked.map(({ runner }) => runner))].join(', ')} for one word …`,
  });
  const { selfTest } = await import('../operations/agents.ts');
  const results = await Promise.all(
    [...distinct.values()].map(async (agent) => ({ agent, result: await selfTest(agent, signal) })),
  );
  const findings = results.map(({ agent, result: { ok: isFine, said, code, model } }): MachineFinding => {
    const named = agent.model ?? model;
    const on = named === null || named === undefined ? '' : ` with ${named}`;
    if (isFine) return okFinding(agent.runner, `answers${on}`);
    const fix = `correct what it says, then try it with: baton agents test ${agent.runner}`;
    return errorFinding(agent.runner, `gives no answer${on}: ${said}`, fix, (code ?? 'AGENT_FAILED') as Code);
  });
  // What was asked needs no guess any more, whatever it answered.
  return { proved: new Set(results.map(({ agent }) => proofKey(agent))), findings };
}
