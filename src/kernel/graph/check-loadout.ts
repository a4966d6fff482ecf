// Checks of one loadout: its frame, then its sockets and loops, and, once those are sound, its flow.
import { isObject, type Json, type JsonObject } from '../json.ts';
import { draftOf, given } from './authored.ts';
import { checkFields } from './check-fields.ts';
import { checkFlow } from './check-flow.ts';
import { checkLoops } from './check-loops.ts';
import { checkSlots } from './check-slots.ts';
import { checkSockets } from './check-sockets.ts';
import type { UtilityNames } from './check-utility-name.ts';
import { checkEndpoint } from './endpoint.ts';
import { LOADOUT } from './graph-fields.ts';
import { error, type Findings, shown } from './issue.ts';
import { graphOf } from './resolve-graph.ts';

export function* checkLoadout(config: JsonObject, name: string, loadout: Json, utilities?: UtilityNames): Findings {
  const draft = draftOf(config, name);
  if (name.trim() === '' || name === '__proto__') {
    yield error('INVALID_CONFIG', draft.path, `${shown(name)} cannot be the name of a loadout. Choose another.`);
  }
  if (!isObject(loadout)) {
    const message = `A loadout is an object, not ${shown(loadout)}. Write {"entry", "sockets"}, or remove it.`;
    yield error('INVALID_CONFIG', draft.path, message);
    return;
  }
  const found = [
    ...checkFrame(loadout, draft.path),
    ...checkEndpoint(draft, given(loadout, 'entry'), `${draft.path}.entry`, 'socket'),
    ...checkSockets(draft),
    ...checkLoops(draft),
  ];
  yield* found;
  // In a broken graph the flow would be blamed for what the errors already say.
  if (found.some((issue) => issue.level === 'error')) return;
  const graph = graphOf(draft);
  yield* checkFlow(draft, graph);
  yield* checkSlots(draft, graph, utilities);
}

function* checkFrame(loadout: JsonObject, path: string): Findings {
  yield* checkFields(loadout, LOADOUT, { path, code: 'INVALID_CONFIG', what: 'a loadout' });
  const sockets = given(loadout, 'sockets');
  if (isObject(sockets)) return;
  const message = `sockets is ${shown(sockets)}. Write an object from socket ids to sockets.`;
  yield error('INVALID_CONFIG', `${path}.sockets`, message);
}
