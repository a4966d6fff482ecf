// What the workspace knows, by sections, and what agents suggest to remember: shows it with its history, and lets a person write and
// decide.

import { parseJsonText } from '../../dialects/json-text.ts';
import type { Entry } from '../../kernel/fact.ts';
import {
  canonicalJson,
  given,
  isObject,
  isString,
  type Json,
  type JsonObject,
  nameOfType,
  objectAt,
} from '../../kernel/json.ts';
import { type ValueChange, valuesOf } from '../../kernel/knowledge/merge.ts';
import {
  isKnowledgeFact,
  type KnowledgeFact,
  noKnowledge,
  numberOf,
  type Remembered,
  type Section,
  type Suggested,
  sectionOf,
} from '../../kernel/knowledge/state.ts';
import { notEarlier } from '../../kernel/knowledge/write.ts';
import { counted, utf8Length } from '../../kernel/text.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import { ERASED } from '../../log/line.ts';
import { sectionIn } from '../../workspace/sections.ts';
import { refusalOfDecision } from '../refusals.ts';
import { Refused } from '../refused.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

/** The sections of what the workspace knows, or the one that is named. */
export const contextShow: Operation<'context.show'> = async (workspace, { section }) => {
  const known = workspace.hasLog() ? (await workspace.ledgerStore().view('knowledge')).sections : {};
  const declared = declaredSections(workspace) ?? [];
  if (section !== undefined) {
    const [view] = viewIn(known, section, declared);
    return view ? allow(`what is known of ${section}`, { section: view }) : unknownSection(section);
  }
  const names = [...new Set([...Object.keys(known), ...declared])].sort();
  const sections = names.flatMap((each) => viewIn(known, each, declared));
  return allow(`${sections.length} sections`, { sections });
};

/** A section that is declared and was never written has no version, and is empty. */
type View = {
  readonly section: string;
  readonly version: number;
  readonly at: string | null;
  readonly by: string | null;
  readonly bytes: number;
  readonly value: JsonObject;
};

function viewIn(
  sections: Readonly<Record<string, Section>>,
  name: string,
  declared: readonly string[],
): readonly View[] {
  const section = sectionOf({ sections }, name);
  if (section) return [viewOf(name, section)];
  return declared.includes(name) ? [{ section: name, version: 0, at: null, by: null, bytes: 2, value: {} }] : [];
}

function viewOf(section: string, { value, version, at, by }: Section): View {
  const bytes = utf8Length(canonicalJson(value));
  return { section, version, at: new Date(at).toISOString(), by, bytes, value };
}

/** Every version of a section, and every write that was refused. */
export const contextHistory: Operation<'context.history'> = async (workspace, { section }) => {
  const { entries } = await sectionHistory(workspace, section);
  return allow(`${entries.length} entries`, { history: entries.map((each) => row(each, entries)) });
};

function row({ seq, at, by, fact }: SectionEntry, entries: readonly SectionEntry[]) {
  const { cast, turn } = fact.kind === 'context.reverted' ? {} : fact;
  const where = cast === undefined ? null : `${cast}:${turn}`;
  const author = fact.kind === 'context.rejected' ? (fact.agent ?? by) : fact.author;
  const common = { seq, at, by: author, where };
  if (fact.kind === 'context.rejected') {
    return { ...common, version: null, what: `refused (${fact.code}): ${fact.reason}`, code: fact.code, changes: [] };
  }
  const { version, value } = fact;
  const changes = valuesOf(sectionValueAt(entries, version - 1) ?? {}, value, CHANGES_SHOWN_MAX).map(wholeChange);
  const what =
    fact.kind === 'context.reverted'
      ? `back to ${fact.to}: ${fact.reason}`
      : `${fact.replaces ? 'replaced' : 'written'}, ${counted(changes.length, 'change')}`;
  return { ...common, version, what, changes };
}

/** What differs between two versions of a section. */
export const contextDiff: Operation<'context.diff'> = async (workspace, { section, ...versions }) => {
  const { entries, present } = await sectionHistory(workspace, section);
  const to = versions.to ?? present;
  const from = versions.from ?? Math.max(0, to - 1);
  const changes = valuesOf(heldAt(entries, section, from), heldAt(entries, section, to), CHANGES_SHOWN_MAX);
  return allow(`${changes.length} changes`, { section, from, to, changes: changes.map(wholeChange) });
};

/** A person writes to a section of what the workspace knows. */
export const contextSet: Operation<'context.set'> = async (
  workspace,
  { section, value, replace = false },
  { actor },
) => {
  const read = objectIn(value);
  if ('refusal' in read) return read.refusal;
  const isAgent = refusalOfDecision(workspace, 'context.set', actor) !== null;
  const request = { kind: 'context.write', section, payload: read.payload, replace, isAgent } as const;
  return workspace.ledgerStore({ begins: true }).submit(request, actor);
};

function objectIn(given: Json): { readonly payload: JsonObject } | { readonly refusal: Denied } {
  // An object that a program hands in is held to the same limits as a text.
  const parsed = parseJsonText(isString(given) ? given : JSON.stringify(given), { maxBytes: 1_048_576 });
  if (!parsed.ok) {
    const { line, column, message } = parsed;
    const reason = `the file is not JSON at line ${line}, column ${column}: ${message}`;
    return { refusal: deny('NOT_JSON', reason, { line, column, message }) };
  }
  if (isObject(parsed.value)) return { payload: parsed.value };
  const reason = `a section is an object, and the file holds ${nameOfType(parsed.value)}`;
  return { refusal: deny('PAYLOAD_NOT_OBJECT', reason) };
}

