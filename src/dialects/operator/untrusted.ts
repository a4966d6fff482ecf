// Free text inside payloads is data. Secrets in it, and structure that only the control plane may write, are refused.
// Phrases that ask a reader to change its role are only flagged: people write about such phrases, and no list of them is
// complete.
import { isRemark } from '../../kernel/credential.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { findSecrets, scrubJson } from '../../kernel/secrets.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
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

/** The same for every text of an object, at any depth. */
export function checkNoSecretIn(found: OperatorFindings, payload: JsonObject): void {
  const covered = new Set<string>();
  const refuse = (path: string, pattern: string) => {
    covered.add(path);
    refuseSecret(found, pattern, path.replace(/^\$\.?/, '').slice(0, 200) || '$', {});
  };
  for (const { path, kind } of scrubJson(payload).found) refuse(path, nameOf(kind));
  for (const { path, text } of textsIn(payload, '$')) {
    const pattern = covered.has(path) ? null : plainSecretIn(text);
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
 * The one rule for notes and worklogs of agents. It refuses more than is scrubbed elsewhere, because the agent can write the
 * text again without the value. The clearest kind wins: a value recognised by its own shape comes before one that only
 * follows a word such as `token`.
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

/** In addition to the finds in any text: shapes that begin inside a word, and any value given to a credential word. */
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

/** The word, the sign and the value after it; not the marker left by a removed secret. */
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

/** A value after the word bearer that is longer than words are, and any value of a header of that name. */
function bearerValue(text: string): string | null {
  const isSent = () => [...text.matchAll(AUTHORIZATION)].some(([, written = '']) => !isRemark(firstWord(written)));
  return BEARER.test(text) || isSent() ? 'bearer_token' : null;
}

function nameOf(kind: string): string {
  return PATTERNS[kind] ?? kind.replaceAll('-', '_');
}

type StructuralKind = 'control-field' | 'packet-marker' | 'system-turn' | 'prototype-key';
type FlagKind = 'role-override' | 'role-change' | 'prompt-disclosure' | 'check-bypass' | 'system-line' | 'hidden-text';
type Foreign<Kind extends string> = { readonly kind: Kind; readonly path: string; readonly what: string };
type ForeignReport = {
  readonly structural: readonly Foreign<StructuralKind>[];
  readonly flags: readonly Foreign<FlagKind>[];
};

/**
 * Fields by which a packet, a result, a ledger, a turn's input or an envelope steers a run. Only names that few other
 * formats use: `dependencies`, `status` or `owner` in a quoted file steer nothing.
 */
const CONTROL_FIELDS: ReadonlySet<string> = new Set([
  'packet_type',
  'required_output_schema',
  'global_objective',
  'context_package',
  'lock_scope',
  'forbidden_scope',
  'heartbeat_interval_seconds',
  'acceptance_criteria',
  'acceptance_check',
  'acceptance_targets',
  'notes_for_orchestrator',
  'active_locks',
  'open_blockers',
  'ledger_delta',
  'applied_deltas',
  'agent_contract_handoff',
  'write_permissions',
  'writable_sections',
  'update_contracts',
  'source_agent_verified',
  'target_agent_verified',
  'composition_valid',
  'boundaries_respected',
]);

const FINDINGS_MAX = 50;
const DEPTH_MAX = 500;

/** What a text carries. Give the path under which people know it. */
export function inspectText(text: string, path = '$'): ForeignReport {
  const report = { structural: [], flags: [] };
  inspectString(text, path, report);
  return report;
}

/** What a tree of user data carries: its strings, its keys, and turns that claim to come from the system. */
export function inspectJson(value: Json, path = '$'): ForeignReport {
  const report: Report = { structural: [], flags: [] };
  inspectValue(value, path, 0, report);
  return report;
}

/** The refusal that a report's structural findings demand, or null; flags alone refuse nothing. */
export function refuseForeign(report: ForeignReport): Denied | null {
  const [first] = report.structural;
  if (!first) return null;
  const reason = `${first.path} holds ${MEANS[first.kind]} (${first.what}); data must not steer the control plane. Leave it out, or describe it in plain words.`;
  return deny('UNTRUSTED_CONTEXT_BLOCK', reason, { path: first.path, found: report.structural, flags: report.flags });
}

const MEANS: Readonly<Record<StructuralKind, string>> = {
  'control-field': 'a field of the control plane',
  'packet-marker': 'the marker of an assignment packet',
  'system-turn': 'a turn that claims to come from the system',
  'prototype-key': 'a key that changes prototypes',
};

type Report = { structural: Foreign<StructuralKind>[]; flags: Foreign<FlagKind>[] };

function inspectValue(value: Json, path: string, depth: number, report: Report): void {
  if (isString(value)) return inspectString(value, path, report);
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      if (isSystemTurn(item)) note(report.structural, 'system-turn', `${path}[${index}]`, String(item.role));
      inspectValue(item, `${path}[${index}]`, depth + 1, report);
    });
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key;
    if (CONTROL_FIELDS.has(key)) note(report.structural, 'control-field', `${path}.${shown}`, key);
    if (key === '__proto__') note(report.structural, 'prototype-key', `${path}.${shown}`, key);
    inspectString(key, `${path}.${shown}`, report);
    inspectValue(member, `${path}.${shown}`, depth + 1, report);
  }
}

/** A history item that is no word of a person or an agent. It would speak like a prompt that is not pinned. */
function isSystemTurn(item: Json): item is { role: string } {
  if (!isObject(item) || !isString(item.role) || !/^\s*(?:system|developer)\s*$/i.test(item.role)) return false;
  return ['content', 'text', 'parts', 'message'].some((key) => Object.hasOwn(item, key));
}

