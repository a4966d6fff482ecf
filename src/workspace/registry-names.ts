// Which agent of a project has which registry id, where the configuration does not say it: the manifest names the agents of the
// project by their materia. So neither config.json nor a loadout in the short form has to be edited for a registry.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PRESENT, runnerCan } from '../kernel/capabilities.ts';
import { typeOfMateria } from '../kernel/graph/issue.ts';
import { given, isObject, isText, type Json, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import { MANIFEST_PATH } from '../trust/registry.ts';
import { readJsonFile } from './load-config.ts';

/** The registry id of each materia that a manifest names. Of two with the same materia neither counts. */
export function namesIn(manifest: Json): ReadonlyMap<string, string> {
  const names = new Map<string, string | null>();
  for (const [id, record] of recordsOf(manifest)) {
    if (isText(record.materia)) names.set(record.materia, names.has(record.materia) ? null : id);
  }
  return new Map([...names].flatMap(([materia, id]) => (id === null ? [] : [[materia, id] as const])));
}

/** The configuration with the id of the manifest in each agent that has none. `home` is the `.baton` folder. */
export function withNamesOf(home: string, config: JsonObject): JsonObject {
  if (!existsSync(join(home, MANIFEST_PATH))) return config;
  try {
    return withNames(config, namesIn(readJsonFile(join(home, MANIFEST_PATH))));
  } catch {
    return config; // No turn can start under such a registry, and the checks say why.
  }
}

export function withNames(config: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const written = given(config, 'materia');
  if (!isObject(written) || names.size === 0) return config;
  const materia = Object.entries(written).map(([id, one]): [string, Json] => {
    const identity = names.get(id);
    return [id, identity !== undefined && isObject(one) && isUnnamed(one) ? { ...one, identity } : one];
  });
  return { ...config, materia: Object.fromEntries(materia) };
}

/** Whether it is an agent without an identity. A person needs none. */
export function isUnnamed(materia: JsonObject): boolean {
  const isPerson = runnerCan(PRESENT, stringAt(materia, 'runner'), 'isPerson');
  return typeOfMateria(materia) === 'agent' && given(materia, 'identity') === undefined && !isPerson;
}

const SECTIONS = ['domains', 'archetypes', 'orchestrators'];

/** Every record of a manifest, with its id. */
function recordsOf(manifest: Json): readonly (readonly [string, JsonObject])[] {
  if (!isObject(manifest)) return [];
  return [manifest, objectAt(manifest, 'taxonomy')].flatMap((from) =>
    SECTIONS.flatMap((section) =>
      Object.entries(objectAt(from, section)).flatMap(([id, record]) =>
        isObject(record) ? [[id, record] as const] : [],
      ),
    ),
  );
}
