// Reports of an agent that is not finished: it goes on, asks a person, or wants permission. The turn stays open, and nothing
// is handed on. What a valid report adds for the team is taken here too.
import { requestApproval } from '../approval/decide.ts';
import { requestText } from '../approval/difference.ts';
import { leftOutOf, type SealedRequest } from '../approval/request.ts';
import { noteUnknown, outcomeUnknown } from '../approval/settle.ts';
import { type Approval, approvalOf, unsettledUses } from '../approval/state.ts';
import type { Handoff } from '../dialect.ts';
import { stepOf, type Unfinished } from '../gate/before-accept.ts';
import type { Seen } from '../gate/changes.ts';
import { isObject, isString } from '../json.ts';
import { type Artifacts, artifactsNamed } from '../knowledge/entries.ts';
import { suggestMemory } from '../knowledge/memory.ts';
import { writeSections } from '../knowledge/write.ts';
import { boundWarnings, reportNote } from '../report/consolidation.ts';
import { statusOf } from '../report/status.ts';
import type { Pen } from '../state.ts';
import { allow, type Verdict } from '../verdict.ts';
import type { Touched } from './fact.ts';
import { agentIdOfTurn, isConversing, materiaOf, reportsStatus, scriptedTurn, scriptKey } from './rules.ts';
import type { Answered, Cast, Turn } from './state.ts';

export function takeReport(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  answered: Answered,
  outcome: Unfinished,
  seen: Seen & { readonly touched?: Touched },
): Verdict {
  const { output, handoff, usage, agent, scrubbed } = answered;
  const { progress } = stepOf(cast, turn, handoff);
  const where = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const asked = seen.approval ? requestApproval(pen, seen.approval, where) : null;
  const approval = asked?.id;
  // What a person is asked is what was sealed: a report may call it whatever it likes.
  const sealed = approvalOf(pen.state.approvals, approval ?? '')?.sealed ?? seen.approval;
  pen.write({
    kind: 'turn.reported',
    ...where,
    outcome,
    output,
    payload: handoff.payload,
    note: sealed ? requestText(asked?.status === 'unknown' ? begunOf(pen, sealed) : sealed) : (handoff.note ?? ''),
    usage,
    progress,
    ...(approval === undefined ? {} : { approval }),
    // A command of unknown end is over when a person says so, and not by time.
    ...(sealed && asked?.status !== 'unknown' ? { until: sealed.expiresAt } : {}),
    ...(scrubbed.length > 0 ? { scrubbed } : {}),
    ...(seen.touched ? { touched: seen.touched } : {}),
    ...(agent ? { agent } : {}),
  });
  learn(pen, cast, turn, handoff, seen.artifacts, leftOutOf(seen.approval ?? {}));
  if (outcome === 'ask') answerFromScript(pen, cast, turn);
  return allow(`turn ${turn.id} reported ${statusOf(outcome)}`);
}

/** Its report is not taken, and the turn waits until a person, or the end of the command itself, has settled that. */
export function waitForOutcome(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  { output, handoff, usage, agent, scrubbed }: Answered,
  { touched }: { readonly touched?: Touched },
  approval: Approval,
): Verdict {
  const { id, sealed } = approval;
  noteUnknown(pen, approval, unsettledUses(approval));
  pen.write({
    kind: 'turn.reported',
    ...{ cast: cast.id, turn: turn.id, attempt: turn.attempt },
    ...{ outcome: 'approval', output, payload: handoff.payload, note: requestText(begunOf(pen, sealed)), usage },
    progress: { status: 'APPROVAL_REQUEST', inProgressCount: 0 },
    approval: id,
    ...(scrubbed.length > 0 ? { scrubbed } : {}),
    ...(touched ? { touched } : {}),
    ...(agent ? { agent } : {}),
  });
  return outcomeUnknown(id, { turn: turn.id });
}

/** Of a list only what began: about the rest there is nothing to find out. */
function begunOf({ state }: Pen, sealed: SealedRequest): SealedRequest {
  const approval = approvalOf(state.approvals, sealed.id);
  const uses = approval ? unsettledUses(approval) : [];
  return { ...sealed, commands: sealed.commands.filter((_, index) => uses.includes(index)) };
}

/** Takes what a report adds for the team: sections to write, what to remember, and the state of the goal. */
export function learn(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  { payload, outcome }: Handoff,
  artifacts: Artifacts = {},
  besides: readonly string[] = [],
): void {
  if (!reportsStatus(cast, turn.socket) || !isObject(payload)) return;
  const { id: agent } = materiaOf(cast, turn.socket);
  const agentId = agentIdOfTurn(cast, turn);
  const who = { agent, agentId, cast: cast.id, turn: turn.id };
  const written = writeSections(pen, payload.update_contracts, {
    ...who,
    ...{ writable: writableIn(turn), attempt: turn.attempt, artifacts },
  });
  const kept = suggestMemory(pen, payload, who);
  const warnings = boundWarnings([
    ...besides,
    ...written.warnings.map(({ path, message }) => `${path}: ${message}`),
    ...kept.warnings,
  ]);
  const reporter = { socket: turn.socket, agent, agentId, item: turn.item?.key ?? null };
  pen.write({
    kind: 'report.noted',
    cast: cast.id,
    turn: turn.id,
    note: reportNote(payload, statusOf(outcome), reporter),
    ...(warnings.length > 0 ? { warnings } : {}),
  });
}

/** The files that a report names as evidence: they are looked at before it is taken. */
export function artifactsOf(cast: Cast, { socket }: Pick<Turn, 'socket'>, { payload }: Handoff): readonly string[] {
  return reportsStatus(cast, socket) && isObject(payload) ? artifactsNamed(payload) : [];
}

/** The sections that the INPUT of this turn lists as writable. */
function writableIn({ input }: Turn): readonly string[] {
  const permissions = input?.write_permissions;
  const sections = isObject(permissions) ? permissions.writable_sections : undefined;
  return Array.isArray(sections) ? sections.filter(isString) : [];
}

/** In a cast without people the script says what a person would. */
function answerFromScript(pen: Pen, cast: Cast, turn: Turn): void {
  const key = scriptKey(cast, turn.socket);
  if (key === null) return;
  const next = scriptedTurn(cast, { key, index: cast.scripted[key] ?? 0 });
  const text = isObject(next) && isString(next.$answer) ? next.$answer : next === '$continue' ? GO_ON : null;
  if (text === null) return;
  if (next === '$continue' && isConversing(cast, turn)) return closeConversation(pen, cast, turn, key);
  pen.write({ kind: 'turn.answered', cast: cast.id, turn: turn.id, from: 'person', text, script: key });
}

const GO_ON = 'Go on as you think best.';

/** The agent is asked for what it hands on, in the format of its socket. */
export function closeConversation(pen: Pen, cast: Cast, turn: Turn, script?: string): void {
  const words = { from: 'runtime', text: CONVERSATION_OVER, finalizes: true } as const;
  pen.write({ kind: 'turn.answered', cast: cast.id, turn: turn.id, ...words, ...(script ? { script } : {}) });
}

const CONVERSATION_OVER =
  'The conversation is over. Give your final answer now: what was agreed, in the form that is asked for below.';
