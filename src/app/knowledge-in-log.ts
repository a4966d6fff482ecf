// What the log knows about the knowledge of the workspace, for commands that look: how it stands, and how a section came
// to be.
import type { Log } from '../engine/ports.ts';
import { restored } from '../engine/snapshot.ts';
import { type Entry, timeOf } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import {
  applyKnowledge,
  isKnowledgeFact,
  type Knowledge,
  type KnowledgeFact,
  noKnowledge,
} from '../kernel/knowledge/state.ts';

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
export type Told = { readonly seq: number; readonly at: string; readonly by: string; readonly fact: SectionFact };

/** Everything that was written to a section, put back or refused, oldest first. */
export async function historyOf(log: Log, section: string): Promise<readonly Told[]> {
  const entries = await log.read({ after: 0, kindPrefix: 'context.' });
  return entries.flatMap(({ seq, at, by, fact }) =>
    isSectionFact(fact) && fact.section === section ? [{ seq, at, by, fact }] : [],
  );
}

/** What the section held at a version; nothing at 0, and null at one it never had. */
export function valueAt(history: readonly Told[], version: number): JsonObject | null {
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
