// What does not belong in shared knowledge, which is an index of what exists: live facts of a running system, found by a
// table of patterns, and references in another than the normal form. docs/knowledge.md explains the table and prints its
// hits and misses.
import { isObject, type Json, type JsonObject } from '../json.ts';

const UNIT = '(?:pod|replica|node|instance|container|vm)s?';
const WORKLOAD = '(?:deployment|stateful_?set|daemon_?set|replica_?set|rollout|cluster|server)s?';
const PLACE = '(?:host|target|target_group|task|worker|job|docker|k8s|kubernetes|ecs|ec2)s?';
const LIVE = '(?:running|ready|available|unavailable|healthy|unhealthy|stopped)';
const COUNTS = `(?:count|counts|total|num|number|current|active|pending|failed|${LIVE})`;
const STATE = '(?:status|state|phase|health|condition)';
const OF_RUNTIME = '(?:pod|node|instance|container|vm|cluster|deployment|rollout|runtime|sync)';
const BALANCER = '(?:load_?balancer|lb|alb|nlb|elb)s?(?:/(?!health)[^/]+)?';
const BALANCER_PLACE = '(?:name|dns|dns_name|host_?name|fqdn|cname|arn|url|ip|address|endpoint)';
/** Only what runs is in one of these states; other things may also be in one that it waits in. */
const RUNS =
  'running|(?:crash_?loop|image_?pull)_?back_?off|err_?image_?pull|container_?creating|terminat(?:ing|ed)|evicted|oom_?killed|not_?ready|(?:un)?healthy|degraded|up|down|online|offline|stopp(?:ed|ing)|re(?:boot|start)ing|draining|provisioning|(?:out_?of_?|in_?)service|(?:out_?of_?)?sync(?:ed)?';
const WAITS = 'ready|(?:un)?available|pending|exited|created|failed|starting|progressing|unknown|green|yellow|red|ok';
/** Looks back over the sentence: one of these words makes it a condition or a demand. At the end of a pattern, so that it runs for a match only. */
const NOT_ADVICE =
  '(?<!(?:if|when|until|unless|after|before|should|must|needs?|requires?|at least|at most|up to)(?![a-z])[^.;!?\\n]{0,160})';

const ends = (words: string) => new RegExp(`(?:^|[/_])${words}$`);
const whole = (words: string) => new RegExp(`^(?:${words})(?: [(\\d].*)?$`, 'i');
const told = (words: string) => new RegExp(`(?<![a-z\\d.])${words}(?![a-z])${NOT_ADVICE}`, 'i');

const ANY = /^/;
const GIVEN = /^(?!none$|true$|false$|\{\})/i;
const COUNT = /^\d{1,9}(?: ?(?:\/|of) ?\d{1,9}(?: [a-z]+)?)?$/i;
const COUNT_BY_NAME = /^(?!(?:80|443)$)\d{1,3}$/;
const MEASURE = /^[~<>≈]? ?\d/;
const ADDRESS = /^(?!none$|true$|false$|\{\}|127\.|0\.0\.0\.0|::1?$|.*\/\d{1,3}$)/i;
const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const FIXED = '127\\.|0\\.0\\.0\\.0|255\\.|169\\.254\\.169\\.254|8\\.8\\.[48]\\.[48]|1\\.[01]\\.[01]\\.1(?!\\d)';
const IPV4 = new RegExp(`(?<![\\w.-])(?!${FIXED})(?:${OCTET}\\.){3}${OCTET}(?![\\w-]|\\.\\d|\\/\\d{1,2}(?!\\w))`);
const IPV6 =
  /^(?=[a-f:]*\d)(?!::1$)(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?)$/i;
const CLOUD_ID = /^(?:vpc|subnet|sg|eni|igw|nat|rtb|eipalloc|vol|snap|tgw|pcx|acl|i)-(?:[0-9a-f]{8}|[0-9a-f]{12,17})$/;
const BALANCER_HOST =
  /(?:^|[./@])[a-z0-9.-]{1,128}\.(?:elb(?:\.[a-z0-9-]{1,32})?\.amazonaws|cloudapp\.azure)\.com(?:[:/]|$)|^arn:aws[a-z-]{0,16}:elasticloadbalancing:/i;
const CLOUD_HOST =
  /\.(?:rds|cache)\.amazonaws\.com(?:[:/]|$)|(?:^|[/.])d[0-9a-z]{12,14}\.cloudfront\.net(?:[:/]|$)|^(?:ec2|ip)-\d{1,3}(?:-\d{1,3}){3}\./i;
const POD_NAME = /^[a-z0-9][a-z0-9-]{0,200}-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$/;
const RUN_COUNT = told(
  `\\d{1,6}(?: ?(?:/|of) ?\\d{1,6})? ${UNIT} (?:are |is |currently ){0,2}(?:${LIVE}|up|down|failing)`,
);
const FAULT = told('(?:is|are|now|currently) (?:now |currently |in ){0,2}(?:(?:crashloop|imagepull)backoff|oomkilled)');