/** A section gets the value of an earlier version again. */
export const contextRevert: Operation<'context.revert'> = async (workspace, { section, to, ...input }, { actor }) => {
  const { entries, present: seen } = await sectionHistory(workspace, section);
  const value = heldAt(entries, section, to);
  if (holdsErased(value)) {
    const why = `a text of version ${to} of ${section} was erased, so that it cannot be put back whole`;
    return deny('TEXT_ERASED', why, { section, to });
  }
  if (!workspace.hasLog()) return notEarlier(section, to, 0);
  const isAgent = refusalOfDecision(workspace, 'context.revert', actor) !== null;
  const [reason, declared] = [input.reason || 'a person put it back', declaredSections(workspace) ?? []];
  const request = { kind: 'context.revert', section, to, value, seen, reason, declared, isAgent } as const;
  return workspace.ledgerStore().submit(request, actor);
};

function holdsErased(value: Json): boolean {
  if (typeof value === 'string') return value === ERASED;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsErased);
}

/** What agents suggest to remember and what was accepted. */
export const memoryList: Operation<'memory.list'> = async (workspace, { all = false }) => {
  const known = workspace.hasLog() ? await workspace.ledgerStore().view('knowledge') : noKnowledge();
  const waiting = Object.values(known.open).map(suggested);
  const accepted = all ? Object.values(known.memory).map(remembered) : [];
  const memory = [...waiting, ...accepted].toSorted((a, b) => numberOf(a.id) - numberOf(b.id));
  return allow(`${memory.length} entries`, { memory });
};

function suggested({ key: _key, at, ...words }: Suggested) {
  return { status: 'waiting', section: null, ...words, at: new Date(at).toISOString() };
}

function remembered({ key: _key, at, ...words }: Remembered) {
  return { status: 'accepted', ...words, at: new Date(at).toISOString() };
}

/** A person accepts a suggestion: later turns get it. */
export const memoryAccept: Operation<'memory.accept'> = async (workspace, { id, section }, { actor }) => {
  if (!workspace.hasLog()) return unknownMemory(workspace, id);
  const declared = declaredSections(workspace);
  const request = {
    kind: 'memory.accept',
    id,
    ...(section === undefined ? {} : { section }),
    ...(declared === null ? {} : { declared }),
    isAgent: refusalOfDecision(workspace, 'memory.accept', actor) !== null,
  } as const;
  return workspace.ledgerStore().submit(request, actor);
};

/** A person drops what was suggested or remembered. */
export const memoryDrop: Operation<'memory.drop'> = async (workspace, { id, reason }, { actor }) => {
  if (!workspace.hasLog()) return unknownMemory(workspace, id);
  const isAgent = refusalOfDecision(workspace, 'memory.drop', actor) !== null;
  const request = { kind: 'memory.drop', id, reason: reason || 'a person rejected it', isAgent } as const;
  return workspace.ledgerStore().submit(request, actor);
};

function unknownMemory({ program }: Workspace, id: string): Denied {
  return deny('UNKNOWN_MEMORY', `nothing waits under ${id}; \`${program} memory list\` shows what does`, { id });
}

type SectionFact = Extract<KnowledgeFact, { section: string; kind: `context.${string}` }>;
type SectionEntry = {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly fact: SectionFact;
};

/** Everything that was written to a section, put back or refused, oldest first. */
async function historyOf(store: Pick<WorkspaceStore, 'read'>, section: string): Promise<readonly SectionEntry[]> {
  const entries = await store.read({ after: 0, kindPrefix: 'context.' });
  return entries.flatMap(({ seq, at, by, fact }) =>
    isSectionFact(fact) && fact.section === section ? [{ seq, at, by, fact }] : [],
  );
}

/** What the section held at a version; nothing at 0, and null at one it never had. */
function sectionValueAt(history: readonly SectionEntry[], version: number): JsonObject | null {
  if (version === 0) return {};
  for (const { fact } of history) {
    if (fact.kind !== 'context.rejected' && fact.version === version) return fact.value;
  }
  return null;
}

function isSectionFact(fact: Entry['fact']): fact is SectionFact {
  return isKnowledgeFact(fact) && fact.kind.startsWith('context.');
}

/** Null where the configuration declares none or cannot be read; `baton check` names its mistakes. */
function declaredSections(workspace: Workspace): readonly string[] | null {
  const read = sectionIn(workspace, 'context');
  const context = read.ok && isObject(read.section) ? read.section : {};
  return given(context, 'sections') === undefined ? null : Object.keys(objectAt(context, 'sections'));
}

/** More changes than that are not shown. */
const CHANGES_SHOWN_MAX = 10_000;

type SectionHistory = { readonly entries: readonly SectionEntry[]; readonly present: number };

/** Of a section that was written at least once, or that the configuration names; anything else is refused. */
async function sectionHistory(workspace: Workspace, name: string): Promise<SectionHistory> {
  const entries = workspace.hasLog() ? await historyOf(workspace.ledgerStore(), name) : [];
  if (entries.length === 0 && declaredSections(workspace)?.includes(name) !== true)
    throw new Refused(unknownSection(name));
  const versions = entries.map(({ fact }) => (fact.kind === 'context.rejected' ? 0 : fact.version));
  return { entries, present: Math.max(0, ...versions) };
}

function heldAt(entries: readonly SectionEntry[], section: string, version: number): JsonObject {
  const value = sectionValueAt(entries, version);
  if (value) return value;
  throw new Refused(deny('UNKNOWN_VERSION', `${section} never had a version ${version}`, { section, version }));
}

/** A side without a value has no member: null is a value like any other. */
function wholeChange({ path, before, after }: ValueChange): JsonObject {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function unknownSection(section: string): Denied {
  return deny('UNKNOWN_SECTION', `there is no section ${section}; \`baton context show\` lists them`, { section });
}
