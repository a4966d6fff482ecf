// Shared knowledge is an index of what statically exists. What a running system happens to be at the moment goes stale
// unseen and gives the next agent false confidence, so values that look like it are pointed out. It is a guess from
// names and forms: whoever stores decides whether it refuses, and a person may know better.
import { isObject, type Json, type JsonObject } from '../json.ts';
import { below, type Finding, warning } from './finding.ts';
import { liveForm } from './live-form.ts';

/** `findings` takes a warning for each place in the payload that looks like live state. */
export function findLiveState(payload: JsonObject, path: string, findings: Finding[]): void {
  for (const [name, member] of Object.entries(payload)) collect(member, below(path, name), name, [], findings);
}

/** `above` are the names on the way to the value, without signs; an element of a list has none. */
function collect(value: Json, path: string, key: string, above: readonly string[], findings: Finding[]): void {
  const plain = plainKey(key);
  const what =
    liveMember(key, value, above) ??
    liveName(key, above.at(-1) ?? '') ??
    (isVersion(plain) ? undefined : liveText(value));
  if (what !== undefined) {
    findings.push(
      warning(`LIVE_STATE:${path}`, path, `${what} changes without a trace here; look it up when it is needed`),
    );
  } else if (Array.isArray(value)) {
    value.forEach((element: Json, index) => {
      collect(element, below(path, index), '', [...above, plain], findings);
    });
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value))
      collect(member, below(path, name), name, [...above, plain], findings);
  }
}

const LIVE_KEYS: ReadonlyMap<string, string> = keysOf({
  'a count of pods': 'podcount podcounts runningpods podsrunning readypods podsready podstatus podphase',
  'a count of replicas': 'readyreplicas availablereplicas currentreplicas runningreplicas unavailablereplicas',
  'a count of instances':
    'instancecount instancecounts runninginstances runninginstancecount healthyinstances runningtasks runningtaskcount runningcontainers readynodes runningnodes healthyhosts healthyhostcount',
  'the state of an instance':
    'instancestatus instancestate runtimestatus runtimestate clusterstatus nodestatus nodestate healthstatus servicehealth targethealth deploymentstatus rolloutstatus syncstatus containerstatus containerstate livestatus',
  'a measurement':
    'uptime uptimeseconds cpuusage cpuutilization memoryusage memoryutilization diskusage loadaverage restartcount restarts activeconnections currentconnections queuedepth lastheartbeat lastseen',
  'the id of a network': 'vpcid vpcids',
  'the name or address of a load balancer':
    'loadbalancerdns loadbalancerdnsname loadbalancerhostname loadbalancername loadbalancernames loadbalancerarn loadbalancerurl lbname lbdns albname albdns albarn nlbname nlbdns nlbarn elbname elbdns ingresshostname ingressip',
  'an IP address':
    'ip ips ipaddress ipaddresses publicip publicips privateip privateips externalip externalips internalip internalips clusterip podip nodeip hostip elasticip natip endpointip loadbalancerip',
  'a derived IAM binding':
    'iambinding iambindings oidciambindings oidcbindings derivedbindings derivediambindings oidcderivediambindings effectivepermissions',
});