const COUNTED = 'a count of what runs';
const STATUS = 'a runtime status';
const MEASURED = 'a measurement';
const ID = 'an id that a cloud gave';
const BALANCING = 'the name or address of a load balancer';
const IP = 'an IP address';
const BINDING = 'a derived IAM binding';

/** What is found, by the names on the way (`pods/shop/ready_count`) and by the value as text. A row for any path reads names too. */
const PATTERNS: readonly (readonly [what: string, path: RegExp, value: RegExp])[] = [
  [COUNTED, ends(`${UNIT}(?:_[a-z]+)?_${COUNTS}`), COUNT],
  [COUNTED, ends(`${COUNTS}_(?:of_)?(?:[a-z]+_)?(?:${UNIT}|tasks|hosts)`), COUNT],
  [COUNTED, ends(`${LIVE}_(?:task_|host_)?count`), COUNT],
  [COUNTED, ends('(?:pods|replicas|nodes|instances|containers|vms)'), COUNT],
  [COUNTED, ends('(?:pods|replicas)/(?!grace|priority|order|rack)[^/_]+'), COUNT_BY_NAME],
  [COUNTED, ends(`${UNIT}_counts?/[^/]+`), COUNT],
  [COUNTED, ends(`(?:${UNIT}|${WORKLOAD})(?:/[^/]+){0,2}/${COUNTS}`), COUNT],
  [COUNTED, ends(`${PLACE}(?:/[^/]+)?/(?:${LIVE}|pending|failed)(?:_hosts|_tasks)?`), COUNT],
  [STATUS, ends('(?:un)?healthy'), /^(?:true|false)$/],
  [STATUS, ends(`(?:${UNIT}|${WORKLOAD})(?:/[^/]+)?/(?:running|ready|up|online|reachable)`), /^(?:true|false)$/],
  [STATUS, ends(`${OF_RUNTIME}_${STATE}`), GIVEN],
  [STATUS, ends(STATE), whole(RUNS)],
  [STATUS, ends(`(?:${UNIT}|${WORKLOAD})(?:/[^/]+)?/${STATE}`), whole(WAITS)],
  [STATUS, ends(`(?:${UNIT}|${WORKLOAD}|${PLACE}|services)/[^/]+`), whole(RUNS)],
  [MEASURED, ends('(?:uptime(?:_seconds)?|restarts|restart_count|load_average|queue_depth|in_flight)'), MEASURE],
  [MEASURED, ends('(?:cpu|memory|disk)_(?:usage|utilization)(?:_[a-z]+)?'), MEASURE],
  [MEASURED, ends('(?:(?:active|current|open)_connections|last_(?:seen|heartbeat))'), MEASURE],
  [ID, ends('vpc_ids?'), GIVEN],
  [BALANCING, ends(`${BALANCER}[/_]${BALANCER_PLACE}`), GIVEN],
  [IP, ends('ips?(?:_address(?:es)?)?'), ADDRESS],
  [BINDING, ends('(?:oidc|iam|derived|identity|federation)[a-z_]*[/_]bindings?|effective_permissions'), ANY],
  [IP, ANY, IPV4],
  [IP, ANY, IPV6],
  [ID, ANY, CLOUD_ID],
  [BALANCING, ANY, BALANCER_HOST],
  ['an address that a cloud gave', ANY, CLOUD_HOST],
  ['the name of a pod', ANY, POD_NAME],
  [COUNTED, ANY, RUN_COUNT],
  [STATUS, ANY, FAULT],
];

/** These change with time. They pass where a name on the way says that a person decided or drew the value. */
const OF_NOW = new Set([COUNTED, STATUS, MEASURED]);
const DECIDED =
  /(?:^|[/_])(?:limits?|quotas?|requests?|max|maximum|min|minimum|desired|wanted|expected|required|default|capacity|(?:auto)?scal(?:e|er|ing)|hpa|thresholds?|budget|goals?|slos?|slas?|alerts?|policy|per|spec|manifest|values|helm|charts?|terraform|variables?|config|settings|templates?|plan|planned|index|shards?|graph|tree|dag|ast|workflow|machine|states|schema|examples?|ports?)(?:[/_]|$)/;
