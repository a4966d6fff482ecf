// The rules about shell commands that a hook applies, by name, and how the configuration switches or narrows them.
import { isObject, isText, type Json } from '../json.ts';

export const HOOK_RULES = ['remove', 'git-discard', 'git-force-push', 'git-history', 'sleep'] as const;
export type HookRule = (typeof HOOK_RULES)[number];

/** A rule that is not named is on. With `allow` it is on, except for the commands that are listed. */
export type HookRuleSettings = Readonly<Partial<Record<HookRule, boolean | { readonly allow: readonly string[] }>>>;

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
