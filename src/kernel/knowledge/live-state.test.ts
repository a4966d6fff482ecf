import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { Finding } from './finding.ts';
import { findLiveState } from './live-state.ts';

function placesIn(payload: JsonObject): string[] {
  const findings: Finding[] = [];
  findLiveState(payload, 's', findings);
  expect(findings.every(({ kind, code, path }) => kind === 'warning' && code === `LIVE_STATE:${path}`)).toBe(true);
  return findings.map(({ path }) => path);
}

const LIVE: [JsonObject, string][] = [
  [{ pod_count: 3 }, 's.pod_count'],
  [{ podCount: 3 }, 's.podCount'],
  [{ 'running.pods': 3 }, 's.running.pods'],
  [{ deployments: [{ name: 'web', 'ready-replicas': 2 }] }, 's.deployments[0].ready-replicas'],
  [{ availableReplicas: 2 }, 's.availableReplicas'],
  [{ pods: { running: 3 } }, 's.pods.running'],
  [{ cluster: { nodes: { ready: 5 } } }, 's.cluster.nodes.ready'],
  [{ running_tasks: 4 }, 's.running_tasks'],
  [{ instance_status: 'ok' }, 's.instance_status'],
  [{ runtimeStatus: 'x' }, 's.runtimeStatus'],
  [{ web: { status: 'Running' } }, 's.web.status'],
  [{ web: { phase: 'CrashLoopBackOff' } }, 's.web.phase'],
  [{ state: 'stopped' }, 's.state'],
  [{ health: 'unhealthy' }, 's.health'],
  [{ status: 'OutOfSync' }, 's.status'],
  [{ uptime_seconds: 86_400 }, 's.uptime_seconds'],
  [{ cpu_usage: '41%' }, 's.cpu_usage'],
  [{ restart_count: 7 }, 's.restart_count'],
  [{ last_seen: '2026-01-01' }, 's.last_seen'],
  [{ network: { vpc_id: 'x' } }, 's.network.vpc_id'],
  [{ network: 'vpc-0a1b2c3d4e5f' }, 's.network'],
  [{ subnets: ['subnet-0a1b2c3d'] }, 's.subnets[0]'],
  [{ bastion: 'i-0a1b2c3d4e5f60718' }, 's.bastion'],
  [{ load_balancer_dns: 'x' }, 's.load_balancer_dns'],
  [{ load_balancer_name: 'k8s-default-web' }, 's.load_balancer_name'],
  [{ entry: 'web-1.elb.eu-west-1.amazonaws.com' }, 's.entry'],
  [{ entry: 'http://web-1.elb.amazonaws.com/health' }, 's.entry'],
  [{ entry: 'arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/app/web/50dc' }, 's.entry'],
  [{ entry: 'web.westeurope.cloudapp.azure.com' }, 's.entry'],
  [{ database: 'orders.c9x2.eu-west-1.rds.amazonaws.com:5432' }, 's.database'],
  [{ site: 'https://d111111abcdef8.cloudfront.net/' }, 's.site'],
  [{ host: 'ec2-3-120-5-6.eu-central-1.compute.amazonaws.com' }, 's.host'],
  [{ host: 'ip-10-0-1-12.eu-west-1.compute.internal' }, 's.host'],
  [{ pod: 'web-7d4b9c6f5-x2k8p' }, 's.pod'],
  [{ public_ip: null }, 's.public_ip'],
  [{ hosts: ['10.1.2.3'] }, 's.hosts[0]'],
  [{ endpoint: '10.1.2.3:5432' }, 's.endpoint'],
  [{ endpoint: 'http://34.90.12.7/api' }, 's.endpoint'],
  [{ endpoint: '2001:db8::8a2e:370:7334' }, 's.endpoint'],
  [{ endpoint: 'fe80::1' }, 's.endpoint'],
  [{ note: 'the database answers at 10.1.2.3 since Monday' }, 's.note'],
  [{ note: '3/3 pods ready' }, 's.note'],
  [{ note: 'there are 4 replicas currently running' }, 's.note'],
  [{ oidc_iam_bindings: {} }, 's.oidc_iam_bindings'],
  [{ pods: 5 }, 's.pods'],
  [{ web: { replicas: 3 } }, 's.web.replicas'],
  [{ node_count: 4 }, 's.node_count'],
  [{ cluster: { nodes: '12' } }, 's.cluster.nodes'],
  [{ instances: 2 }, 's.instances'],
  [{ load_balancer: 'web-lb' }, 's.load_balancer'],
  [{ alb: 'frontend' }, 's.alb'],
  [{ load_balancers: ['web-lb'] }, 's.load_balancers[0]'],
  [{ load_balancer: { name: 'web-lb', kind: 'application' } }, 's.load_balancer.name'],
  [{ disk: 'vol-0123456789abcdef0' }, 's.disk'],
  [{ web: { healthy: true } }, 's.web.healthy'],
  [{ oidc: { bindings: ['serviceAccount:a'] } }, 's.oidc.bindings'],
  [{ note: 'the web pod is CrashLoopBackOff' }, 's.note'],
  [{ pod_counts: { api: 3 } }, 's.pod_counts.api'],
  [{ podCounts: { api: 3 } }, 's.podCounts.api'],
  [{ pods: { api: 3 } }, 's.pods.api'],
  [{ cluster: { replicas: { web: '2' } } }, 's.cluster.replicas.web'],
  [{ node_counts: { eu: 4 } }, 's.node_counts.eu'],
  [{ load_balancer: { dns_name: 'a.b.com' } }, 's.load_balancer.dns_name'],
  [{ lb: { dns: 'a.b.com' } }, 's.lb.dns'],
  [{ load_balancers: [{ hostname: 'a.b.com' }] }, 's.load_balancers[0].hostname'],
  [{ load_balancers: [{ name: 'web-lb' }] }, 's.load_balancers[0].name'],
  [{ iam: { derived_bindings: ['a'] } }, 's.iam.derived_bindings'],
  [{ derivedBindings: ['a'] }, 's.derivedBindings'],
  [{ web: { replicas: '2 / 3' } }, 's.web.replicas'],
  [{ deployments: { web: { ready: '0/3' } } }, 's.deployments.web.ready'],
  [{ kind: 'Deployment', available: '2/3' }, 's.available'],
  [{ pods: { api: { running: '2/3' } } }, 's.pods.api.running'],
  [{ pods: [{ name: 'api', running: 2 }] }, 's.pods[0].running'],
  [{ pods: [{ name: 'api', count: 3 }] }, 's.pods[0].count'],
  [{ pods: { api: { count: '3' } } }, 's.pods.api.count'],
  [{ pods: { count: 3 } }, 's.pods.count'],
  [{ pods: { valkey: 3 } }, 's.pods.valkey'],
  [{ replicas: { squid: 999 } }, 's.replicas.squid'],
  [{ node_counts: { eu: 1200 } }, 's.node_counts.eu'],
  [{ graph: { pods: 3 } }, 's.graph.pods'],
  [{ load_balancers: { main: { dns_name: 'a.b.com' } } }, 's.load_balancers.main.dns_name'],
  [{ load_balancers: { main: { name: 'web-lb' } } }, 's.load_balancers.main.name'],
  [{ alb: { main: { dns: 'a.b.com' } } }, 's.alb.main.dns'],
  [{ '10.2.3.4': 'host' }, 's.10.2.3.4'],
  [{ pods: { 'web-7d4b9c6f5-x2k8p': { app: 'web' } } }, 's.pods.web-7d4b9c6f5-x2k8p'],
];

