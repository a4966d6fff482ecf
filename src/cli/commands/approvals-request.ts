// `baton approvals request`: the way for an agent to ask. What it asks for is sealed as whoever calls, and waits from then on.
import { groundAt } from '../../approvals/ground.ts';
import { logIdentity } from '../../approvals/log-identity.ts';
import { approvalsIn, goneFrom } from '../../approvals/open-approvals.ts';
import { readPolicy } from '../../approvals/policy-file.ts';
import { requesterOf } from '../../approvals/requester.ts';
import { openSealKey } from '../../approvals/seal-key.ts';
import { sealRequest } from '../../approvals/seal-request.ts';
import { checkBlocking } from '../../dialects/gaia/approval-request.ts';
import { asDetails } from '../../dialects/gaia/finding.ts';
import { parseJsonText } from '../../dialects/json-text.ts';
import { isObject, isText } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { workRoot } from '../../workspace/worktree/record.ts';
import type { Call } from '../command.ts';
import { answering, type LedgerSession, withLedger } from '../ledger-session.ts';
import { readInput } from '../read-input.ts';

const REQUEST_BYTES_MAX = 1_048_576;

export async function run(call: Call, file: string): Promise<number> {
  const text = await readInput(call, file);
  return answering(() => withLedger(call, (session) => request(session, text), { begins: true }));
}

async function request({ call, workspace, door, log, actor }: LedgerSession, text: string): Promise<Verdict> {
  const parsed = parseJsonText(text, { maxBytes: REQUEST_BYTES_MAX });
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
  const key = openSealKey(call.env);
  if ('allow' in key) return key;
  const {
    name: requester,
    from,
    handed,
  } = await requesterOf(call.env, workspace.stateDir, (id) => door.cast(id), actor);
  const cwd = isText(asked.x_cwd) ? asked.x_cwd : call.cwd;
  const ground = groundAt(workRoot(cwd, workspace), cwd, call.env.HOME);
  const sealed = sealRequest(asked, {
    requester,
    cwd: call.cwd,
    env: call.env,
    handed,
    policy,
    key,
    now: Date.now(),
    ground,
    log: logIdentity(workspace.stateDir),
  });
  const gone = goneFrom(Object.values(await approvalsIn(log)));
  return door.submit({ kind: 'approval.request', sealed, from, gone }, actor.name);
}
