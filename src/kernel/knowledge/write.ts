// Writes to sections: the entries of an accepted report, and what a person sets or reverts. Each write is a fact with the whole
// section after it. A write that changes nothing makes no fact.
import type { Code } from '../codes.ts';
import type { Input } from '../input.ts';
import { canonicalJson, type Json, type JsonObject } from '../json.ts';
import { scrubJson } from '../secrets.ts';
import type { Pen } from '../state.ts';
import { utf8Length } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { type Artifacts, type Deposit, EVIDENCE, sortEntries, type WrittenEntry } from './entries.ts';
import { type Finding, findingWarning, findLiveState, normaliseReferences, textOf } from './live-state.ts';
import { accept, drop } from './memory.ts';
import { diffOf, mergePayloads } from './merge.ts';
import {
  isSectionName,
  type Knowledge,
  type KnowledgeFact,
  type KnowledgeRequest,
  SECTION_BYTES_MAX,
  SECTIONS_MAX,
  sectionOf,
} from './state.ts';

/** On whose behalf a report writes. */
export type Writer = {
  readonly agent: string;
  readonly agentId: string;
  readonly writable: readonly string[];
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  /** What was seen of the files that it names as evidence. */
  readonly artifacts: Artifacts;
};

type Rejected = {
  readonly section: string;
  readonly code: Code;
  readonly reason: string;
  readonly path?: string;
};

type Written = {
  /** The sections that have a new version, each once, and the evidence that was deposited, as `evidence:<id>`. */
  readonly written: string[];
  readonly rejected: Rejected[];
  /** What was skipped or changed on the way; what was refused is among the rejected instead. */
  readonly warnings: readonly Finding[];
};

const ENTRIES_MAX = 64;
const WARNINGS_MAX = 100;
const PLACES_SHOWN_MAX = 5;

/** Writes the entries of a report that was accepted. What may not be written is refused one by one, and the rest applies. */
export function writeSections(pen: Pen, entries: Json | undefined, who: Writer): Written {
  const { agent, agentId, cast, turn } = who;
  const where = { agent, agentId, cast, turn };
  const { permitted, deposits, refused, skipped } = sortEntries(
    entries,
    who.writable,
    'update_contracts',
    who.artifacts,
  );
  const written = new Set<string>();
  const rejected: Rejected[] = [];
  const warnings: Finding[] = [...skipped];
  const reject = (section: string, code: Code, why: string, path?: string) => {
    const place = path === undefined ? {} : { path };
    const one = { section: textOf(section), code, reason: `${textOf(section)}: ${why}`, ...place };
    rejected.push(one);
    if (rejected.length <= ENTRIES_MAX) pen.write({ kind: 'context.rejected', ...one, ...where });
  };
  for (const { contract, code, why, path } of refused) reject(contract, code, why, path);
  for (const [index, entry] of permitted.entries()) {
    if (index >= ENTRIES_MAX) {
      reject(entry.contract, 'CONTEXT_LIMIT', `one report writes at most ${ENTRIES_MAX} entries; combine them`);
      continue;
    }
    const prepared = prepare(entry);
    if ('code' in prepared) {
      reject(entry.contract, prepared.code, prepared.why);
      continue;
    }
    const merged = merge(pen.state.knowledge, entry.contract, prepared.payload, false);
    if ('code' in merged) {
      reject(entry.contract, merged.code, merged.why);
      continue;
    }
    warnings.push(...prepared.findings.slice(0, WARNINGS_MAX), ...merged.findings.slice(0, WARNINGS_MAX));
    if (!merged.fact) warnings.push(unchanged(entry.contract));
    else {
      pen.write({ ...merged.fact, author: agent, ...where });
      written.add(entry.contract);
    }
  }
  for (const id of deposit(pen, deposits, who)) written.add(`${EVIDENCE}:${id}`);
  return { written: [...written], rejected, warnings: warnings.slice(0, WARNINGS_MAX) };
}

/** An attempt reports once, so that its number and the place in the report tell all evidence of a log apart. */
function deposit(pen: Pen, deposits: readonly Deposit[], who: Writer): readonly string[] {
  const { agent, agentId, cast, turn, attempt } = who;
  return deposits.map((given, index) => {
    const id = `${cast}-${turn}.${attempt}-${index + 1}`;
    const clean = scrubJson(given).value as Deposit;
    pen.write({ kind: 'evidence.deposited', ...clean, id, agent, agentId, cast, turn });
    return id;
  });
}

function unchanged(section: string): Finding {
  return findingWarning(`CONTEXT_UNCHANGED:${section}`, section, 'it holds all of it already');
}

/** A person writes to a section. Live state is pointed out to him, and it is his decision. */
export function setSection(pen: Pen, input: Extract<Input, { kind: 'context.write' }>): Verdict {
  const { section, replace, by } = input;
  const findings: Finding[] = [];
  const payload = cleaned(input.payload, section, findings);
  findLiveState(payload, section, findings);
  const merged = merge(pen.state.knowledge, section, payload, replace);
  if ('code' in merged) return deny(merged.code, `${textOf(section)}: ${merged.why}`, { section: textOf(section) });
  const found = [...findings, ...merged.findings].slice(0, WARNINGS_MAX);
  const warnings = found.map(({ code }) => code);
  const why = found.map(({ message }) => message);
  if (merged.fact) pen.write({ ...merged.fact, author: by });
  const version = sectionOf(pen.state.knowledge, section)?.version ?? 0;
  const reason = merged.fact ? `${section} is at version ${version}` : `${section} holds all of it already`;
  return allow(reason, { section, version, changed: merged.fact !== null, warnings, why });
}