test.each(LIVE)('%j is live state at %s', (payload, place) => {
  expect(placesIn(payload)).toEqual([place]);
});

const STATIC: JsonObject[] = [
  { ready: '2/2', web: { ready: '0/3' }, available: '2/3' },
  { support: { available: '24/7' }, available: '24/7', ready: '24 / 7', tasks: { running: '24/5' } },
  { shifts: { running: '1/2', available: '8/16' } },
  { containers: { uid: 1000, user: 0, runAsGroup: 0, user_id: 5 } },
  { containers: { api: 8080, proxy: '80', tls: 443 } },
  { pods: { grace_period: 30, 'retry-attempts': 3 } },
  { nodes: { retries: 3, depth: 2, logLevel: 4, start: 1 }, instances: { shard_key: 7 } },
  { graph: { nodes: { start: 1, merge: 2 } }, call_graph: { nodes: 12 }, tree: { nodes: [{ name: 'a', count: 3 }] } },
  { nodes: { disks: { count: 2 } }, tasks: [{ name: 'build', count: 3 }], limits: { pods: { api: { count: 3 } } } },
  { load_balancer: { health_check: { url: '/healthz', name: 'alive' } }, lbs: { main: { kind: 'network' } } },
  { instances: { min: 1, max: 3, port: 8080, memory_gb: 4, timeout_seconds: 30 } },
  { limits: { pods: { api: 3 } }, spec: { replicas: { web: 2 } }, pods: { limits: { api: 3 } } },
  { nodes: [{ name: 'build', slots: 4 }], pods: { api: { port: 80 } } },
  { load_balancer: { kind: 'application', dns_name: `\${module.lb.dns_name}`, zone: 'eu' } },
  { dns: { zone: 'b.com', name: 'a.b.com' }, ready: 'yes', path: '2/2' },
  { name: 'web', region: 'eu-west-1', status: 'stable' },
  { status: 'deprecated' },
  { status: 'active', state: 'enabled' },
  { phase: 'beta' },
  { bind: '127.0.0.1' },
  { listen: '0.0.0.0:8080' },
  { local: 'http://127.0.0.1:3000/' },
  { localhost: '::1', any: '::' },
  { metadata: '169.254.169.254' },
  { resolver: '8.8.8.8' },
  { range: '10.0.0.0/16' },
  { ranges: ['192.168.0.0/24', '10.4.0.0/14'] },
  { version: '1.2.3' },
  { version: '10.0.19.4' },
  { tag: '2.0.0.1' },
  { browser: 'Chrome 120.0.6099.109', build: '10.0.300.4' },
  { oid: '1.3.6.1.4.1' },
  { at: '12:30:45' },
  { mac: 'aa:bb:cc:dd:ee:ff' },
  { module: 'std::dec' },
  { vpc_id: `\${module.vpc.id}` },
  { public_ip: '{{ .Values.ip }}' },
  { vpc_id: 'module.network.vpc_id' },
  { ip_family: 'dual' },
  { image: 'ghcr.io/acme/web:1.4' },
  { repository: 'github.com/acme/iac:tf_modules/network' },
  { service_account: 'deployer@acme.iam.gserviceaccount.com' },
  { min_replicas: 2, max_replicas: 9, desired_count: 3, max_nodes: 5 },
  { limits: { pods: 110 }, autoscaling: { replicas: 3 }, spec: { replicas: 2 } },
  { replicas: `\${var.replicas}`, nodes: ['a', 'b'], instances: { type: 'm5' } },
  { load_balancer: 'internet-facing', lb: 'nginx-ingress', alb: true },
  { load_balancer: `\${module.lb.name}`, lb: 'modules/lb', elb: 'ends TLS and balances by path' },
  { load_balancer: { kind: 'network', port: 443 } },
  { '10.0.0.0/16': 'the network', '127.0.0.1': 'here', 'web-lb': 'a service' },
  { versions: { '10.0.19.4': 'the last one' } },
  { instance_type: 'm5.large' },
  { pods: { limit: 110 } },
  { running: true },
  { healthy: '/healthz', key: { bindings: ['ctrl-k'] }, oidc: { bindings: 'module.iam.bindings' } },
  { runbook: 'after CrashLoopBackOff look at the limits' },
  { files: ['src/ip-10.ts', 'docs/pods.md'] },
  { commit: '8a2e370' },
  { id: '123e4567-e89b-12d3-a456-426614174000' },
  { path: 'modules/i-am-a-module' },
  { note: 'autoscales from 2 to 9 replicas' },
  { note: 'keeps 3 replicas of each shard' },
  { cluster: 'prod-eu', ingress: 'nginx', load_balancer: 'application' },
  { health_check: '/healthz', status_page: 'https://status.acme.io' },
  { ['k'.repeat(100)]: 'long name' },
];

