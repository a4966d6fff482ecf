// Shared knowledge is an index of what statically exists. What a running system happens to be at the moment goes stale
// unseen and gives the next agent false confidence, so values that look like it are pointed out. It is a guess from
// names and forms, hence a warning and never a refusal.
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { below, type Finding, warning } from './finding.ts';

/** `findings` takes a warning for each place in the payload that looks like live state. */
export function findLiveState(payload: JsonObject, path: string, findings: Finding[]): void {
  collect(payload, path, '', findings);
}

function collect(value: Json, path: string, key: string, findings: Finding[]): void {
  const what = LIVE_KEYS.get(plainKey(key)) ?? (typeof value === 'string' ? liveForm(value) : undefined);
  if (what !== undefined) {
    findings.push(
      warning(`LIVE_STATE:${path}`, path, `${what} changes without a trace here; look it up when it is needed`),
    );
  } else if (Array.isArray(value)) {
    value.forEach((element: Json, index) => {
      collect(element, below(path, index), '', findings);
    });
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) collect(member, below(path, name), name, findings);
  }
}

const LIVE_KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'a count of pods': ['podcount', 'runningpods', 'podsrunning', 'readypods', 'podstatus'],
    'a count of replicas': ['readyreplicas', 'availablereplicas', 'currentreplicas', 'runningreplicas'],
    'a count of instances': ['instancecount', 'runninginstances', 'runninginstancecount'],
    'the state of an instance': [
      'instancestatus',
      'instancestate',
      'runtimestatus',
      'clusterstatus',
      'nodestatus',
      'healthstatus',
    ],
    'the id of a network': ['vpcid', 'vpcids'],
    'the address of a load balancer': [
      'loadbalancerdns',
      'loadbalancerhostname',
      'lbdns',
      'albdns',
      'nlbdns',
      'elbdns',
    ],
    'an IP address': [
      'ip',
      'ips',
      'ipaddress',
      'ipaddresses',
      'publicip',
      'privateip',
      'externalip',
      'internalip',
      'clusterip',
      'podip',
      'nodeip',
      'loadbalancerip',
    ],
    'a derived IAM binding': ['iambinding', 'iambindings', 'oidciambindings', 'oidcbindings'],
  }).flatMap(([what, keys]) => keys.map((key) => [key, what] as const)),
);

function plainKey(key: string): string {
  return key.length > 64 ? '' : key.replace(/[-_ ]/g, '').toLowerCase();
}

const FORM_CHARS_MAX = 255;
const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const VPC = /^vpc-[0-9a-f]{8,17}$/;
const LOAD_BALANCER = /\.elb(?:\.[a-z0-9-]{1,32})?\.amazonaws\.com$/;
// Addresses that mean the same on every machine are configuration.
const FIXED_ADDRESS = /^(?:127\.|0\.0\.0\.0$|255\.)/;

function liveForm(text: string): string | undefined {
  if (text.length > FORM_CHARS_MAX) return undefined;
  if (IPV4.test(text) && !FIXED_ADDRESS.test(text)) return 'an IP address';
  if (VPC.test(text)) return 'the id of a network';
  return LOAD_BALANCER.test(text) ? 'the address of a load balancer' : undefined;
}
