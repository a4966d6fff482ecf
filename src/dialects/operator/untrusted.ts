// Free text inside payloads is data. Secrets in it and structure that imitates the control plane are refused; phrases that
// try to give orders are only mentioned.
import { inspectJson, inspectText, refuseForeign } from '../../kernel/foreign-text.ts';
import { isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { findSecrets, scrubJson } from '../../kernel/secrets.ts';
import { parseJsonText } from '../json-text.ts';
import type { Findings } from './findings.ts';

/** The names that the contract gives to kinds of secrets; the others keep the name of their kind. */
const PATTERNS: Readonly<Record<string, string>> = {
  'aws-key': 'aws_access_key_id',
  'openai-key': 'openai_api_key',
  'anthropic-key': 'anthropic_api_key',
  'private-key': 'private_key_block',
  credential: 'generic_secret_assignment',
};

export function checkForeignText(
  found: Findings,
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
  const { structural } = inspectJson(parsed.value, path);
  const known = new Set(report.structural.map(({ kind, what }) => `${kind} ${what}`));
  return {
    ...report,
    structural: [...report.structural, ...structural.filter(({ kind, what }) => !known.has(`${kind} ${what}`))],
  };
}

/** Says what kind of secret it is and where, never the secret. */
export function checkNoSecret(found: Findings, text: Json | undefined, path: string, details: JsonObject = {}): void {
  const pattern = isString(text) ? (patternOf(text) ?? plainAssignment(text) ?? bearerValue(text)) : null;
  if (pattern !== null) refuseSecret(found, pattern, path, details);
}

/** The same for every text of an object, wherever it stands. */
export function checkNoSecretIn(found: Findings, payload: JsonObject): void {
  for (const { path, kind } of scrubJson(payload).found) {
    refuseSecret(found, nameOf(kind), path.replace(/^\$\.?/, '').slice(0, 200) || '$', {});
  }
}

function refuseSecret(found: Findings, pattern: string, path: string, details: JsonObject): void {
  const message = `holds what looks like a secret (${pattern}); take it out and rotate it`;
  found.add('UNTRUSTED_CONTEXT_BLOCK', path, message, { ...details, pattern });
}

export function warnOfSecret(found: Findings, text: Json | undefined, path: string): void {
  const pattern = isString(text) ? patternOf(text) : null;
  if (pattern !== null)
    found.warn(`${path} holds what looks like a secret (${pattern}); it is scrubbed before it is stored`);
}

/** The most telling kind: anything recognised by its own shape before what only stands after a word such as `token`. */
function patternOf(text: string): string | null {
  const kinds = findSecrets(text).map(({ kind }) => kind);
  const kind = kinds.find((one) => one !== 'credential') ?? kinds[0];
  return kind === undefined ? null : nameOf(kind);
}

/** In a note whatever is assigned to such a word counts, however harmless it looks. */
function plainAssignment(text: string): string | null {
  return /(?:api[_-]?key|secret|token|passw(?:or)?d)[ \t]{0,8}=(?![=>])[ \t]{0,8}\S/i.test(text)
    ? 'generic_secret_assignment'
    : null;
}

/** A value that stands after the word bearer, long and with a digit in it as no word of a sentence is. */
function bearerValue(text: string): string | null {
  const values = text.matchAll(/\bbearer[ \t]{1,8}([A-Za-z0-9._~+/-]{16,512})/gi);
  return [...values].some(([, value = '']) => /[0-9]/.test(value)) ? 'bearer_token' : null;
}

/** The shapes that the gate behind an execution looks for, wherever in a word they begin. Each has a bounded reach. */
const LOOSE: readonly (readonly [string, RegExp])[] = [
  ['aws_access_key_id', /AKIA[0-9A-Z]{16}/],
  ['openai_api_key', /sk-[A-Za-z0-9]{20}/],
  ['anthropic_api_key', /sk-ant-[A-Za-z0-9-]{20}/],
  ['private_key_block', /BEGIN [A-Z ]{0,40}PRIVATE KEY/],
  ['generic_secret_assignment', /(?:api[_-]?key|secret|token)\s{0,8}[:=]\s{0,8}\S/i],
];

/** The first of these shapes that a text holds. What is harmless prose is not told apart here: the gate rather asks twice. */
export function looseSecretIn(text: string): string | null {
  return LOOSE.find(([, shape]) => shape.test(text))?.[0] ?? null;
}

function nameOf(kind: string): string {
  return PATTERNS[kind] ?? kind.replaceAll('-', '_');
}
