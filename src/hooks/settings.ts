import type { ContractName } from '../kernel/capabilities.ts';
import { CONTRACT_NAMES, HOOK_RULES, type HookRuleSettings } from '../kernel/graph/config.ts';
import { isHookRuleSettings } from '../kernel/graph/project-fields.ts';
import { isObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type ConfigPlace, sectionIn } from '../workspace/sections.ts';

export type HookSettings = {
  readonly contract: ContractName | null;
  /** The stops at which the contract is checked. */
  readonly contractAt: readonly string[];
  /** Whether every tool use becomes an entry of the worklog. */
  readonly worklog: boolean;
  /** The rules about shell commands that are off or narrowed. */
  readonly rules: HookRuleSettings;
};

const STOPS = ['Stop', 'SubagentStop'];
const NONE: HookSettings = { contract: null, contractAt: STOPS, worklog: false, rules: {} };

/** Refuses an invalid section, so that a misspelt contract does not count as no contract. */
export function readSettings(place: ConfigPlace): HookSettings | Denied {
  const read = sectionIn(place, 'hooks');
  return read.ok ? settingsIn(place.configFile, read.section) : refuse(read.file, read.why);
}

function settingsIn(file: string, section: unknown): HookSettings | Denied {
  if (section === undefined || section === null) return NONE;
  if (!isObject(section)) return refuse(file, 'hooks must be an object');
  const { contract = null, contractAt = STOPS, worklog = false, rules = {} } = section;
  if (contract !== null && !isContract(contract))
    return refuse(file, `hooks.contract must be one of ${CONTRACT_NAMES.join(', ')}`);
  if (!Array.isArray(contractAt) || !contractAt.every((one) => STOPS.includes(String(one)))) {
    return refuse(file, `hooks.contractAt must be a list of ${STOPS.join(' and ')}`);
  }
  if (typeof worklog !== 'boolean') return refuse(file, 'hooks.worklog must be true or false');
  if (!isHookRuleSettings(rules))
    return refuse(
      file,
      `hooks.rules must be an object of ${HOOK_RULES.join(', ')}, each true, false or {"allow": ["command"]}`,
    );
  return { contract, contractAt: contractAt.map(String), worklog, rules };
}

function isContract(name: unknown): name is ContractName {
  return CONTRACT_NAMES.some((one) => one === name);
}

function refuse(file: string, why: string): Denied {
  return deny('INVALID_CONFIG', `${file}: ${why}; correct it, nothing is allowed until then`);
}
