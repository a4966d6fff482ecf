// What the INPUT asks of the answer. The envelope shares a name with the block the agent answers with, and nothing else;
// its flags decide whether that answer must carry a consolidation_report.
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { isEmpty } from './presence.ts';

export { buildInput, type InputEnvelope, type InputParts } from '../../kernel/report/envelope.ts';

/** Whether the OUTPUT must carry a consolidation_report. Any value that holds something sets a flag, even `"false"`. */
export function consolidationRequired(injectedContext: JsonObject | null): boolean {
  if (injectedContext === null) return false;
  // Envelopes built by older runtimes keep the brief under its former name.
  const briefs = [injectedContext.agent_contract_handoff, injectedContext.investigation_brief];
  const asked = briefs.some((brief) => isSet(brief, 'consolidation_required') || isSet(brief, 'cross_check_required'));
  return asked || isSet(injectedContext.surface_routing, 'multi_surface');
}

function isSet(section: Json | undefined, flag: string): boolean {
  return isObject(section) && !isEmpty(section[flag]);
}
