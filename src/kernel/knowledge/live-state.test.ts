// The patterns for live state, measured on a corpus of facts. docs/knowledge.md prints the figures of this measurement.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { type Finding, findLiveState } from './live-state.ts';

type Corpus = Readonly<Record<'seed' | 'live' | 'harmless' | 'laterLive' | 'laterHarmless', readonly JsonObject[]>>;

const ROOT = new URL('../../../', import.meta.url);
const CORPUS = JSON.parse(readFileSync(new URL('test/corpus/live-state.json', ROOT), 'utf8')) as Corpus;

function found(payload: JsonObject, section = 's'): Finding[] {
  const findings: Finding[] = [];
  findLiveState(payload, section, findings);
  return findings;
}

test.each(CORPUS.seed)('what the contract names is always found: %j', (payload) => {
  expect(found(payload)).not.toEqual([]);
});

test.each<[string, keyof Corpus, boolean]>([
  ['kinds that the contract names, found', 'seed', true],
  ['live facts, found', 'live', true],
  ['harmless facts, passed', 'harmless', false],
  ['live facts written after the table, found', 'laterLive', true],
  ['harmless facts written after the table, passed', 'laterHarmless', false],
])('the guide prints how many %s', (what, list, isLive) => {
  const facts = CORPUS[list];
  const right = facts.filter((payload) => found(payload).length > 0 === isLive).length;
  const guide = readFileSync(new URL('docs/knowledge.md', ROOT), 'utf8');
  expect(guide).toContain(`| ${what} | ${right} of ${facts.length} |`);
});

const PLACES: [string, JsonObject, string, string][] = [
  ['s', { pods: { shop: { api: { count: 2 } } } }, 's.pods.shop.api.count', 'a count of what runs'],
  ['s', { kind: 'Deployment', available: '2/3' }, 's.available', 'a count of what runs'],
  ['pods', { web: { ready: '2/2' } }, 'pods.web.ready', 'a count of what runs'],
  ['s', { instances: { web: { state: 'pending' } } }, 's.instances.web.state', 'a runtime status'],
  ['s', { cpuUsage: '41%' }, 's.cpuUsage', 'a measurement'],
  ['s', { vpcId: 'x' }, 's.vpcId', 'an id that a cloud gave'],
  ['s', { load_balancers: [{ dns_name: 'a.b.com' }] }, 's.load_balancers[0].dns_name', 'a load balancer'],
  ['s', { publicIp: 'x' }, 's.publicIp', 'an IP address'],
  ['s', { oidc: { bindings: ['a'] } }, 's.oidc.bindings', 'a derived IAM binding'],
  ['s', { '10.2.3.4': 'host' }, 's.10.2.3.4', 'an IP address'],
  ['s', { note: '3/3 pods ready' }, 's.note', 'a count of what runs'],
];

test.each(PLACES)('section %s, %j: the place is %s and the reason %s', (section, payload, path, what) => {
  expect(found(payload, section)).toEqual([
    { kind: 'warning', code: `LIVE_STATE:${path}`, path, message: expect.stringContaining(what) },
  ]);
});

const DECIDED: JsonObject[] = [
  { limits: { pods: 110 } },
  { spec: { replicas: 2 } },
  { helm: { values: { replicaCount: 2 } } },
  { terraform: { variables: { node_count: 3 } } },
  { vpc_id: `\${module.vpc.id}` },
  { public_ip: 'modules/ip.tf' },
  { version: '10.0.19.4' },
  { bind: '127.0.0.1' },
  { network: '10.0.0.0/16' },
  { runbook: 'if a pod is OOMKilled raise its limit' },
];

test.each(DECIDED)('%j is somebody’s decision', (payload) => {
  expect(found(payload)).toEqual([]);
});

test('a text of any length and nesting is searched', () => {
  const deep = JSON.parse(`${'[{"a":'.repeat(90)}1${'}]'.repeat(90)}`);
  const hostile = [
    '1.'.repeat(50_000),
    'a-'.repeat(50_000),
    '9'.repeat(50_000),
    ':'.repeat(50_000),
    'if '.repeat(30_000),
  ];
  const list = hostile.flatMap((text) => Array.from({ length: 20 }, () => text));
  expect(found({ list, deep, ['pods_'.repeat(20_000)]: 3 })).toEqual([]);
});
