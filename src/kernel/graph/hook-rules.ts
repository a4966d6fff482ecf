// The rules about shell commands that a hook applies, by name, and how the configuration switches or narrows them.
import { isObject, isText, type Json } from '../json.ts';
import type { Shape } from './shape.ts';

export const HOOK_RULES = ['remove', 'git-discard', 'git-force-push', 'git-history', 'sleep'] as const;
export type HookRule = (typeof HOOK_RULES)[number];

/** A rule that is not named is on. With `allow` it is on, except for the commands that are listed. */
export type HookRuleSettings = Readonly<Partial<Record<HookRule, boolean | { readonly allow: readonly string[] }>>>;

export const HOOK_RULES_SHAPE: Shape = {
  accepts: isHookRuleSettings,
  wants: `an object of ${HOOK_RULES.join(', ')}, each true, false or {"allow": ["command"]}`,
};

export function isHookRuleSettings(value: Json | undefined): value is HookRuleSettings & Json {
  return isObject(value) && Object.entries(value).every(([name, setting]) => isRule(name) && isSetting(setting));
}

function isRule(name: string): name is HookRule {
  return HOOK_RULES.some((rule) => rule === name);
}

function isSetting(setting: Json): boolean {
  if (typeof setting === 'boolean') return true;
  if (!isObject(setting) || Object.keys(setting).join() !== 'allow') return false;
  return Array.isArray(setting.allow) && setting.allow.every(isText);
}
