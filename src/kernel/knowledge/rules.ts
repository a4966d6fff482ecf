// What the configuration says about knowledge: the surfaces of the project, its sections, and which agents read and write them.
import { given, isObject, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import type { Knowledge } from './state.ts';

/** A part of the project that one agent answers for, and the words by which work on it is recognised. */
export type SurfaceRule = {
  /** The id or the identity of a materia. */
  readonly agent: string;
  readonly keywords: readonly string[];
  readonly commands: readonly string[];
  readonly artifacts: readonly string[];
  readonly neighbours: readonly string[];
  readonly checks: readonly string[];
  /** Knowledge that matters here; empty by default. */
  readonly sections: readonly string[];
};

type ContextRules = {
  readonly sections: Readonly<Record<string, { readonly description?: string }>>;
  /** By agent, or `*` for those that are not named. Null where all may read everything. */
  readonly read: Readonly<Record<string, readonly string[]>> | null;
  readonly write: Readonly<Record<string, readonly string[]>>;
};

export type KnowledgeRules = {
  readonly surfaces?: Readonly<Record<string, SurfaceRule>>;
  readonly reconnaissanceAgent?: string;
  readonly context?: ContextRules;
  /** In which a person is written to. */
  readonly language?: string;
};

export const SURFACE_LISTS = ['keywords', 'commands', 'artifacts', 'neighbours', 'checks', 'sections'] as const;
/** Means every agent that is not named, and every section. */
export const ANY = '*';

/** Only what is written: a cast without it keeps rules without it. */
export function knowledgeRulesOf(config: JsonObject): KnowledgeRules {
  const surfaces = Object.entries(objectAt(config, 'surfaces')).flatMap(([name, written]) =>
    isObject(written) ? [[name, surfaceOf(written)] as const] : [],
  );
  const scout = stringAt(config, 'reconnaissanceAgent');
  const context = given(config, 'context');
  const language = stringAt(config, 'language');
  return {
    ...(surfaces.length === 0 ? {} : { surfaces: Object.fromEntries(surfaces) }),
    ...(scout === null ? {} : { reconnaissanceAgent: scout }),
    ...(isObject(context) ? { context: contextOf(context) } : {}),
    ...(language === null ? {} : { language }),
  };
}

function surfaceOf(written: JsonObject): SurfaceRule {
  const [keywords, commands, artifacts, neighbours, checks, sections] = SURFACE_LISTS.map((key) =>
    textsIn(given(written, key)),
  );
  return {
    agent: stringAt(written, 'agent') ?? '',
    keywords: keywords ?? [],
    commands: commands ?? [],
    artifacts: artifacts ?? [],
    neighbours: neighbours ?? [],
    checks: checks ?? [],
    sections: sections ?? [],
  };
}

function contextOf(written: JsonObject): ContextRules {
  const sections = Object.entries(objectAt(written, 'sections')).map(([name, about]) => {
    const description = isObject(about) ? stringAt(about, 'description') : null;
    return [name, description === null ? {} : { description }] as const;
  });
  return {
    sections: Object.fromEntries(sections),
    read: given(written, 'read') === undefined ? null : namesByAgent(objectAt(written, 'read')),
    write: namesByAgent(objectAt(written, 'write')),
  };
}

function namesByAgent(table: JsonObject): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.keys(table).map((agent) => [agent, textsIn(listAt(table, agent))]));
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? [...new Set((value as readonly Json[]).filter(isText))] : [];
}

/** An agent, as the tables of permissions may name it. */
type Named = { readonly id: string; readonly identity?: string | null };

/** The names an agent goes by: its id, and its identity if it has one. */
export function namesOf(materia: Named): readonly string[] {
  const { identity = null } = materia;
  return identity === null ? [materia.id] : [materia.id, identity];
}

/** Stored and declared sections that the agent may read, in the order of their names. */
export function readableSections(
  rules: KnowledgeRules,
  materia: Named,
  { sections }: Pick<Knowledge, 'sections'>,
): readonly string[] {
  const names = new Set([...Object.keys(rules.context?.sections ?? {}), ...Object.keys(sections)]);
  return [...names].filter(mayRead(rules, materia)).sort();
}

/** Whether the agent may read a section of this name, whether there is one or not. */
export function mayRead({ context }: KnowledgeRules, materia: Named): (section: string) => boolean {
  if (!context || context.read === null) return () => true;
  const allowed = new Set(namedFor(context.read, materia));
  return (section) => allowed.has(ANY) || allowed.has(section);
}

/** None by default. */
export function writableSections({ context }: KnowledgeRules, materia: Named): readonly string[] {
  return context ? [...namedFor(context.write, materia)].sort() : [];
}

function namedFor(table: Readonly<Record<string, readonly string[]>>, materia: Named): readonly string[] {
  const own = namesOf(materia).filter((name) => Object.hasOwn(table, name));
  const entries = own.length > 0 ? own : [ANY];
  return [...new Set(entries.flatMap((name) => (Object.hasOwn(table, name) ? (table[name] ?? []) : [])))];
}
