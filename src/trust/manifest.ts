// The manifest: the catalogue of agents and what each declares about its handoffs. Several shapes exist in the world; all
// are read into one record per agent. A broken `allow` is dropped, a broken `deny` denies everything.
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { nearestName } from '../kernel/text.ts';
import { type Diagnostic, fatal, faulty, quote, remark } from '../kernel/trust/problem.ts';
import { type AgentType, ID_LENGTH_MAX, ID_PATTERN, REQUEST_TYPES, type RequestType } from './envelope.ts';

/** One agent as the manifest describes it; what the manifest leaves out is null. */
export type AgentRecord = {
  readonly id: string;
  readonly type: AgentType;
  readonly canonicalId: string;
  readonly name: string | null;
  /** The agent of the configuration that this record is about, where that names no identity itself. */
  readonly materia: string | null;
  readonly file: string | null;
  readonly version: string | null;
  /** The prose of `scope` or `purpose`. */
  readonly about: string | null;
  readonly status: 'active' | 'retired';
  readonly scopes: readonly string[];
  readonly collaboration: Collaboration;
  readonly composition: Composition | null;
};

export type Manifest = {
  readonly version: string | null;
  readonly agents: ReadonlyMap<string, AgentRecord>;
  readonly diagnostics: readonly Diagnostic[];
};

const SECTIONS = { domains: 'domain', archetypes: 'archetype', orchestrators: 'orchestrator' } as const;
type Section = keyof typeof SECTIONS;
const SECTION_NAMES = Object.keys(SECTIONS) as Section[];

const ID = new RegExp(ID_PATTERN);
const TOP_MEMBERS = new Set([
  ...SECTION_NAMES,
  ...['version', 'generated', 'description', 'taxonomy', 'governance', 'governance_mode', 'security', 'compatibility'],
  ...['prompts_index', '$schema'],
]);
const RECORD_MEMBERS = new Set([
  ...['canonical_id', 'name', 'materia', 'file', 'version', 'scope', 'scopes', 'purpose', 'status', 'collaboration'],
  ...['composition', 'primary_domain', 'description'],
]);

export function readManifest(json: Json): Manifest {
  if (!isObject(json)) {
    const diagnostics = [fatal('REGISTRY_MALFORMED', 'the manifest is not a JSON object')];
    return { version: null, agents: new Map(), diagnostics };
  }
  const diagnostics: Diagnostic[] = [];
  const agents = new Map<string, AgentRecord>();
  const met = new Set<string>();
  for (const section of SECTION_NAMES) {
    for (const [id, value] of Object.entries(recordsOf(json, section))) {
      if (!isCanonical(id)) {
        diagnostics.push(faulty(id, 'AGENT_ID_MALFORMED', `${quote(id)} is not a canonical id; the agent is left out`));
      } else if (met.has(id)) {
        // An id of two kinds is ambiguous, so neither kind is assumed.
        diagnostics.push(faulty(id, 'AGENT_TYPE_MISMATCH', `${id} is in two sections; the agent is left out`));
        agents.delete(id);
      } else {
        const [record, found] = readRecord(id, SECTIONS[section], isObject(value) ? value : {});
        agents.set(id, record);
        met.add(id);
        diagnostics.push(...found);
      }
    }
  }
  if (agents.size === 0) diagnostics.push(fatal('REGISTRY_NO_AGENTS', 'the manifest has no record of any agent'));
  diagnostics.push(...countFaults(json, agents), ...unknownMembers(null, json, TOP_MEMBERS));
  return { version: isString(json.version) ? json.version : null, agents, diagnostics };
}

