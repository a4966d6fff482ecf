// Free text inside payloads is data. Secrets in it and structure that imitates the control plane are refused; phrases that
// try to give orders are only mentioned.
import { isRemark } from '../../kernel/credential.ts';
import { inspectJson, inspectText, refuseForeign } from '../../kernel/foreign-text.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { findSecrets, scrubJson } from '../../kernel/secrets.ts';
import { parseJsonText } from '../json-text.ts';
import type { OperatorFindings } from './findings.ts';

/** The names that the contract gives to kinds of secrets; the others keep the name of their kind. */
const PATTERNS: Readonly<Record<string, string>> = {
  'aws-key': 'aws_access_key_id',
  'openai-key': 'openai_api_key',
  'anthropic-key': 'anthropic_api_key',
  'private-key': 'private_key_block',
  credential: 'generic_secret_assignment',
};

export function checkForeignText(
  found: OperatorFindings,
  text: Json | undefined,
  path: string,
  details: JsonObject = {},
): void {
  if (!isString(text)) return;
  const report = inspectBlob(text, path);
  const refusal = refuseForeign(report);
  const kinds = report.structural.map(({ kind, what }) => ({ kind, what }));
  if (refusal) found.add('UNTRUSTED_CONTEXT_BLOCK', path, refusal.reason, { ...details, found: kinds });
  for (const { kind } of report.flags) found.warn(`${path} holds a phrase that tries to steer its reader (${kind})`);
}

/** A text that is JSON is looked at as JSON too: escapes hide nothing there, and a history shows its turns. */
function inspectBlob(text: string, path: string): ReturnType<typeof inspectText> {
  const report = inspectText(text, path);
  if (!/^\s*[[{]/.test(text)) return report;
  const parsed = parseJsonText(text);
  if (!parsed.ok) return report;
  const inside = inspectJson(parsed.value, path);
  return {
    structural: together(report.structural, inside.structural),
    flags: together(report.flags, inside.flags),
  };
}

/** All findings, each once, wherever in the text it is. */
function together<T extends { readonly kind: string; readonly what: string }>(
  some: readonly T[],
  more: readonly T[],
): readonly T[] {
  const known = new Set(some.map(({ kind, what }) => `${kind} ${what}`));
  return [...some, ...more.filter(({ kind, what }) => !known.has(`${kind} ${what}`))];
}

/** Says what kind of secret it is and where, never the secret. */
export function checkNoSecret(
  found: OperatorFindings,
  text: Json | undefined,
  path: string,
  details: JsonObject = {},
): void {
  const pattern = isString(text) ? secretIn(text) : null;
  if (pattern !== null) refuseSecret(found, pattern, path, details);
}

/** The same for every text of an object, wherever it stands. */
export function checkNoSecretIn(found: OperatorFindings, payload: JsonObject): void {
  const told = new Set<string>();
  const refuse = (path: string, pattern: string) => {
    told.add(path);
    refuseSecret(found, pattern, path.replace(/^\$\.?/, '').slice(0, 200) || '$', {});
  };
  for (const { path, kind } of scrubJson(payload).found) refuse(path, nameOf(kind));
  for (const { path, text } of textsIn(payload, '$')) {
    const pattern = told.has(path) ? null : plainSecretIn(text);
    if (pattern !== null) refuse(path, pattern);
  }
}

function* textsIn(value: Json, path: string): Generator<{ readonly path: string; readonly text: string }> {
  if (isString(value)) yield { path, text: value };
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, `${path}[${index}]`);
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) yield* textsIn(item, `${path}.${key}`);
}

function refuseSecret(found: OperatorFindings, pattern: string, path: string, details: JsonObject): void {
  const message = `holds what looks like a secret (${pattern}); take it out and rotate it`;
  found.add('UNTRUSTED_CONTEXT_BLOCK', path, message, { ...details, pattern });
}

