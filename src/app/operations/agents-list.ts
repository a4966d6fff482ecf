// Which agents are on this machine, in which version, and whether somebody is signed in.
import { detectAgents } from '../../agents/detect.ts';
import { keyVariableOf, runnersThat } from '../../kernel/capabilities.ts';
import { counted } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

/** Models asked directly: they need a key and nothing installed. */
const MODELS = runnersThat('isModelApi')
  .map((name) => ({ name, variable: keyVariableOf(name) ?? '' }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

export const run: Run<FieldsOf<'agents.list'>> = async ({ env }) => {
  const found = await detectAgents(env);
  const agents = found.map((one) => ({ ...one, installed: one.path !== null, signedIn: one.signedInBy !== null }));
  const models = MODELS.map(({ name, variable }) => ({ name, keySet: (env[variable] ?? '').trim() !== '', variable }));
  const installed = agents.filter((agent) => agent.installed);
  return allow(`${counted(installed.length, 'agent')} installed`, { agents, models });
};
