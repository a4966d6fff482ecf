// References to resources in other repositories: `host/owner/repo:table/name`, with any groups between owner and repository.
// The part before the colon is the identity of a workspace, the same for every spelling of its remote.
import { isObject, type Json, type JsonObject } from '../json.ts';
import { below, type Finding, warning } from './finding.ts';

const REFERENCE_CHARS_MAX = 512;
const SCHEME = /^(?:git\+ssh|git\+https|https|http|ssh|git):\/\//;
const RESOURCE = /^[A-Za-z0-9_.-]+\/[^\s:]+$/;
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d*)?$/;
const WORKSPACE = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:\/[a-z0-9_.~-]+){2,21}$/;

/** The identity of a workspace: `host/owner/repo`, without scheme, credentials, port, query or `.git`. */
export function normaliseRemoteUrl(url: string): string {
  const lower = url.trim().toLowerCase();
  const scheme = SCHEME.exec(lower)?.[0] ?? '';
  const bare = beforeAny(afterPassword(lower.slice(scheme.length), scheme !== ''), '?#');
  const slash = bare.indexOf('/');
  const authority = slash === -1 ? bare : bare.slice(0, slash);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const rest = slash === -1 ? '' : bare.slice(slash);
  const colon = host.indexOf(':');
  return trimRepository((colon === -1 ? host : joinHost(host, colon, scheme !== '')) + rest);
}

/** The canonical spelling of a reference; null when the text is none. */
export function normaliseReference(text: string): string | null {
  if (text.length > REFERENCE_CHARS_MAX) return null;
  const colon = text.lastIndexOf(':');
  if (colon === -1) return null;
  const resource = text.slice(colon + 1);
  if (!RESOURCE.test(resource)) return null;
  const workspace = normaliseRemoteUrl(text.slice(0, colon));
  return WORKSPACE.test(workspace) ? `${workspace}:${resource}` : null;
}

/** The payload with every reference in its canonical spelling. `findings` takes a warning for each that had another. */
export function normaliseReferences(payload: JsonObject, path: string, findings: Finding[]): JsonObject {
  const members = Object.entries(payload);
  return Object.fromEntries(members.map(([key, value]) => [key, rewrite(value, below(path, key), findings)]));
}

function rewrite(value: Json, path: string, findings: Finding[]): Json {
  if (Array.isArray(value)) return value.map((element: Json, index) => rewrite(element, below(path, index), findings));
  if (isObject(value)) return normaliseReferences(value, path, findings);
  if (typeof value !== 'string') return value;
  const reference = normaliseReference(value);
  if (reference === null) return cleared(value, path, findings);
  if (reference === value) return value;
  // What it was before is not repeated: it may hold a password.
  findings.push(warning(`REFERENCE_NORMALISED:${path}`, path, `it is stored in its canonical spelling, ${reference}`));
  return reference;
}

// A password with a slash, a question mark or a hash in it ends the host where nobody meant it to. What stands there is no
// host then, and everything up to the last @ is dropped.
function afterPassword(rest: string, hasScheme: boolean): string {
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const isHost = HOST.test(authority.slice(authority.lastIndexOf('@') + 1));
  return hasScheme && !isHost ? rest.slice(rest.lastIndexOf('@') + 1) : rest;
}

// Behind a scheme a colon starts a port, which is no part of the identity; otherwise it starts the path, as in
// `git@host:owner/repo`.
function joinHost(host: string, colon: number, hasScheme: boolean): string {
  const before = host.slice(0, colon);
  return hasScheme ? before : `${before}/${host.slice(colon + 1)}`;
}

/** What is no reference may still be the address of something. */
function cleared(text: string, path: string, findings: Finding[]): string {
  const clear = withoutCredentials(text);
  if (clear !== text) {
    findings.push(warning(`CREDENTIALS_REMOVED:${path}`, path, 'user and password of an address are not stored'));
  }
  return clear;
}

function trimRepository(path: string): string {
  const bare = trimSlashes(path);
  return bare.endsWith('.git') ? trimSlashes(bare.slice(0, -'.git'.length)) : bare;
}

function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

function beforeAny(text: string, marks: string): string {
  const ends = [...marks].map((mark) => text.indexOf(mark)).filter((at) => at !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

// User and password in an address are not stored.
const CREDENTIALS = /([a-z][a-z0-9+.-]{0,19}:\/\/)[^\s/?#@:]{0,256}:[^\s/?#@]{0,256}@/gi;

/** The text without any; a user alone, as in `ssh://git@host`, is part of the address. */
function withoutCredentials(text: string): string {
  return text.includes('://') ? text.replace(CREDENTIALS, '$1') : text;
}
