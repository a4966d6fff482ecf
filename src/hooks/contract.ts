// Whether the last words of an agent keep the contract they were asked to keep.
import { validatorFor } from '../contracts/validate.ts';
import type { ContractName } from '../kernel/capabilities.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

const KINDS: Readonly<Record<Exclude<ContractName, 'text'>, string>> = {
  materia: 'materia',
  gaia: 'gaia',
  operator: 'operator/result',
};
const ISSUES_TOLD = 20;

/** The reason of a refusal says everything that is to be mended: it is all that the agent gets to see. */
export async function refusalOfMessage(message: string, contract: ContractName, now: string): Promise<Denied | null> {
  if (contract === 'text') return message.trim() === '' ? deny('NO_OUTPUT', 'say what you did before you stop') : null;
  const validator = await validatorFor(KINDS[contract]);
  const verdict = validator?.({ text: message }, { now });
  if (!verdict) return deny('INTERNAL', `the contract ${contract} cannot be checked`);
  if (verdict.allow) return null;
  const told = issuesIn(verdict.details);
  const list = told.length === 0 ? '' : ` Mend: ${told.join('; ')}.`;
  const reason = `your last message does not keep the ${contract} contract: ${verdict.reason}.${list} Say all of it again, whole.`;
  return deny(verdict.code, reason.replace('..', '.'), verdict.details);
}

function issuesIn({ issues, missing, invalid }: Readonly<Record<string, Json>>): readonly string[] {
  const lists = [missing, invalid].flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
  const told = Array.isArray(issues)
    ? issues.filter(isObject).map(({ path, message }) => `${String(path)} ${String(message)}`)
    : [];
  return [...told, ...lists].slice(0, ISSUES_TOLD);
}
