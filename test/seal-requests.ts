// What the program adds to a request on its way to the kernel: the seal of a decision, and the seal that a use expects. The
// key of a test is no secret; its seals are still different for different decisions.
import { hash } from 'node:crypto';
import type { SealKey } from '../src/approvals/seal.ts';
import { sealDecision, sealedGrant } from '../src/approvals/seal.ts';
import type { Approvals } from '../src/kernel/approval/state.ts';
import type { Request } from '../src/kernel/input.ts';

function keyNamed(id: string): SealKey {
  const seal = (label: string, text: string) => hash('sha256', `${id} ${label} ${text}`, 'hex');
  return { id, seal, mark: seal };
}

/** What a test has sealed itself stays as it is. */
export function withSeals(approvals: Approvals, request: Request, by: string, now: number): Request {
  if (request.kind !== 'approval.decide' && request.kind !== 'approval.use') return request;
  const approval = approvals[request.id];
  if (!approval) return request;
  const key = keyNamed(approval.sealed.keyId);
  if (request.kind === 'approval.use') {
    const { presented } = request;
    if (!presented || presented.decision) return request;
    return { ...request, presented: { ...presented, decision: sealedGrant(approval, key) } };
  }
  if (request.isAgent || request.sealing) return request;
  const sealing = sealDecision(approval, request, { by, now, key });
  return 'allow' in sealing ? request : { ...request, ...sealing };
}