export function warnOfSecret(found: OperatorFindings, text: Json | undefined, path: string): void {
  const [first, ...more] = isString(text) ? kindsIn(text) : [];
  if (first === undefined) return;
  const pattern = nameOf([first, ...more].find(isTelling) ?? first);
  found.warn(`${path} holds what looks like a secret (${pattern}); it is scrubbed before it is stored`);
}

/**
 * The one rule for whatever an agent says in notes and worklogs. It refuses more than is scrubbed elsewhere: nothing is lost
 * by asking an agent to say it without the value. The most telling kind wins: anything recognised by its own shape before what
 * only stands after a word such as `token`.
 */
function secretIn(text: string): string | null {
  const kinds = kindsIn(text);
  const telling = kinds.find(isTelling);
  if (telling !== undefined) return nameOf(telling);
  return plainSecretIn(text) ?? (kinds.length > 0 ? nameOf('credential') : null);
}

function kindsIn(text: string): readonly string[] {
  return findSecrets(text).map(({ kind }) => kind);
}

function isTelling(kind: string): boolean {
  return kind !== 'credential';
}

/** Every rule below needs one of these; a text without them is done. */
const HINT = /key|secret|token|passw|bearer|authorization|AKIA|sk-/i;

/** Beside what is found in any text: shapes wherever in a word they begin, and whatever is given to a credential word. */
function plainSecretIn(text: string): string | null {
  if (!HINT.test(text)) return null;
  const shape = LOOSE.find(([, pattern]) => pattern.test(text))?.[0];
  return shape ?? (isAssigned(text) ? nameOf('credential') : bearerValue(text));
}

/** Each has a bounded reach. A word such as `task-` in front of a digest is no beginning of a key. */
const LOOSE: readonly (readonly [string, RegExp])[] = [
  ['aws_access_key_id', /AKIA[0-9A-Z]{16}/],
  ['openai_api_key', /(?<!\b(?:ta|di|ri|de|ma|a|fla|kio|hu|du))sk-[A-Za-z0-9]{20}/],
  ['anthropic_api_key', /sk-ant-[A-Za-z0-9-]{20}/],
  ['private_key_block', /BEGIN [A-Z ]{0,40}PRIVATE KEY/],
];

/** The word, the sign and what stands after it; not the marker that is left where a secret was taken out. */
const ASSIGNED =
  /(?!secret:[a-z-]{1,40}\])(?:api[_-]?key|secret|token|passw(?:or)?d)\s{0,8}(:=|=(?![=>])|:(?![:/=]))\s{0,8}(?!\[secret:)(?=(\S{1,256}))/gi;

/**
 * After an equals sign anything counts, however harmless it looks. After a colon the first word does, whatever follows it and
 * also on the next line, be it a number, a name in code or a path; only a remark and a placeholder are let through.
 */
function isAssigned(text: string): boolean {
  for (const [, operator, written = ''] of text.matchAll(ASSIGNED)) {
    if (operator !== ':') return true;
    if (!isRemark(firstWord(written))) return true;
  }
  return false;
}

function firstWord(written: string): string {
  return /^["'`]?([^"'`\\,;&|<>]*)/.exec(written)?.[1]?.replace(/[.:)\]}!?]+$/, '') ?? '';
}

const BEARER = /\bbearer(?:[ \t]{1,8}|[ \t]{0,8}[:=][ \t]{0,8})["'`]?[A-Za-z0-9._~+/-]{16}/i;
const AUTHORIZATION =
  /\bauthorization["'`]?[ \t]{0,8}[:=][ \t]{0,8}["'`]?(?:bearer|basic|token)[ \t]{1,8}(?!\[secret:)(\S{1,256})/gi;

/** What stands after the word bearer and is longer than words are, and whatever a header of that name carries. */
function bearerValue(text: string): string | null {
  const isSent = () => [...text.matchAll(AUTHORIZATION)].some(([, written = '']) => !isRemark(firstWord(written)));
  return BEARER.test(text) || isSent() ? 'bearer_token' : null;
}

function nameOf(kind: string): string {
  return PATTERNS[kind] ?? kind.replaceAll('-', '_');
}
