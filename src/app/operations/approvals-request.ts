// The way for an agent to ask. What it asks for is sealed as whoever calls, and waits from then on.

import { approvalsIn, goneExecutors, requesterOf } from '../../approvals/open-approvals.ts';
import { readPolicy } from '../../approvals/risk.ts';
import { logIdentity, openSealKey } from '../../approvals/seal.ts';
import { sealRequest } from '../../approvals/seal-request.ts';
import { checkBlocking } from '../../dialects/gaia/checks.ts';
import { asDetails } from '../../dialects/gaia/contract.ts';
import { parseJsonText } from '../../dialects/json-text.ts';
import { isObject, isText } from '../../kernel/json.ts';
import { deny } from '../../kernel/verdict.ts';
import { projectAreaAt } from '../../shell/dangerous.ts';
import { workRoot } from '../../workspace/worktree/record.ts';
import { jsonText } from '../ledger-session.ts';
import type { Operation } from './table.ts';

const REQUEST_BYTES_MAX = 1_048_576;

export const approvalsRequest: Operation<'approvals.request'> = async (workspace, { request }, { actor }) => {
  const store = workspace.ledgerStore({ begins: true });
  const { env, stateDir } = workspace;
  const parsed = parseJsonText(jsonText(request), { maxBytes: REQUEST_BYTES_MAX });
  if (!parsed.ok || !isObject(parsed.value)) {
    return deny(
      'BAD_USAGE',
      'the request must be one JSON object: {"operation", "exact_content", "scope", "risk_level", "rollback", "verification"}',
    );
  }
  const asked = parsed.value;
  const lacking = checkBlocking(asked);
  if (lacking.length > 0) {
    const { issues, missing } = asDetails(lacking);
    const reason = `the request breaks its contract: ${lacking.map(({ message }) => message).join('; ')}`;
    return deny('CONTRACT_VIOLATION', reason, { missing, issues });
  }
  const policy = readPolicy(workspace.configFile);
  if ('allow' in policy) return policy;
  const key = openSealKey(env);
  if ('allow' in key) return key;
  const { name: requester, from, handed } = await requesterOf(env, stateDir, (id) => store.view('cast', id), actor);
  const cwd = isText(asked.x_cwd) ? asked.x_cwd : workspace.cwd;
  const area = projectAreaAt(workRoot(cwd, workspace), cwd, env.HOME);
  const sealed = sealRequest(asked, {
    requester,
    cwd: workspace.cwd,
    env,
    handed,
    policy,
    key,
    now: Date.now(),
    area,
    log: logIdentity(stateDir),
  });
  const gone = goneExecutors(Object.values(await approvalsIn(store.log)));
  return store.submit({ kind: 'approval.request', sealed, from, gone }, actor);
};
