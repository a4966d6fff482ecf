// Shared knowledge in the log: the sections now, and the history of one section for the operations on it.
import { readFileSync } from 'node:fs';
import type { Log } from '../engine/ports.ts';
import { restored } from '../engine/snapshot.ts';
import { type Entry, timeOf } from '../kernel/fact.ts';
import { given, isObject, type JsonObject, objectAt } from '../kernel/json.ts';
import type { ValueChange } from '../kernel/knowledge/merge.ts';
import {
  applyKnowledge,
  isKnowledgeFact,
  type Knowledge,
  type KnowledgeFact,
  noKnowledge,
} from '../kernel/knowledge/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { Refused } from './refused.ts';
import type { Workspace } from './workspace.ts';

/** As it stands now. Only what came after the newest snapshot is read. */
export async function knowledgeIn(log: Log): Promise<Knowledge> {
  const known = await restored(log, (state) => state.knowledge);
  const knowledge = known?.found ?? noKnowledge();
  for (const entry of await factsAfter(log, known?.through ?? 0)) {
    if (isKnowledgeFact(entry.fact)) applyKnowledge(knowledge, entry.fact, timeOf(entry));
  }
  return knowledge;
}

type SectionFact = Extract<KnowledgeFact, { section: string; kind: `context.${string}` }>;
export type SectionEntry = {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly fact: SectionFact;
};

/** Everything that was written to a section, put back or refused, oldest first. */
async function historyOf(log: Log, section: string): Promise<readonly SectionEntry[]> {
  const entries = await log.read({ after: 0, kindPrefix: 'context.' });
  return entries.flatMap(({ seq, at, by, fact }) =>
    isSectionFact(fact) && fact.section === section ? [{ seq, at, by, fact }] : [],
  );
}

/** What the section held at a version; nothing at 0, and null at one it never had. */
export function sectionValueAt(history: readonly SectionEntry[], version: number): JsonObject | null {
  if (version === 0) return {};
  for (const { fact } of history) {
    if (fact.kind !== 'context.rejected' && fact.version === version) return fact.value;
  }
  return null;
}

function isSectionFact(fact: Entry['fact']): fact is SectionFact {
  return isKnowledgeFact(fact) && fact.kind.startsWith('context.');
}

async function factsAfter(log: Log, after: number): Promise<readonly Entry[]> {
  const [context, memory] = [
    await log.read({ after, kindPrefix: 'context.' }),
    await log.read({ after, kindPrefix: 'memory.' }),
  ];
  return [...context, ...memory].toSorted((a, b) => a.seq - b.seq);
}

/** Null where nobody said which there are, or where that cannot be read: `baton check` says what is wrong with it. */
export function declaredSections({ configFile }: Pick<Workspace, 'configFile'>): readonly string[] | null {
  try {
    const config: unknown = JSON.parse(readFileSync(configFile, 'utf8').replace(/^\uFEFF/, ''));
    if (!isObject(config)) return null;
    const context = objectAt(config, 'context');
    return given(context, 'sections') === undefined ? null : Object.keys(objectAt(context, 'sections'));
  } catch {
    return null;
  }
}

/** More changes than that are not shown. */
export const CHANGES_SHOWN_MAX = 10_000;

type SectionHistory = { readonly told: readonly SectionEntry[]; readonly present: number };

/** Of a section that was written at least once, or that the configuration names; anything else is refused. */
export async function sectionHistory(workspace: Workspace, name: string): Promise<SectionHistory> {
  const told = workspace.hasLog() ? await historyOf(workspace.ledgerStore().log, name) : [];
  if (told.length === 0 && declaredSections(workspace)?.includes(name) !== true)
    throw new Refused(unknownSection(name));
  const versions = told.map(({ fact }) => (fact.kind === 'context.rejected' ? 0 : fact.version));
  return { told, present: Math.max(0, ...versions) };
}

export function heldAt(told: readonly SectionEntry[], section: string, version: number): JsonObject {
  const value = sectionValueAt(told, version);
  if (value) return value;
  throw new Refused(deny('UNKNOWN_VERSION', `${section} never had a version ${version}`, { section, version }));
}

/** A side without a value has no member: null is a value like any other. */
export function wholeChange({ path, before, after }: ValueChange): JsonObject {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

export function unknownSection(section: string): Denied {
  return deny('UNKNOWN_SECTION', `there is no section ${section}; \`baton context show\` lists them`, { section });
}
