// `baton approvals`: what waits for a person or was granted and not used, and the way for an agent to ask.

import { approvalView, linesOf } from '../../approvals/approval-view.ts';
import { groundAt, rootFor } from '../../approvals/ground.ts';
import { logIdentity } from '../../approvals/log-identity.ts';
import { approvalsIn, runningIn } from '../../approvals/open-approvals.ts';
import { readPolicy } from '../../approvals/policy-file.ts';
import { requesterOf } from '../../approvals/requester.ts';
import { openSealKey } from '../../approvals/seal-key.ts';
import { sealRequest } from '../../approvals/seal-request.ts';
import { parseJsonText } from '../../dialects/json-text.ts';
import { isObject, isText } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { again, type Call, EXIT, out, outJson, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { answering, type LedgerSession, withLedger } from '../ledger-session.ts';
import { readInput } from '../read-input.ts';
import { person } from '../session.ts';
import { hasLog } from '../state-folder.ts';

const REQUEST_BYTES_MAX = 1_048_576;

export async function run(call: Call): Promise<number> {
  const [verb, file] = call.words;
  if (verb === undefined) return list(call);
  if (verb !== 'request' || file === undefined)
    throw new UsageError('say: baton approvals, or: baton approvals request FILE');
  const text = await readInput(call, file);
  return answering(() => withLedger(call, (session) => request(session, text), { begins: true }));
}

async function list(call: Call): Promise<number> {
  const now = Date.now();
  const open = hasLog(workspaceOf(call))
    ? // Whoever looks notes nothing down, not even what is over.
      await withLedger(call, ({ log }) => approvalsIn(log))
    : {};
  const views = Object.values(open)
    .toSorted((a, b) => a.since - b.since)
    .map((approval) => approvalView(approval, now, runningIn(approval)));
  if (call.json) outJson(views);
  else if (views.length === 0) out('Nothing waits for a person, and nothing that was approved is left.');
  else for (const view of views) for (const line of linesOf(view, again(call))) out(line);
  return EXIT.ok;
}

/** What an `approval_request` asks for is sealed as whoever calls, and waits from then on. */
async function request({ call, workspace, door }: LedgerSession, text: string): Promise<Verdict> {
  const parsed = parseJsonText(text, { maxBytes: REQUEST_BYTES_MAX });
  if (!parsed.ok || !isObject(parsed.value)) {
    return deny(
      'BAD_USAGE',
      'the request must be one JSON object: {"operation", "exact_content", "scope", "risk_level", "rollback", "verification"}',
    );
  }
  const policy = readPolicy(workspace.configFile);
  if ('allow' in policy) return policy;
  const key = openSealKey(call.env);
  if ('allow' in key) return key;
  const asked = parsed.value;
  const { name: requester, from } = await requesterOf(call.env, workspace.stateDir, (id) => door.cast(id));
  const cwd = isText(asked.x_cwd) ? asked.x_cwd : call.cwd;
  const ground = groundAt(rootFor(cwd, workspace.dir, workspace.stateDir), cwd, call.env.HOME);
  const sealed = sealRequest(asked, {
    requester,
    cwd: call.cwd,
    env: call.env,
    policy,
    key,
    now: Date.now(),
    ground,
    log: logIdentity(workspace.stateDir),
  });
  return door.submit({ kind: 'approval.request', sealed, from }, person());
}