/** A person gives a section the value of an earlier version. What came since stays in the log. */
export function revertSection(pen: Pen, input: Extract<Input, { kind: 'context.revert' }>): Verdict {
  const { section, to, value, seen, reason, by, declared = [] } = input;
  const stored = sectionOf(pen.state.knowledge, section);
  if (!stored && !declared.includes(section))
    return deny('UNKNOWN_SECTION', `there is no section ${textOf(section)}`, { section: textOf(section) });
  if (!stored || to < 0 || to >= stored.version) return notEarlier(section, to, stored?.version ?? 0);
  if (seen !== stored.version) {
    const why = `${section} was written in the meantime and is at version ${stored.version}; look at it and say it again`;
    return deny('NOT_ALLOWED_NOW', why, { section, seen, version: stored.version });
  }
  if (canonicalJson(stored.value) === canonicalJson(value)) {
    const why = `${section} is as it was at version ${to} already, and stays at version ${stored.version}`;
    return allow(why, { section, to, version: stored.version, changed: false });
  }
  const version = stored.version + 1;
  const diff = diffOf(stored.value, value);
  pen.write({ kind: 'context.reverted', section, to, value, version, diff, reason, author: by });
  return allow(`${section} is as it was at version ${to}`, { section, to, version, changed: true });
}

/** There is nothing to go back to at this version. */
export function notEarlier(section: string, to: number, version: number): Denied {
  const how = version === 0 ? 'it was never written' : 'name an earlier one, from 0';
  return deny('UNKNOWN_VERSION', `${section} is at version ${version}; ${how}`, { section, to, version });
}

type Refusal = { readonly code: Code; readonly why: string };

function prepare({ contract, payload }: WrittenEntry): Refusal | { payload: JsonObject; findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const normalised = cleaned(payload, contract, findings);
  const live: Finding[] = [];
  findLiveState(normalised, contract, live);
  if (live.length === 0) return { payload: normalised, findings };
  const places = live.slice(0, PLACES_SHOWN_MAX).map(({ path, message }) => `${path}: ${message}`);
  const more = live.length > PLACES_SHOWN_MAX ? `; and ${live.length - PLACES_SHOWN_MAX} more places` : '';
  return { code: 'LIVE_STATE', why: `${places.join('; ')}${more}` };
}

/** References in their canonical spelling, which drops passwords; any other credential is taken out after that. */
function cleaned(payload: JsonObject, section: string, findings: Finding[]): JsonObject {
  return scrubJson(normaliseReferences(payload, section, findings)).value as JsonObject;
}

type Merged = {
  /** Null where nothing would change. */
  readonly fact: Omit<Extract<KnowledgeFact, { kind: 'context.written' }>, 'author'> | null;
  readonly findings: readonly Finding[];
};

function merge(knowledge: Knowledge, section: string, payload: JsonObject, replace: boolean): Refusal | Merged {
  if (!isSectionName(section)) return { code: 'SECTION_NAME_INVALID', why: 'no section can be called so' };
  const stored = sectionOf(knowledge, section);
  if (!stored && Object.keys(knowledge.sections).length >= SECTIONS_MAX) {
    return { code: 'CONTEXT_LIMIT', why: `there are ${SECTIONS_MAX} sections already` };
  }
  const findings: Finding[] = [];
  const before = stored?.value ?? {};
  const value = replace ? payload : mergePayloads(before, [payload], section, findings);
  const text = canonicalJson(value);
  const bytes = utf8Length(text);
  if (bytes > SECTION_BYTES_MAX) {
    return { code: 'SECTION_TOO_LARGE', why: `it would take ${bytes} bytes, and ${SECTION_BYTES_MAX} is the most` };
  }
  if (stored && text === canonicalJson(before)) return { fact: null, findings };
  const version = (stored?.version ?? 0) + 1;
  const diff = diffOf(before, value);
  const replaces = replace ? ({ replaces: true } as const) : {};
  return { fact: { kind: 'context.written', section, payload, value, version, diff, ...replaces }, findings };
}

/** Requests by hand are for people. An agent writes through its report, which carries its permissions. */
const WHAT: Readonly<Record<KnowledgeRequest['kind'], string>> = {
  'context.write': 'sets a section by hand; agents write with update_contracts in their report',
  'context.revert': 'puts a section back',
  'memory.accept': 'decides what is remembered',
  'memory.drop': 'decides what is remembered',
};

export function decideKnowledge(pen: Pen, input: Extract<Input, { kind: KnowledgeRequest['kind'] }>): Verdict {
  if (input.isAgent) {
    const reason = `only a person ${WHAT[input.kind]}; this process was started by an agent`;
    return deny('APPROVER_IS_AGENT', reason, { kind: input.kind });
  }
  switch (input.kind) {
    case 'context.write':
      return setSection(pen, input);
    case 'context.revert':
      return revertSection(pen, input);
    case 'memory.accept':
      return accept(pen, input);
    case 'memory.drop':
      return drop(pen, input);
  }
}
