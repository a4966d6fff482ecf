// What a configuration may say and this version cannot cast: it is refused by name, instead of being run as something else,
// and told by whoever checks the configuration.
import { draftOf, typeOfMateria } from '../kernel/graph/authored.ts';
import type { Issue } from '../kernel/graph/config.ts';
import { given, isObject, type Json, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';

/** In the materia that the sockets of one loadout use. */
export function uncastable(config: JsonObject, loadout: string): readonly Issue[] {
  const { sockets, socketIds } = draftOf(config, loadout);
  const used = new Set(socketIds.flatMap((id) => stringAt(objectAt(sockets, id), 'materia') ?? []));
  const materia = objectAt(config, 'materia');
  const having = (field: string) => [...used].filter((id) => given(objectAt(materia, id), field) === true);
  const issue = (id: string, field: string, message: string): Issue => {
    return { code: 'INVALID_MATERIA', level: 'error', path: `materia.${id}.${field}`, message };
  };
  return [
    ...having('multiTurn')
      .filter((id) => typeOfMateria(objectAt(materia, id)) === 'agent')
      .map((id) => {
        const message = `multi-turn sockets cannot be cast by this version; remove multiTurn to cast ${loadout}`;
        return issue(id, 'multiTurn', message);
      }),
    ...having('parallel').map((id) => {
      const message = `parallel lanes cannot be cast by this version; remove parallel to cast ${loadout} item by item`;
      return issue(id, 'parallel', message);
    }),
  ];
}

/** In all loadouts, each materia once. */
export function uncastableIn(config: Json): readonly Issue[] {
  if (!isObject(config)) return [];
  const all = Object.keys(objectAt(config, 'loadouts')).flatMap((name) => uncastable(config, name));
  return [...new Map([...all].reverse().map((issue) => [issue.path, issue])).values()].reverse();
}
