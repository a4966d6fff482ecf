// The `hooks` section of the configuration: the contract of an agent's last message, and what is recorded.
import { readFileSync } from 'node:fs';
import type { ContractName } from '../kernel/capabilities.ts';
import { CONTRACT_NAMES, HOOK_RULES, type HookRuleSettings } from '../kernel/graph/config.ts';
import { isHookRuleSettings } from '../kernel/graph/project-fields.ts';
import { isObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

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
export function readSettings(configFile: string): HookSettings | Denied {
  let text: string;
  try {
    text = readFileSync(configFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NONE;
    return refuse(configFile, `it cannot be read (${(error as Error).message})`);
  }
  try {
    const config: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isObject(config) ? settingsIn(configFile, config.hooks) : refuse(configFile, 'it holds no object');
  } catch (error) {
    return refuse(configFile, `it is not JSON (${(error as Error).message})`);
  }
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