const VERSION = /(?:^|[/_])(?:versions?|tags?|releases?|build)(?:\/[^/]*)?$/;
const REFERENCE =
  /\$\{|\{\{|^(?:var|local|module|data|output)\.|^[\w./@-]{1,200}\.(?:tf|tfvars|hcl|ya?ml|json|toml|md|txt|ts|js|py|go|sh|rb|java|kt|rs)(?:[#:][\w-]{1,60})?$/;
const NAME_CHARS_MAX = 64;
const TEXT_CHARS_MAX = 4_096;
const NAMES_MAX = 5;

/** `findings` takes a warning for each place in the payload that looks like live state. */
export function findLiveState(payload: JsonObject, section: string, findings: Finding[]): void {
  visit(payload, [nameIn(section)], section, findings);
}

function visit(value: Json, names: readonly string[], path: string, findings: Finding[]): void {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) look('', element as Json, names, below(path, index), findings);
  } else if (isObject(value)) {
    const around = typeof value.kind === 'string' ? [...names, nameIn(value.kind)] : names;
    for (const [key, member] of Object.entries(value)) {
      look(key, member, [...around, nameIn(key)].slice(-NAMES_MAX), below(path, key), findings);
    }
  }
}

function look(key: string, value: Json, names: readonly string[], path: string, findings: Finding[]): void {
  const what = liveStateIn(key, value, names.join('/'));
  if (what === undefined) visit(value, names, path, findings);
  else
    findings.push(
      findingWarning(`LIVE_STATE:${path}`, path, `${what} changes without notice; look it up when it is needed`),
    );
}

function liveStateIn(key: string, value: Json, names: string): string | undefined {
  const text = typeof value === 'object' && value !== null ? '{}' : String(value).slice(0, TEXT_CHARS_MAX);
  if (REFERENCE.test(text)) return undefined;
  const isDecided = DECIDED.test(names);
  const isVersion = VERSION.test(names);
  const found = PATTERNS.find(([what, onTheWay, pattern]) => {
    if (onTheWay === ANY) return !isVersion && (pattern.test(text) || pattern.test(key));
    return !(isDecided && OF_NOW.has(what)) && onTheWay.test(names) && pattern.test(text);
  });
  return found?.[0];
}

/** A key in lower case, its words joined by `_`. A long key is a sentence and names nothing. */
function nameIn(key: string): string {
  if (key.length > NAME_CHARS_MAX) return '';
  return key
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, '_')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_');
}

export type Finding = {
  /** `missing` and `invalid` break the contract; a `warning` never does. */
  readonly kind: 'missing' | 'invalid' | 'warning';
  readonly code: string;
  readonly path: string;
  readonly message: string;
};

const SHOWN_CHARS_MAX = 200;

export function findingWarning(code: string, path: string, message: string): Finding {
  return { kind: 'warning', code, path, message };
}

/** A value as text: strings as they are, anything else as JSON; bounded, because it is repeated to people and agents. */
export function textOf(value: Json): string {
  return bounded(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The path of a member or element; bounded, because keys may have any length and nesting repeats them. */
export function below(path: string, key: string | number): string {
  return path.endsWith('…') ? path : bounded(typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`);
}

function bounded(text: string): string {
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

/** Nothing was given. An empty list is an answer; null and an empty string are none. */
export function isAbsent(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** Nothing is in it: absent, zero, false, an empty list or an empty object. Blanks count as content. */
export function isEmpty(value: Json | undefined): boolean {
  if (isAbsent(value) || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/**
 * A reference to a resource in another repository is `host/owner/repo:table/name`. The part before the colon is the identity
 * of a workspace.
 */
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
  findings.push(
    findingWarning(`REFERENCE_NORMALISED:${path}`, path, `it is stored in its canonical spelling, ${reference}`),
  );
  return reference;
}

/** A password with a slash, a question mark or a hash ends the host too early. So everything up to the last @ is dropped. */
function afterPassword(rest: string, hasScheme: boolean): string {
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const isHost = HOST.test(authority.slice(authority.lastIndexOf('@') + 1));
  return hasScheme && !isHost ? rest.slice(rest.lastIndexOf('@') + 1) : rest;
}

/**
 * Behind a scheme a colon starts a port, which is no part of the identity; otherwise it starts the path, as in
 * `git@host:owner/repo`.
 */
function joinHost(host: string, colon: number, hasScheme: boolean): string {
  const before = host.slice(0, colon);
  return hasScheme ? before : `${before}/${host.slice(colon + 1)}`;
}

/** What is no reference may still be the address of something. */
function cleared(text: string, path: string, findings: Finding[]): string {
  const clear = withoutCredentials(text);
  if (clear !== text) {
    findings.push(
      findingWarning(`CREDENTIALS_REMOVED:${path}`, path, 'user and password of an address are not stored'),
    );
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

/** User and password in an address are not stored. */
const CREDENTIALS = /([a-z][a-z0-9+.-]{0,19}:\/\/)[^\s/?#@:]{0,256}:[^\s/?#@]{0,256}@/gi;

/** The text without any; a user alone, as in `ssh://git@host`, is part of the address. */
function withoutCredentials(text: string): string {
  return text.includes('://') ? text.replace(CREDENTIALS, '$1') : text;
}
