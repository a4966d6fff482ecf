// The words that the rule about live state goes by: what runs, what can be said of it, and what makes a number of it
// somebody's decision. Keys are read word by word, so that `podCount`, `pod-count` and `podcount` are one.

/**
 * What runs, and how much a word for it proves.
 * `unit`: there are so many of it, so that a plain number of them, a `count` or a `total` is what runs at the moment.
 * `workload`: it is in some state, and counts what it has ready; a number of it may be anything.
 * `place`: somewhere that things run; only what is said of nothing else (`running`, `ready`) is about them.
 */
const THINGS = {
  unit: 'pod pods replica replicas node nodes instance instances container containers vm vms',
  workload:
    'deployment deployments statefulset statefulsets daemonset daemonsets replicaset replicasets rollout rollouts cluster clusters server servers',
  place:
    'service services host hosts target targets targetgroup targetgroups task tasks worker workers job jobs docker kubernetes k8s ecs ec2 eks gke aks',
} as const;
export type Tier = keyof typeof THINGS;
export const TIER: ReadonlyMap<string, Tier> = new Map(
  (Object.keys(THINGS) as Tier[]).flatMap((tier) => THINGS[tier].split(' ').map((word) => [word, tier] as const)),
);
/** Nobody sets a number of pods, nor calls anything else `replicas`: next to a name it is how many of that there are. */
export const NUMBERED_BY_NAME = wordsOf('pods replicas');

/** How many: the first are said of anything that runs, the others only count where it is certain what they count. */
export const COUNTS_SURELY = wordsOf('running ready available unavailable healthy unhealthy stopped');
export const COUNTS_UNITS = wordsOf('count counts total number num active pending failed current');
export const TOTALS = wordsOf('count counts total num');
/** Said of what runs and of nothing else, so that no other word is needed. */
export const SAYS_IT_RUNS = wordsOf('healthy unhealthy');
export const FILLERS = wordsOf('of the is are now currently');

/** How it is. */
export const STATE_KEYS = wordsOf('status state phase health condition');
/** Together with a key for a state they name both. */
export const STATE_OWNERS = wordsOf(
  'pod node instance container vm cluster deployment rollout runtime sync live health service target',
);
/** Somebody may have decided on these: a service is `deprecated`, a deployment is in its beta phase. */
export const DECIDED_KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['phase', wordsOf('pod node instance container runtime')],
  ['health', wordsOf('service target cluster node instance pod container runtime')],
]);
/** States that only a running thing is in; a status such as `stable` is somebody's decision. */
export const RUNTIME_STATES = wordsOf(
  'running crashloopbackoff imagepullbackoff errimagepull containercreating terminating terminated evicted oomkilled notready healthy unhealthy degraded up down online offline stopped stopping rebooting restarting draining provisioning inservice outofservice synced outofsync',
);
/** States that other things are in as well. */
export const COMMON_STATES = wordsOf(
  'ready available unavailable pending exited created failed starting progressing unknown unreachable green yellow red ok',
);
/** Yes or no to these tells how something that runs is; whether it is `available` may be an offer. */
export const CONDITIONS = wordsOf('running ready up online reachable');
/** Where states are described, nothing is in one. */
export const DESCRIBES_STATES = wordsOf('machine states transitions enum schema example examples');

/** What is measured: all the words of a row, one of each. */
export const MEASURED: readonly (readonly ReadonlySet<string>[])[] = [
  [wordsOf('uptime restarts')],
  [wordsOf('cpu memory disk'), wordsOf('usage utilization')],
  [wordsOf('load'), wordsOf('average')],
  [wordsOf('restart'), wordsOf('count')],
  [wordsOf('active current open'), wordsOf('connections')],
  [wordsOf('queue'), wordsOf('depth')],
  [wordsOf('in'), wordsOf('flight')],
  [wordsOf('last'), wordsOf('heartbeat seen')],
];