const JSON_MEMBER = /\\{0,3}["']([A-Za-z_]{6,30})\\{0,3}["'][ \t\r\n]{0,8}:/g;
/**
 * As a block of YAML, only where a list or a quoted value follows: a sentence may well begin with the name of a field, and
 * people list acceptance criteria under that very heading.
 */
const YAML_MEMBER =
  /(?:^|[\n{,])[ \t>*-]{0,12}(?!acceptance)([A-Za-z_]{6,30})[ \t]{0,4}:[ \t]{0,4}(?=\[|["']|\r?\n[ \t]{0,12}-[ \t])/g;
const PACKET_MARKER = /(?:^|\n)[ \t]{0,8}\[ASSIGNMENT PACKET\]/;
const TEMPLATE_TURN =
  /<\|(?:im_start|start_header_id)\|>[ \t\r\n]{0,8}(?:system|developer)|<\|(?:system|developer)\|>|<<\/?SYS>>/i;
const SYSTEM_LINE =
  /(?:^|\n)[ \t#>*[<(-]{0,8}(?:system|developer)(?: (?:message|prompt|note|instruction))?[\]>)* ]{0,4}:/i;
const ROLE_MEMBER = /["']role\\{0,3}["'][ \t\r\n]{0,8}:[ \t\r\n]{0,8}\\{0,3}["'](?:system|developer)/i;
/** Characters a person does not see: bidirectional overrides and tags. Flags of some regions are written with tags. */
const HIDDEN = /[\u202a-\u202e\u2066-\u2069]|(?<!\u{1f3f4}[\u{e0061}-\u{e007a}]{0,6})[\u{e0000}-\u{e007e}]/u;

function inspectString(text: string, path: string, report: Report): void {
  const members = [...text.matchAll(JSON_MEMBER), ...text.matchAll(YAML_MEMBER)];
  for (const match of members) {
    const name = (match[1] ?? '').toLowerCase();
    if (CONTROL_FIELDS.has(name)) note(report.structural, 'control-field', path, name);
  }
  if (PACKET_MARKER.test(text)) note(report.structural, 'packet-marker', path, '[ASSIGNMENT PACKET]');
  if (TEMPLATE_TURN.test(text)) note(report.structural, 'system-turn', path, 'a chat template token');
  if (SYSTEM_LINE.test(text) || ROLE_MEMBER.test(text)) note(report.flags, 'system-line', path, 'system');
  if (HIDDEN.test(text)) note(report.flags, 'hidden-text', path, 'invisible characters');
  flagPhrases(text, path, report);
}

/** Adds a finding once per place; a text full of them is one finding many times over. */
function note<Kind extends string>(list: Foreign<Kind>[], kind: Kind, path: string, what: string): void {
  if (list.length === FINDINGS_MAX) return;
  if (list.some((one) => one.kind === kind && one.path === path && one.what === what)) return;
  list.push({ kind, path, what });
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const DISCARD = words('ignore disregard forget override bypass');
const EARLIER = words('previous prior above earlier preceding your all any system');
const ORDERS = words('instruction instructions rule rules prompt prompts guideline guidelines directive directives');
const SYSTEM = words('system');
const DISCLOSE = words('reveal print show output repeat leak');
const SKIP = words('skip disable bypass');
const CHECKS = words('hash verification validation validator governance boundary gate lock locks scope');
const ROLES = words('orchestrator system admin administrator root developer operator supervisor validator');

/**
 * Each phrase is a few words near each other, so that fillers between them do not hide it. What is to be disclosed or
 * skipped may be named before the verb as well as after it.
 */
function flagPhrases(text: string, path: string, report: Report): void {
  const spoken = plainWords(text);
  const near = (from: number, count: number, set: ReadonlySet<string>): number => {
    for (let at = from; at < Math.min(from + count, spoken.length); at++) if (set.has(spoken[at] ?? '')) return at;
    return -1;
  };
  const before = (from: number, count: number, isIt: (at: number) => boolean): number => {
    for (let at = from; at >= Math.max(from - count + 1, 0); at--) if (isIt(at)) return at;
    return -1;
  };
  const flag = (kind: FlagKind, from: number, to: number) =>
    note(
      report.flags,
      kind,
      path,
      spoken
        .slice(from, to + 1)
        .join(' ')
        .slice(0, 120),
    );
  spoken.forEach((word, at) => {
    if (DISCARD.has(word)) {
      const earlier = near(at + 1, 4, EARLIER);
      const orders = earlier === -1 ? -1 : near(earlier + 1, 4, ORDERS);
      if (orders !== -1) flag('role-override', at, orders);
    }
    if (DISCLOSE.has(word)) {
      const system = near(at + 1, 4, SYSTEM);
      if (system !== -1 && spoken[system + 1] === 'prompt') flag('prompt-disclosure', at, system + 1);
      const earlier = before(at - 1, 4, (place) => spoken[place] === 'prompt' && spoken[place - 1] === 'system');
      if (earlier !== -1) flag('prompt-disclosure', earlier - 1, at);
    }
    if (SKIP.has(word)) {
      const check = near(at + 1, 3, CHECKS);
      if (check !== -1) flag('check-bypass', at, check);
      const earlier = before(at - 1, 3, (place) => CHECKS.has(spoken[place] ?? ''));
      if (earlier !== -1) flag('check-bypass', earlier, at);
    }
    if (
      (word === 'you' && spoken[at + 1] === 'are' && spoken[at + 2] === 'now') ||
      (word === 'act' && spoken[at + 1] === 'as')
    ) {
      const role = near(at + 2, 4, ROLES);
      if (role !== -1) flag('role-change', at, role);
    }
  });
}

/** The words of a text as a reader sees them: without odd letter forms, invisible characters and case. */
function plainWords(text: string): readonly string[] {
  const plain = text
    .normalize('NFKC')
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .toLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}
