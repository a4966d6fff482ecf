// A person's yes or no to what an agent asks for; then the cast that was waiting for it is carried on.

import { hasLog } from '../app/state-folder.ts';
import { approvalNamed, approvalsIn, goneFrom } from '../approvals/open-approvals.ts';
import { sealDecision } from '../approvals/seal-decision.ts';
import { openSealKey } from '../approvals/seal-key.ts';
import type { Door } from '../engine/door.ts';
import type { ApprovalRequest } from '../kernel/approval/request.ts';
import type { Approval } from '../kernel/approval/state.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { type Call, EXIT, out, outJson, Refused } from './command.ts';
import { driveAndShow, withDriver } from './driving.ts';
import { workspaceOf } from './find-workspace.ts';
import { withLedger } from './ledger-session.ts';
import { whyNotPerson } from './refuse-agents.ts';
import { sayingTo } from './say-to-cast.ts';
import { person } from './session.ts';

type Choice = Pick<Extract<ApprovalRequest, { kind: 'approval.decide' }>, 'choice' | 'reason' | 'again'>;

export async function settleApproval(call: Call, choice: Choice): Promise<number> {
  const [word = ''] = call.words;
  const workspace = workspaceOf(call);
  if (!hasLog(workspace))
    throw new Refused(deny('UNKNOWN_APPROVAL', `there is no approval ${word} in ${workspace.dir}`));
  const settled = await withLedger(call, async ({ log, door }): Promise<Verdict | Approval> => {
    const found = approvalNamed(await approvalsIn(log), word);
    const why = whyNotPerson(call, 'allow' in found ? null : (found.from?.cast ?? null));
    const isAgent = why !== null;
    if (!('allow' in found) && !isAgent && (await waitsFor(door, found))) return found;
    const id = 'allow' in found ? word.slice(0, 64) : found.id;
    const gone = 'allow' in found ? [] : goneFrom([found]);
    const sealing = 'allow' in found || isAgent ? {} : sealingFor(call, found, { ...choice, gone });
    if ('allow' in sealing) return sealing;
    const verdict = await door.submit({ kind: 'approval.decide', id, ...choice, isAgent, gone, ...sealing }, person());
    if (verdict.code === 'APPROVER_IS_AGENT')
      return { ...verdict, reason: `only a person may ${choice.choice} what an agent asks for; ${why}` };
    return verdict.code === 'UNKNOWN_APPROVAL' && 'allow' in found ? found : verdict;
  });
  if ('allow' in settled) return told(call, settled);
  return withDriver(workspace, async (door) => {
    const { id, from } = settled;
    const gone = goneFrom([settled]);
    const sealing = sealingFor(call, settled, { ...choice, gone });
    if ('allow' in sealing) return told(call, sealing);
    const input = { kind: 'approval.decide', id, ...choice, isAgent: false, gone, ...sealing } as const;
    const decide = () => door.submit(input, person());
    const cast = from?.cast ?? '';
    // Whoever drives the cast goes on by itself as soon as the decision is in the log.
    if (await door.driverOf(cast)) return told(call, await decide());
    const saying = sayingTo(door, cast, () => true);
    const begin = async (say: (line: string) => void) => {
      const verdict = await saying.say(decide);
      if (verdict.allow) say(verdict.reason);
    };
    return driveAndShow(call, workspace, door, cast, { begin, refused: saying.refused });
  });
}

/** The seal of the decision. A no is not kept back by a key that cannot be used. */
function sealingFor(call: Call, approval: Approval, choice: Parameters<typeof sealDecision>[1]) {
  const key = openSealKey(call.env);
  if ('allow' in key) return choice.choice === 'reject' ? {} : key;
  return sealDecision(approval, choice, { by: person(), now: Date.now(), key });
}

/** Whether a cast stands still for this very approval. */
async function waitsFor(door: Door, { id, from }: Approval): Promise<boolean> {
  const cast = from ? await door.cast(from.cast) : null;
  return cast?.status === 'waiting' && cast.turns[from?.turn ?? 0]?.asks?.approval === id;
}

function told(call: Call, verdict: Verdict): number {
  if (!verdict.allow) throw new Refused(verdict);
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}