/** Where it is, or what it was called when it was made. */
export const BALANCERS = wordsOf('loadbalancers lbs albs nlbs elbs');
export const BALANCER = new Set([...BALANCERS, ...wordsOf('loadbalancer lb alb nlb elb')]);
export const BALANCER_PLACES = wordsOf('dns hostname fqdn cname arn url ip address endpoint');
export const INGRESS_PLACES = wordsOf('hostname ip');
export const ADDRESS_OWNERS = wordsOf(
  'public private external internal cluster pod node host elastic nat endpoint loadbalancer lb ingress instance server',
);
/** Who holds bindings that a provider of identities works out. */
export const DERIVES_BINDINGS = wordsOf('oidc iam derived identity federation');

/** A number beside these is a bound or a wish, wherever on the way they stand. */
export const BOUNDS = wordsOf(
  'limit limits quota quotas request requests requested max maximum min minimum desired wanted expected required target default initial capacity scaling autoscaling autoscaler autoscale hpa threshold thresholds budget goal goals slo sla alert alerts alarm alarms policy per',
);
/** What is below these is written in a file: a number without a word such as `running` is what somebody wants. */
export const DECLARES = wordsOf(
  'spec manifest manifests values helm chart charts terraform tf variables vars config configuration settings template templates defaults plan planned yaml index indices shards elasticsearch opensearch',
);
/** What is set for a running thing, or is a part of it: at the end of the key itself, or of one below the thing. */
export const SETTINGS = wordsOf(
  'port ports ssh http https tcp udp grpc smtp imap dns tls metrics cpu cpus vcpu vcpus core cores gpu gpus memory ram disk disks volume volumes storage size kb mb gb tb kib mib gib ms seconds minutes hours days timeout ttl grace period interval delay priority weight order rank version generation revision zone zones region regions rack slot slots retention backup backups retry retries attempts threshold license licenses id uid gid user group key level levels depth start end first last width height probe probes check checks label labels annotation annotations env security resources',
);
/** What a load balancer is, is set to or belongs to, rather than what it is called. */
export const DESCRIBES_BALANCER = wordsOf(
  'type kind class scheme protocol provider owner team module source chart file path doc docs template policy algorithm certificate cert version env environment tier mode description note notes namespace controller role purpose zone region repo repository tls ssl listener check stickiness network',
);
/** The nodes of these are drawn or computed, and no machines. */
export const DRAWN = wordsOf(
  'graph graphs tree trees dag diagram diagrams workflow workflows flowchart flowcharts ast dom scene document editor canvas loadout socket',
);
/** Four numbers with dots between them are a version where they are called one. */
export const VERSIONS = wordsOf('version versions tag tags release releases build');

const COMPOUNDS = wordsOf(
  'loadbalancer loadbalancers statefulset statefulsets daemonset daemonsets replicaset replicasets targetgroup targetgroups',
);
const KNOWN: ReadonlySet<string> = new Set([
  ...TIER.keys(),
  ...[COUNTS_SURELY, COUNTS_UNITS, STATE_KEYS, STATE_OWNERS, CONDITIONS, ...MEASURED.flat(), BALANCER, DRAWN].flatMap(
    (words) => [...words],
  ),
  ...[BALANCER_PLACES, ADDRESS_OWNERS, DERIVES_BINDINGS, BOUNDS, SETTINGS, VERSIONS].flatMap((words) => [...words]),
  ...wordsOf('ips addresses vpc vpcs ids name names bindings binding effective permissions'),
]);

const KEY_CHARS_MAX = 64;

/** The words of a key in small letters. A long key is a sentence rather than a name, and has none. */
export function wordsIn(key: string): readonly string[] {
  if (key.length > KEY_CHARS_MAX) return [];
  const parts = key
    .split(/[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase());
  const words: string[] = [];
  for (const part of parts) {
    const joined = `${words.at(-1) ?? ''}${part}`;
    if (COMPOUNDS.has(joined)) words.splice(-1, 1, joined);
    else words.push(...divided(part));
  }
  return words;
}

/** Words that were written together are taken apart where both are known. */
function divided(part: string): readonly string[] {
  if (KNOWN.has(part)) return [part];
  for (let at = 2; at <= part.length - 2; at++) {
    const halves = [part.slice(0, at), part.slice(at)];
    if (halves.every((half) => KNOWN.has(half))) return halves;
  }
  return [part];
}

export function wordsOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}