/** The manifest in its normal form. */
export function toManifestJson(version: string | null, agents: Iterable<AgentRecord>): JsonObject {
  const all = [...agents];
  const section = (type: AgentType) =>
    Object.fromEntries(all.filter((agent) => agent.type === type).map((agent) => [agent.id, toRecordJson(agent)]));
  const count = (type: AgentType) => all.filter((agent) => agent.type === type).length;
  return {
    version,
    taxonomy: {
      domains: count('domain'),
      archetypes: count('archetype'),
      orchestrators: count('orchestrator'),
      total_prompts: all.length,
    },
    domains: section('domain'),
    archetypes: section('archetype'),
    orchestrators: section('orchestrator'),
  };
}

/** The maps are at the top, or under `taxonomy`, where another shape has counts or lists of names. */
function recordsOf(json: JsonObject, section: Section): JsonObject {
  const top = json[section];
  if (isObject(top)) return top;
  const inner = isObject(json.taxonomy) ? json.taxonomy[section] : undefined;
  return isObject(inner) ? inner : {};
}

function readRecord(id: string, type: AgentType, json: JsonObject): [AgentRecord, Diagnostic[]] {
  const [collaboration, found] = readCollaboration(id, json.collaboration);
  const diagnostics = [...found, ...unknownMembers(id, json, RECORD_MEMBERS)];
  const { status = 'active' } = json;
  if (status !== 'active' && status !== 'retired') {
    diagnostics.push(faulty(id, 'AGENT_RETIRED', 'its status is neither active nor retired; it is taken as retired'));
  }
  const record: AgentRecord = {
    id,
    type,
    canonicalId: text(json.canonical_id) ?? (json.canonical_id === undefined ? id : ''),
    name: text(json.name),
    materia: text(json.materia),
    file: text(json.file),
    version: text(json.version),
    about: text(json.scope) ?? text(json.purpose),
    status: status === 'active' ? 'active' : 'retired',
    scopes: Array.isArray(json.scopes) ? json.scopes.filter(isString).filter(isCanonical) : [],
    collaboration,
    composition: type === 'archetype' ? readComposition(json.composition) : null,
  };
  return [record, diagnostics];
}

/** What an agent may do, apart from its prompt. A change of it makes another agent. */
export function declaredBy({ type, status, scopes, collaboration, composition }: AgentRecord): JsonObject {
  const parts = composition && Object.fromEntries(composition);
  return { type, status, scopes, collaboration: toJson(collaboration), composition: parts };
}

function toRecordJson(agent: AgentRecord): JsonObject {
  const { name, materia, file, version, status, scopes, about } = agent;
  const of = materia === null ? {} : { materia };
  const common = {
    canonical_id: agent.id,
    name,
    ...of,
    file,
    version,
    status,
    collaboration: toJson(agent.collaboration),
  };
  if (agent.type === 'domain') return { ...common, scope: about, scopes };
  if (agent.type === 'archetype') {
    return { ...common, purpose: about, composition: agent.composition && Object.fromEntries(agent.composition) };
  }
  return common;
}

function countFaults(json: JsonObject, agents: ReadonlyMap<string, AgentRecord>): Diagnostic[] {
  const { taxonomy } = json;
  if (!isObject(taxonomy)) return [];
  const real = new Map<string, number>([['total_prompts', agents.size]]);
  for (const section of SECTION_NAMES) {
    real.set(section, [...agents.values()].filter((agent) => agent.type === SECTIONS[section]).length);
  }
  return [...real].flatMap(([member, count]) => {
    const stated = taxonomy[member];
    if (typeof stated !== 'number' || stated === count) return [];
    return remark(null, 'TAXONOMY_COUNT', `taxonomy.${member} says ${stated}; the manifest holds ${count}`);
  });
}

function unknownMembers(agent: string | null, json: JsonObject, known: ReadonlySet<string>): Diagnostic[] {
  return Object.keys(json)
    .filter((member) => !known.has(member))
    .map((member) => remark(agent, 'UNKNOWN_MEMBER', `${quote(member)} is not read`));
}

function isCanonical(id: string): boolean {
  return id.length <= ID_LENGTH_MAX && ID.test(id);
}

function text(json: Json | undefined): string | null {
  return isString(json) ? json : null;
}

