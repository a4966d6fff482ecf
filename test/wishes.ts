// A permission as it is sealed, an agent that asks for it, and the team of this one agent.
import type { SealedCommand, SealedRequest } from '../src/kernel/approval/request.ts';
import { always, graph } from './loadouts.ts';
import { asBlock, reportOf } from './reports.ts';

const command: SealedCommand = {
  ...{ display: 'deploy', digest: 'd', seal: 's', tier: 'T3', because: 'it does', argv: ['deploy'] },
  ...{ marks: ['0:deploy'], programs: {}, places: {}, files: {} },
};

/** Each is a wish of its own, unless it says whose fingerprint it has. */
export const sealed = (id: string, over: Partial<SealedRequest> = {}): SealedRequest => ({
  ...{ id, commands: [command], cwd: '/w', env: [], envMarks: {}, path: '/bin', files: {}, policy: 'p', log: 'l' },
  ...{ requester: 'a1', operation: 'deploy', scope: 'prod', riskLevel: 'HIGH', rationale: 'needed', rollback: null },
  ...{ verification: 'look', expiresAt: 9e15, grantMs: 1e9, fingerprint: id, keyId: 'k', relays: null, refusal: null },
  ...over,
});

export const opsTeam = graph(
  { 'Socket-1': { materia: 'Ops', parse: 'json', contract: 'gaia', edges: [always('end')] } },
  { materia: { Ops: { tools: 'none', prompt: 'Do it.' } } },
);

const wish = { operation: 'deploy', exact_content: 'deploy', rollback: 'none', verification: 'look' };
export const asks = asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } }));
export const says = (...parts: Parameters<typeof reportOf>): string => asBlock(reportOf(...parts));
