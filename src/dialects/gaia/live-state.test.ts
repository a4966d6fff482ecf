import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import type { Finding } from './finding.ts';
import { findLiveState } from './live-state.ts';

const ROWS: [JsonObject, string[]][] = [
  [{ pod_count: 3 }, ['LIVE_STATE:s.pod_count']],
  [{ podCount: 3 }, ['LIVE_STATE:s.podCount']],
  [{ deployments: [{ name: 'web', 'ready-replicas': 2 }] }, ['LIVE_STATE:s.deployments[0].ready-replicas']],
  [{ instance_status: 'running' }, ['LIVE_STATE:s.instance_status']],
  [{ network: { vpc_id: 'x' } }, ['LIVE_STATE:s.network.vpc_id']],
  [{ network: 'vpc-0a1b2c3d4e5f' }, ['LIVE_STATE:s.network']],
  [{ load_balancer_dns: 'x' }, ['LIVE_STATE:s.load_balancer_dns']],
  [{ entry: 'web-1.elb.eu-west-1.amazonaws.com' }, ['LIVE_STATE:s.entry']],
  [{ public_ip: null }, ['LIVE_STATE:s.public_ip']],
  [{ hosts: ['10.1.2.3'] }, ['LIVE_STATE:s.hosts[0]']],
  [{ oidc_iam_bindings: {} }, ['LIVE_STATE:s.oidc_iam_bindings']],
  [{ bind: '127.0.0.1', any: '0.0.0.0', range: '10.0.0.0/16', version: '1.2.3' }, []],
  [{ name: 'web', replicas: 3, region: 'eu-west-1', status: 'stable' }, []],
];

test.each(ROWS)('%j: %j', (payload, codes) => {
  const findings: Finding[] = [];
  findLiveState(payload, 's', findings);
  expect(findings.map(({ kind, code }) => [kind, code])).toEqual(codes.map((code) => ['warning', code]));
});
