// Checks the surfaces and the permissions of the configuration. An unknown name would route work to no agent or let no agent write.
import { given, listAt, objectAt, stringAt } from '../graph/authored.ts';
import { error, type Findings, listed, shown } from '../graph/issue.ts';
import { checkShapes, checkUnknown, OBJECT, type Shape, type Shapes, STRING, TEXT } from '../graph/shape.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { nearestName } from '../nearest-name.ts';
import { ANY, SURFACE_LISTS } from './rules.ts';
import { isSectionName } from './state.ts';

const SURFACES_MAX = 64;
const NAMES_MAX = 64;
const WORD_CHARS_MAX = 200;

const WORDS: Shape = {
  accepts: (value) =>
    Array.isArray(value) &&
    value.length <= NAMES_MAX &&
    value.every((word) => isText(word) && word.length <= WORD_CHARS_MAX),
  wants: `a list of at most ${NAMES_MAX} texts of at most ${WORD_CHARS_MAX} characters`,
};
const SURFACE: Shapes = { agent: TEXT, ...Object.fromEntries(SURFACE_LISTS.map((key) => [key, WORDS])) };
const CONTEXT: Shapes = { sections: OBJECT, read: OBJECT, write: OBJECT };
const SECTION: Shapes = { description: STRING };

export function* checkKnowledgeRules(config: JsonObject): Findings {
  const agents = agentsIn(config);
  yield* checkSurfaces(config, agents);
  const scout = given(config, 'reconnaissanceAgent');
  if (isText(scout)) yield* checkAgent(scout, agents, 'reconnaissanceAgent');
  yield* checkContext(given(config, 'context'), agents);
}

function* checkSurfaces(config: JsonObject, agents: readonly string[]): Findings {
  const surfaces = objectAt(config, 'surfaces');
  const names = Object.keys(surfaces);
  if (names.length > SURFACES_MAX) {
    yield error('INVALID_CONFIG', 'surfaces', `There are ${names.length} surfaces. Write at most ${SURFACES_MAX}.`);
  }
  const sections = sectionsIn(config);
  for (const name of names) {
    const path = `surfaces.${name}`;
    const surface = given(surfaces, name);
    if (surface === undefined) continue;
    if (!isObject(surface)) {
      yield error(
        'INVALID_CONFIG',
        path,
        `A surface is an object, not ${shown(surface)}. Write {"agent": …, "keywords": […]}.`,
      );
      continue;
    }
    if (name.length > NAMES_MAX) {
      yield error('INVALID_CONFIG', path, `The name of a surface has at most ${NAMES_MAX} characters.`);
    }
    yield* checkShapes(surface, SURFACE, path, 'INVALID_CONFIG');
    yield* checkUnknown(surface, Object.keys(SURFACE), path, 'a surface');
    const agent = stringAt(surface, 'agent');
    if (agent === null)
      yield error('INVALID_CONFIG', `${path}.agent`, `Nobody answers for it. Name one of: ${listed(agents)}.`);
    else yield* checkAgent(agent, agents, `${path}.agent`);
    yield* checkNames(surface, 'neighbours', names, path, 'surface');
    if (sections !== null) yield* checkNames(surface, 'sections', sections, path, 'section');
  }
}

function* checkContext(context: Json | undefined, agents: readonly string[]): Findings {
  if (!isObject(context)) return;
  yield* checkShapes(context, CONTEXT, 'context', 'INVALID_CONFIG');
  yield* checkUnknown(context, Object.keys(CONTEXT), 'context', 'context');
  const written = objectAt(context, 'sections');
  const names = Object.keys(written);
  for (const name of names) {
    const path = `context.sections.${name}`;
    if (!isSectionName(name)) {
      const fix =
        'Write at most 64 letters, digits, dots, dashes and underscores, and neither "memory" nor "evidence", which are taken.';
      yield error('INVALID_CONFIG', path, `No section can be called ${shown(name)}. ${fix}`);
    }
    const about = given(written, name);
    if (about !== undefined && !isObject(about)) {
      yield error(
        'INVALID_CONFIG',
        path,
        `What is said of a section is an object, not ${shown(about)}. Write {} or {"description": …}.`,
      );
    } else if (about !== undefined) yield* checkShapes(about, SECTION, path, 'INVALID_CONFIG');
  }
  yield* checkTable(objectAt(context, 'read'), [...names, ANY], agents, 'context.read');
  yield* checkTable(objectAt(context, 'write'), names, agents, 'context.write');
}

/** By agent, the sections it may read or write. */
function* checkTable(table: JsonObject, names: readonly string[], agents: readonly string[], path: string): Findings {
  for (const agent of Object.keys(table)) {
    const value = given(table, agent);
    if (value !== undefined && !WORDS.accepts(value)) {
      yield error('INVALID_CONFIG', `${path}.${agent}`, `${agent} is ${shown(value)}. Write ${WORDS.wants}.`);
    }
    if (agent !== ANY) yield* checkAgent(agent, agents, `${path}.${agent}`);
    yield* checkNames(table, agent, names, path, 'section');
  }
}

function* checkAgent(agent: string, agents: readonly string[], path: string): Findings {
  if (agents.includes(agent)) return;
  const message = `There is no agent ${shown(agent)}. ${meant(agent, agents)}Name the id or the identity of a materia: ${listed(agents)}.`;
  yield error('INVALID_CONFIG', path, message);
}

function* checkNames(object: JsonObject, key: string, names: readonly string[], path: string, what: string): Findings {
  for (const name of listAt(object, key)) {
    if (!isText(name) || names.includes(name)) continue;
    const message = `There is no ${what} ${shown(name)}. ${meant(name, names)}Name one of: ${listed(names)}.`;
    yield error('INVALID_CONFIG', `${path}.${key}`, message);
  }
}

function meant(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  return nearest === null ? '' : `Did you mean ${nearest}? `;
}

/** Ids and identities of all agents. */
function agentsIn(config: JsonObject): readonly string[] {
  const materia = objectAt(config, 'materia');
  const names = Object.keys(materia).flatMap((id) => {
    const identity = stringAt(objectAt(materia, id), 'identity');
    return identity === null ? [id] : [id, identity];
  });
  return [...new Set(names)];
}

/** The sections that were declared; null where nobody said which there are. */
function sectionsIn(config: JsonObject): readonly string[] | null {
  const context = objectAt(config, 'context');
  return given(context, 'sections') === undefined ? null : Object.keys(objectAt(context, 'sections'));
}
