// Checks the surfaces and the permissions of the configuration. An unknown name would route work to no agent or let no agent write.
import { error, type Findings, listed, meant, shown } from '../graph/issue.ts';
import { given, isText, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { ANY } from './rules.ts';

export function* checkKnowledgeRules(config: JsonObject): Findings {
  const agents = agentsIn(config);
  yield* checkSurfaces(config, agents);
  const scout = given(config, 'reconnaissanceAgent');
  if (isText(scout)) yield* checkAgent(scout, agents, 'reconnaissanceAgent');
  yield* checkContext(config, agents);
}

function* checkSurfaces(config: JsonObject, agents: readonly string[]): Findings {
  const surfaces = objectAt(config, 'surfaces');
  const sections = sectionsIn(config);
  for (const name of Object.keys(surfaces)) {
    const path = `surfaces.${name}`;
    const surface = objectAt(surfaces, name);
    const agent = stringAt(surface, 'agent');
    if (agent !== null) yield* checkAgent(agent, agents, `${path}.agent`);
    yield* checkNames(surface, 'neighbours', Object.keys(surfaces), path, 'surface');
    if (sections !== null) yield* checkNames(surface, 'sections', sections, path, 'section');
  }
}

function* checkContext(config: JsonObject, agents: readonly string[]): Findings {
  const names = sectionsIn(config) ?? [];
  const context = objectAt(config, 'context');
  yield* checkTable(objectAt(context, 'read'), [...names, ANY], agents, 'context.read');
  yield* checkTable(objectAt(context, 'write'), names, agents, 'context.write');
}

/** By agent, the sections it may read or write. */
function* checkTable(table: JsonObject, names: readonly string[], agents: readonly string[], path: string): Findings {
  for (const agent of Object.keys(table)) {
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
