// What the workspace knows, by sections: shows it, its history and differences, and lets a person write.
import { parseJsonText } from '../../dialects/json-text.ts';
import { canonicalJson, isObject, isString, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { valuesOf } from '../../kernel/knowledge/merge.ts';
import { type Section, sectionOf } from '../../kernel/knowledge/state.ts';
import { notEarlier } from '../../kernel/knowledge/write.ts';
import { counted, utf8Length } from '../../kernel/text.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import { ERASED } from '../../log/line.ts';
import { refusalOfDecision } from '../decision.ts';
import {
  CHANGES_SHOWN_MAX,
  declaredSections,
  heldAt,
  knowledgeIn,
  type SectionEntry,
  sectionHistory,
  sectionValueAt,
  unknownSection,
  wholeChange,
} from '../knowledge-in-log.ts';
import type { Operation } from './table.ts';

/** The sections of what the workspace knows, or the one that is named. */
export const contextShow: Operation<'context.show'> = async (workspace, { section }) => {
  const known = workspace.hasLog() ? (await knowledgeIn(workspace.ledgerStore().log)).sections : {};
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
  const { told } = await sectionHistory(workspace, section);
  return allow(`${told.length} entries`, { history: told.map((each) => row(each, told)) });
};

function row({ seq, at, by, fact }: SectionEntry, told: readonly SectionEntry[]) {
  const { cast, turn } = fact.kind === 'context.reverted' ? {} : fact;
  const where = cast === undefined ? null : `${cast}:${turn}`;
  const author = fact.kind === 'context.rejected' ? (fact.agent ?? by) : fact.author;
  const common = { seq, at, by: author, where };
  if (fact.kind === 'context.rejected') {
    return { ...common, version: null, what: `refused (${fact.code}): ${fact.reason}`, code: fact.code, changes: [] };
  }
  const { version, value } = fact;
  const changes = valuesOf(sectionValueAt(told, version - 1) ?? {}, value, CHANGES_SHOWN_MAX).map(wholeChange);
  const what =
    fact.kind === 'context.reverted'
      ? `back to ${fact.to}: ${fact.reason}`
      : `${fact.replaces ? 'replaced' : 'written'}, ${counted(changes.length, 'change')}`;
  return { ...common, version, what, changes };
}

/** What differs between two versions of a section. */
export const contextDiff: Operation<'context.diff'> = async (workspace, { section, ...versions }) => {
  const { told, present } = await sectionHistory(workspace, section);
  const to = versions.to ?? present;
  const from = versions.from ?? Math.max(0, to - 1);
  const changes = valuesOf(heldAt(told, section, from), heldAt(told, section, to), CHANGES_SHOWN_MAX);
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
  const { told, present: seen } = await sectionHistory(workspace, section);
  const value = heldAt(told, section, to);
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