/** Words that only a running thing is described with. A status such as `stable` or `deprecated` is somebody's decision. */
const RUNTIME_WORDS = wordsOf(
  'running crashloopbackoff imagepullbackoff errimagepull containercreating terminating terminated evicted oomkilled notready healthy unhealthy degraded up down online offline stopped stopping rebooting draining provisioning inservice outofservice synced outofsync',
);
const STATUS_KEYS = wordsOf('status state phase health condition');
const COUNTED_KEYS = wordsOf('running ready available healthy unhealthy');
/** So many of so many is said with these of nothing but what runs. With the others it may be hours, dates or shares. */
const RATIO_KEYS = wordsOf('ready healthy unhealthy');
/** Yes or no to these is how something is at the moment. */
const CONDITIONS = wordsOf('healthy unhealthy ishealthy');
/** What holds bindings that a provider of identities works out. */
const DERIVING = wordsOf('oidc iam oidcprovider workloadidentity workloadidentityfederation');
const COUNTED_THINGS = wordsOf('pods replicas instances nodes tasks containers targets hosts');
/** A plain number of these is what runs at the moment. Beside a word for a bound it is somebody's decision. */
const COUNTS = wordsOf(
  'pods nodes replicas instances containers nodecount nodecounts podscount nodescount replicacount replicacounts replicascount instancescount',
);
/** What is said in numbers of each pod, node or instance, and is somebody's decision as well. */
const PROPERTY =
  /^(?:min|max|desired|initial|default|runas)|(?:ports?|cpus?|cores?|gpus?|memory|ram|disks?|storage|size|[kmgt]i?b|ms|seconds|minutes|hours|days|timeout|ttl|priority|weight|version|generation|revision|zones?|regions?|retention|backups?|retry|retries|attempts|period|interval|threshold|userid|groupid)$/;
/** The same, where it is a word by itself: `shard_key` is one, `valkey` is the name of something. */
const PROPERTY_WORDS = wordsOf('id uid gid user key level levels depth start end first last');
/** The nodes of these are drawn or computed, and no machines. */
const DRAWN = /(?:graph|tree|dag|diagram|workflow|flowchart)s?$/;
const PORT_MIN = 1000;
const PLAIN_PORTS = wordsOf('80 443');
const BOUNDS = wordsOf(
  'limit limits quota quotas request requests max maximum min minimum desired spec scaling autoscaling autoscaler hpa capacity',
);
const MANY_BALANCERS = wordsOf('loadbalancers lbs albs nlbs elbs');
const LOAD_BALANCERS = new Set([...MANY_BALANCERS, ...wordsOf('loadbalancer lb alb nlb elb')]);
/** What a load balancer is, rather than what it is called. */
const BALANCER_KINDS = wordsOf(
  'application network classic gateway internal external internet facing public private global regional shared dedicated none l4 l7 layer4 layer7 http https tcp udp tls nginx haproxy traefik envoy caddy istio kong contour metallb cilium ingress controller proxy aws gcp azure alb nlb elb',
);
/** Where a load balancer is found, whatever name it has in front. */
const BALANCER_PLACES = wordsOf('dns dnsname hostname arn url ip');
const DNS = wordsOf('dns dnsname');
const BALANCER_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/i;
const VERSION_KEYS = wordsOf('version versions tag release chartversion appversion');

/** What a member is, by its name and what kind of value it has. */
function liveMember(key: string, value: Json, above: readonly string[]): string | undefined {
  const plain = plainKey(key);
  const parent = above.at(-1) ?? '';
  const what = LIVE_KEYS.get(plain);
  // What points at the place where a value is worked out is configuration, whatever it is called.
  if (what !== undefined) return isReference(value) ? undefined : what;
  if (STATUS_KEYS.has(plain) && typeof value === 'string' && RUNTIME_WORDS.has(plainKey(value))) {
    return 'a runtime status';
  }
  if (CONDITIONS.has(plain) && typeof value === 'boolean') return 'a runtime status';
  if (plain === 'bindings' && DERIVING.has(parent) && !isReference(value)) return 'a derived IAM binding';
  if (isCounted(key, value, above)) return 'a count of what runs';
  return ofBalancer(plain, value, above);
}