test.each(STATIC)('%j exists whether anything runs or not', (payload) => {
  expect(placesIn(payload)).toEqual([]);
});

const SECTIONS: [string, JsonObject, string[]][] = [
  ['pods', { web: { ready: '2/2' } }, ['pods.web.ready']],
  ['nodes', { total: 4 }, ['nodes.total']],
  ['limits', { pods: 110 }, []],
  ['services', { release: { ready: '1/2' }, available: '9/17' }, []],
  [
    'deployments',
    { api: { available: '3/3' }, web: { ready: '2 of 3' } },
    ['deployments.api.available', 'deployments.web.ready'],
  ],
  ['deployments', { api: { chart: 'web', replicas_max: 5, port: 80 } }, []],
];

test.each(SECTIONS)('the section %s says what %j is about: %j', (section, payload, places) => {
  const findings: Finding[] = [];
  findLiveState(payload, section, findings);
  expect(findings.map(({ path }) => path)).toEqual(places);
});

const WHY: [JsonObject, string][] = [
  [{ pods: { shop: { api: { count: 2 } } } }, 'a count of what runs (pods, count)'],
  [{ instances: { web: { state: 'pending' } } }, 'a runtime status (instances, state, pending)'],
  [{ cpuUsage: '41%' }, 'a measurement (cpu, usage)'],
  [{ vpcId: 'x' }, 'the id of a network (vpc, id)'],
  [{ load_balancers: { main: 'web-7f3' } }, 'the name or address of a load balancer (loadbalancers, main)'],
  [{ publicIp: 'x' }, 'an IP address (public, ip)'],
  [{ oidc: { bindings: ['a'] } }, 'a derived IAM binding (oidc, bindings)'],
  [{ note: '3/3 pods ready' }, 'a count of what runs'],
];

test.each(WHY)('%j is refused with the words that say so: %s', (payload, why) => {
  const findings: Finding[] = [];
  findLiveState(payload, 's', findings);
  expect(findings[0]?.message).toBe(`${why} changes without a trace here; look it up when it is needed`);
});

test('a text of any length and nesting is looked through quickly', () => {
  const nested = `${'[{"a":'.repeat(90)}1${'}]'.repeat(90)}`;
  const hostile = ['1.'.repeat(50_000), 'a-'.repeat(50_000), '9'.repeat(50_000), ':'.repeat(50_000), 'fe80:'.repeat(9)];
  const before = performance.now();
  placesIn({ list: hostile.flatMap((text) => Array.from({ length: 20 }, () => text)), deep: JSON.parse(nested) });
  expect(performance.now() - before).toBeLessThan(2_000);
});
