// What an agent declares about whom it may hand to. What is not understood permits nothing: a broken `allow` is dropped,
// a broken `deny` denies everybody and is a fault of its agent.
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { nearestName } from '../kernel/text.ts';
import { type Diagnostic, faulty, warning } from '../kernel/trust/problem.ts';
import { ID_LENGTH_MAX, ID_PATTERN, REQUEST_TYPES, type RequestType } from './schema.ts';

export type AllowEdge = {
  readonly target: string;
  /** `demarcate` documents a line between two agents and permits nothing. */
  readonly mode: 'collaborate' | 'demarcate';
  /** Null means no limit. */
  readonly scopes: readonly string[] | null;
  readonly types: readonly RequestType[] | null;
  readonly note: string | null;
};
export type Redirect = { readonly scope: string; readonly target: string };
export type Collaboration = {
  readonly allow: readonly AllowEdge[];
  /** Never, not even through an orchestrator. */
  readonly deny: readonly string[] | 'everybody';
  /** Read only to suggest a target. */
  readonly redirect: readonly Redirect[];
};

const MEMBERS = ['allow', 'deny', 'redirect'];
const ID = new RegExp(ID_PATTERN);

const NO_COLLABORATION: Collaboration = { allow: [], deny: [], redirect: [] };

export function readCollaboration(agent: string, json: Json | undefined): [Collaboration, readonly Diagnostic[]] {
  if (json === undefined) return [NO_COLLABORATION, []];
  const malformed = (what: string) =>
    warning(
      agent,
      'BOUNDARY_MALFORMED',
      `${what} is not understood and permits nothing; write a list such as [{"target": "domain-03-release"}]`,
    );
  const broken = (what: string, form: string) =>
    faulty(agent, 'BOUNDARY_MALFORMED', `${what} is not understood, so this agent hands to nobody; write ${form}`);
  if (!isObject(json)) {
    return [
      { ...NO_COLLABORATION, deny: 'everybody' },
      [broken('collaboration', 'an object such as {"allow": [{"target": ID}], "deny": [ID]}')],
    ];
  }
  const found: Diagnostic[] = [];
  const allow = list(json.allow).flatMap((item, index) => {
    const edge = readEdge(item);
    if (!edge) found.push(malformed(`collaboration.allow[${index}]`));
    return edge ?? [];
  });
  if (json.allow !== undefined && !Array.isArray(json.allow)) found.push(malformed('collaboration.allow'));
  const denied = json.deny === undefined ? [] : json.deny;
  const strangers = Object.keys(json).filter((member) => !MEMBERS.includes(member));
  const misspelt = strangers.find((member) => /^den/i.test(member) || nearestName(member, MEMBERS) === 'deny');
  const isRead = Array.isArray(denied) && denied.every(isId) && misspelt === undefined;
  const deny = isRead ? denied.filter(isString) : 'everybody';
  if (!isRead) {
    const what = misspelt === undefined ? 'collaboration.deny' : `collaboration.${misspelt.slice(0, 64)}`;
    found.push(broken(what, '"deny" with a list of ids, such as ["domain-03-release"]'));
  }
  for (const member of strangers) {
    if (member !== misspelt)
      found.push(warning(agent, 'UNKNOWN_MEMBER', `${JSON.stringify(member.slice(0, 64))} is not read`));
  }
  const redirect = list(json.redirect).flatMap((item) =>
    isObject(item) && isString(item.scope) && isString(item.target) ? { scope: item.scope, target: item.target } : [],
  );
  return [{ allow, deny, redirect }, found];
}

export function denies(collaboration: Collaboration, target: string): boolean {
  return collaboration.deny === 'everybody' || collaboration.deny.includes(target);
}

/** The edges to one target that permit something. */
export function edgesTo(collaboration: Collaboration, target: string): readonly AllowEdge[] {
  return collaboration.allow.filter((edge) => edge.target === target && edge.mode === 'collaborate');
}

export function toJson(collaboration: Collaboration): JsonObject {
  const allow = collaboration.allow.map(({ target, mode, scopes, types, note }) => ({
    target,
    mode,
    ...(scopes && { scopes }),
    ...(types && { types }),
    ...(note !== null && { note }),
  }));
  return { allow, deny: collaboration.deny, redirect: collaboration.redirect.map((item) => ({ ...item })) };
}

function readEdge(item: Json): AllowEdge | null {
  if (!isObject(item) || !isString(item.target)) return null;
  const { target, mode = 'collaborate', scopes = null, types = null, note = null } = item;
  if (mode !== 'collaborate' && mode !== 'demarcate') return null;
  if (scopes !== null && !(Array.isArray(scopes) && scopes.every(isString))) return null;
  if (types !== null && !(Array.isArray(types) && types.every(isRequestType))) return null;
  return { target, mode, scopes, types, note: isString(note) ? note : null };
}

/** No agent has another name than an id: `*`, or an id with a blank behind it, would deny nobody. */
function isId(value: Json): boolean {
  return isString(value) && value.length <= ID_LENGTH_MAX && ID.test(value);
}

function isRequestType(value: Json): value is RequestType {
  return (REQUEST_TYPES as readonly Json[]).includes(value);
}

function list(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}
