// Which sections an agent may read and write. It goes by its id and by its identity, whichever the tables name; what they
// say of it counts before what they say of everybody.
import type { Materia } from '../graph/config.ts';
import { ANY, type KnowledgeRules } from './rules.ts';
import type { Knowledge } from './state.ts';

/** The names an agent goes by: its id, and its identity if it has one. */
export function namesOf(materia: Materia): readonly string[] {
  const identity = materia.type === 'agent' ? materia.identity : null;
  return identity === null ? [materia.id] : [materia.id, identity];
}

/** Stored and declared sections that the agent may read, in the order of their names. */
export function readableSections(
  rules: KnowledgeRules,
  materia: Materia,
  { sections }: Pick<Knowledge, 'sections'>,
): readonly string[] {
  const names = new Set([...Object.keys(rules.context?.sections ?? {}), ...Object.keys(sections)]);
  return [...names].filter(mayRead(rules, materia)).sort();
}

/** Whether the agent may read a section of this name, whether there is one or not. */
export function mayRead({ context }: KnowledgeRules, materia: Materia): (section: string) => boolean {
  if (!context || context.read === null) return () => true;
  const allowed = new Set(namedFor(context.read, materia));
  return (section) => allowed.has(ANY) || allowed.has(section);
}

/** None where nobody said so. */
export function writableSections({ context }: KnowledgeRules, materia: Materia): readonly string[] {
  return context ? [...namedFor(context.write, materia)].sort() : [];
}

function namedFor(table: Readonly<Record<string, readonly string[]>>, materia: Materia): readonly string[] {
  const own = namesOf(materia).filter((name) => Object.hasOwn(table, name));
  const entries = own.length > 0 ? own : [ANY];
  return [...new Set(entries.flatMap((name) => (Object.hasOwn(table, name) ? (table[name] ?? []) : [])))];
}
