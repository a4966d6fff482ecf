// Checks of a loop's legacy `exit`, which `resolve` turns into an `advance` on its source and an exit route.
import { isObject, type JsonObject } from '../json.ts';
import { type Draft, edgesOf, given, isGuarded, objectAt, stringAt } from './authored.ts';
import { checkFields } from './check-fields.ts';
import { checkCondition, knownParse } from './check-sockets.ts';
import { checkEndpoint } from './endpoint.ts';
import { OLD_EXIT } from './graph-fields.ts';
import { error, type Findings, listed, shown } from './issue.ts';
import { advanceOfExit, type DerivedAdvance, membersOf } from './loop-region.ts';

export function* checkLegacyExit(draft: Draft, loop: JsonObject, path: string): Findings {
  const at = `${path}.exit`;
  const exit = given(loop, 'exit');
  if (exit === undefined) return;
  if (!isObject(exit)) {
    yield error('INVALID_LOOP', at, `exit is ${shown(exit)}. Write exits: a list of routes.`);
    return;
  }
  yield* checkFields(exit, OLD_EXIT, { path: at, code: 'INVALID_LOOP', what: 'exit' });
  yield* checkEndpoint(draft, given(exit, 'to'), `${at}.to`, 'socket or end');
  const condition = yield* checkCondition(given(exit, 'when'), `${at}.when`);
  const known = yield* checkEndpoint(draft, given(exit, 'from'), `${at}.from`, 'socket');
  if (!known) return;
  const members = new Set(membersOf(loop));
  const from = stringAt(exit, 'from') ?? '';
  if (!members.has(from)) {
    const fix = `Name a member: ${listed([...members])}.`;
    yield error('INVALID_LOOP', `${at}.from`, `${from} is not in this loop, so the loop cannot be left there. ${fix}`);
    return;
  }
  const socket = objectAt(draft.sockets, from);
  if (condition && isGuarded(given(exit, 'when')) && knownParse(draft, socket) === 'text') {
    const fix = `Write parse: "json" on ${from}, or use always.`;
    yield error('INVALID_LOOP', `${at}.when`, `The exit reads satisfied, but ${from} returns plain text. ${fix}`);
  }
  const derived = advanceOfExit(loop);
  if (derived === null) return;
  yield* checkAuthoredAdvance(socket, derived, `${draft.path}.sockets.${from}.advance`);
  yield* checkWayBack(socket, derived, members, `${draft.path}.sockets.${from}.edges`);
}

function* checkAuthoredAdvance(socket: JsonObject, derived: DerivedAdvance, path: string): Findings {
  const advance = given(socket, 'advance');
  if (!isObject(advance)) return;
  for (const field of ['cursor', 'items', 'when'] as const) {
    const written = given(advance, field) ?? (field === 'when' ? 'always' : undefined);
    if (written === derived[field]) continue;
    const fix = `Write ${shown(derived[field])}, or remove advance so that it is derived.`;
    yield error('INVALID_LOOP', `${path}.${field}`, `${field} does not fit the exit of the loop. ${fix}`);
  }
}

// The source has to go on with the next item, and with the same one when the exit's condition does not hold.
function* checkWayBack(
  socket: JsonObject,
  derived: DerivedAdvance,
  members: ReadonlySet<string>,
  path: string,
): Findings {
  const back = edgesOf(socket).filter((edge) => members.has(stringAt(edge, 'to') ?? ''));
  if (back.length === 0) {
    const fix = 'Add an always edge to a member.';
    yield error('INVALID_LOOP', path, `${derived.from} ends the loop but never leads back into it. ${fix}`);
    return;
  }
  const opposite = derived.when === 'satisfied' ? 'not_satisfied' : 'satisfied';
  const covered = back.some((edge) => edge.when === 'always' || edge.when === opposite);
  if (covered || derived.when === 'always') return;
  const fix = `Add a ${opposite} edge or an always edge to a member.`;
  yield error('INVALID_LOOP', path, `${derived.from} leads back into the loop on ${derived.when} only. ${fix}`);
}
