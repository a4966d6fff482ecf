// The one place where a request to the ledger becomes facts and a verdict.
import type { Verdict } from '../verdict.ts';
import { claim, claimNext } from './claim.ts';
import { configureLedger } from './configure.ts';
import { createTask } from './create.ts';
import { applyDeltas } from './deltas.ts';
import { finishTask } from './finish.ts';
import { hearTask } from './heartbeat.ts';
import { holdLedger, unholdLedger } from './hold.ts';
import { linkLedger } from './links.ts';
import { expireTask, moveTask } from './move.ts';
import { type LedgerPen, refuse } from './pen.ts';
import type { LedgerRequest } from './request.ts';
import { addWorklog } from './worklog.ts';

export function decideLedger(pen: LedgerPen, request: LedgerRequest): Verdict {
  switch (request.kind) {
    case 'task.create':
      return createTask(pen, request);
    case 'task.claim':
      return claim(pen, request);
    case 'task.next':
      return claimNext(pen, request);
    case 'task.finish':
      return finishTask(pen, request);
    case 'task.move':
      return moveTask(pen, request);
    case 'task.expire':
      return expireTask(pen, request);
    case 'task.heartbeat':
      return hearTask(pen, request);
    case 'task.refuse':
      return refuse(pen, request.asked, request, request.refusal);
    case 'deltas.apply':
      return applyDeltas(pen, request);
    case 'worklog.add':
      return addWorklog(pen, request);
    case 'ledger.configure':
      return configureLedger(pen, request);
    case 'ledger.link':
      return linkLedger(pen, request);
    case 'ledger.hold':
      return holdLedger(pen, request);
    case 'ledger.unhold':
      return unholdLedger(pen, request);
  }
}