function isCounted(key: string, value: Json, above: readonly string[]): boolean {
  const plain = plainKey(key);
  const parent = above.at(-1) ?? '';
  const isThing = [parent, above.at(-2) ?? ''].some((name) => COUNTED_THINGS.has(name));
  if (COUNTED_KEYS.has(plain) && isRatio(value) && (RATIO_KEYS.has(plain) || isThing || above.length === 0))
    return true;
  if (COUNTED_KEYS.has(plain) && isThing && typeof value === 'number') return true;
  if (counts(plain, above)) return (isCount(value) || isRatio(value)) && !BOUNDS.has(parent);
  if (!isCount(value) || [plain, ...above].some((name) => BOUNDS.has(name))) return false;
  // How many of each there are, by whatever they are called: as the value of its name, or as its `count`.
  if (counts(parent, above)) return plain !== '' && !isProperty(key) && (/counts?$/.test(parent) || !isPort(value));
  return plain === 'count' && counts(above.at(-2) ?? '', above) && !isProperty(parent);
}

function counts(name: string, above: readonly string[]): boolean {
  return COUNTS.has(name) && !(name.startsWith('node') && above.some((each) => DRAWN.test(each)));
}

function isProperty(key: string): boolean {
  const word = key.split(/[-_ .]|(?<=[a-z0-9])(?=[A-Z])/).at(-1) ?? '';
  return PROPERTY.test(plainKey(key)) || PROPERTY_WORDS.has(word.toLowerCase());
}

/** A number beside the name of something is a port, or a user, sooner than so many of it. */
function isPort(value: Json): boolean {
  return PLAIN_PORTS.has(String(value)) || Number(value) >= PORT_MIN;
}

function ofBalancer(plain: string, value: Json, above: readonly string[]): string | undefined {
  const owner = balancerAbove(plain, above);
  if (BALANCER_PLACES.has(plain) && LOAD_BALANCERS.has(owner) && typeof value === 'string' && !isReference(value)) {
    return 'the address of a load balancer';
  }
  const named = plain === '' || plain === 'name' ? owner : plain;
  return LOAD_BALANCERS.has(named) && isBalancerName(value) ? 'the name of a load balancer' : undefined;
}

/**
 * Whose member it is. A load balancer may be an element of a list of them, or stand among them by a name of its own; below
 * a single one that may be a part of it as well, such as its health check, which has a URL too but no name in DNS.
 */
function balancerAbove(plain: string, above: readonly string[]): string {
  const [parent = '', next = ''] = above
    .filter((name) => name !== '')
    .slice(-2)
    .reverse();
  if (LOAD_BALANCERS.has(parent) || plain === '') return parent;
  return MANY_BALANCERS.has(next) || (DNS.has(plain) && LOAD_BALANCERS.has(next)) ? next : parent;
}

/** So many of so many. `24/7` is no such thing. */
function isRatio(value: Json): boolean {
  const [, some, all] = (typeof value === 'string' && /^(\d{1,9}) ?\/ ?(\d{1,9})$/.exec(value)) || [];
  return some !== undefined && Number(some) <= Number(all);
}

function isCount(value: Json): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^\d{1,9}$/.test(value));
}

/** A name in which every word is one for a kind says what it is. */
function isBalancerName(value: Json): boolean {
  if (typeof value !== 'string' || !BALANCER_NAME.test(value)) return false;
  return !value
    .toLowerCase()
    .split('-')
    .every((word) => BALANCER_KINDS.has(word));
}

/** What is a member's name may be live state as well as what is its value. */
function liveName(key: string, parent: string): string | undefined {
  return key === '' || isVersion(parent) ? undefined : liveForm(key);
}

function liveText(value: Json): string | undefined {
  return typeof value === 'string' ? liveForm(value) : undefined;
}

const REFERENCE = /\$\{|\{\{|^(?:var|local|module|data|output)\./;

function isReference(value: Json): boolean {
  return typeof value === 'string' && value.length <= 255 && REFERENCE.test(value);
}

/** Four numbers with dots between them are a version where they are called one. */
function isVersion(plain: string): boolean {
  return VERSION_KEYS.has(plain);
}

function plainKey(key: string): string {
  return key.length > 64 ? '' : key.replace(/[-_ .]/g, '').toLowerCase();
}

function keysOf(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(words).flatMap(([what, keys]) => [...wordsOf(keys)].map((key) => [key, what] as const)),
  );
}

function wordsOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}