/** Semantic version 2.0.0 as text: no leading `v`, no leading zeros, pre-release and build allowed. */
const CORE = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;
const LENGTH_MAX = 256;

export function isSemver(text: string): boolean {
  if (text.length > LENGTH_MAX) return false;
  const match = CORE.exec(text);
  if (!match) return false;
  const [, prerelease, build] = match;
  return (prerelease === undefined || named(prerelease, true)) && (build === undefined || named(build, false));
}

/** Identifiers between dots are never empty; a numeric one in the pre-release has no leading zero. */
function named(part: string, prerelease: boolean): boolean {
  return part.split('.').every((id) => id !== '' && !(prerelease && id.length > 1 && /^0\d*$/.test(id)));
}

/**
 * Whether the name of a model is one exact release: it ends with its day or the digest of its weights. An alias, or the
 * program's own choice, may change from one day to the next.
 */
const RELEASE = /(?:[-@:]\d{8}|[-@:]\d{4}-\d{2}-\d{2}|@sha256:[0-9a-f]{64})$/;
const NAME_LENGTH_MAX = 256;

export function isPinnedModel(model: string | null): boolean {
  return model !== null && model.length <= NAME_LENGTH_MAX && RELEASE.test(model);
}

/** Domain id and share, in the order they were written; a share is whatever stood there. */
type Composition = readonly (readonly [domain: string, share: Json])[];

/** Null when there is none. Fractions that add up to 1 are read as percentages. */
export function readComposition(json: Json | undefined): Composition | null {
  if (!isObject(json)) return null;
  const entries = Object.entries(json);
  if (entries.length === 0) return null;
  const shares = entries.map(([, share]) => share);
  const areFractions =
    shares.every((share) => typeof share === 'number' && share <= 1) &&
    Math.abs((shares as number[]).reduce((sum, share) => sum + share, 0) - 1) <= 1e-9;
  if (!areFractions) return entries;
  // Ten decimals drop the noise of binary fractions and keep every digit a person wrote.
  return entries.map(([domain, share]) => [domain, Number(((share as number) * 100).toFixed(10))]);
}

const EDGE_MODES = ['collaborate', 'mediate', 'demarcate'] as const;

export type AllowEdge = {
  readonly target: string;
  /** `mediate` permits a handoff through an orchestrator. `demarcate` documents a line and permits nothing. */
  readonly mode: (typeof EDGE_MODES)[number];
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

const NO_COLLABORATION: Collaboration = { allow: [], deny: [], redirect: [] };

function readCollaboration(agent: string, json: Json | undefined): [Collaboration, readonly Diagnostic[]] {
  if (json === undefined) return [NO_COLLABORATION, []];
  const malformed = (what: string) =>
    remark(
      agent,
      'BOUNDARY_MALFORMED',
      `${what} is not understood and permits nothing; write a list such as [{"target": "domain-03-release"}]`,
    );
  const broken = (what: string, form: string) =>
    faulty(agent, 'BOUNDARY_MALFORMED', `${what} is not understood, so this agent hands to no other; write ${form}`);
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
      found.push(remark(agent, 'UNKNOWN_MEMBER', `${JSON.stringify(member.slice(0, 64))} is not read`));
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
  const known = EDGE_MODES.find((each) => each === mode);
  if (known === undefined) return null;
  if (scopes !== null && !(Array.isArray(scopes) && scopes.every(isString))) return null;
  if (types !== null && !(Array.isArray(types) && types.every(isRequestType))) return null;
  return { target, mode: known, scopes, types, note: isString(note) ? note : null };
}

/** No agent has a name that is no id: `*`, or an id with a blank behind it, would deny no agent. */
function isId(value: Json): boolean {
  return isString(value) && value.length <= ID_LENGTH_MAX && ID.test(value);
}

function isRequestType(value: Json): value is RequestType {
  return (REQUEST_TYPES as readonly Json[]).includes(value);
}

function list(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}
