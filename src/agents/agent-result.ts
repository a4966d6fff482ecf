// From a report and the way an attempt ended to what the engine is told.
import type { AttemptResult } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Usage } from '../kernel/state.ts';
import type { Session } from './agent-call.ts';
import type { AgentFault, FaultCode } from './fault.ts';
import { type AgentReport, usageSince } from './report.ts';

/** What is known beyond the engine's own words; it takes what it has a place for. */
export type Known = {
  readonly code?: FaultCode;
  readonly retryAfterMs?: number;
  /** The model that really answered. */
  readonly model?: string;
  /** With which a repair turn continues the conversation. */
  readonly session?: Session;
  readonly denials?: readonly string[];
  readonly warnings?: readonly string[];
};

export type AgentResult = AttemptResult & Known;

type Settled = {
  readonly packet: Packet;
  readonly report: AgentReport;
  readonly before: Session | null;
  readonly warnings: readonly string[];
};

export function answered({ packet, report, before, warnings }: Settled): AgentResult {
  return { kind: 'output', output: bounded(report.text, packet.maxOutputBytes), ...known(report, before, warnings) };
}

export function failed(fault: AgentFault, { report, before, warnings }: Settled): AgentResult {
  const { code, reason, retryAfterMs } = fault;
  return {
    kind: 'fault',
    fault: fault.fault,
    reason: `${code}: ${reason}`,
    code,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...known(report, before, warnings),
  };
}

function known(report: AgentReport, before: Session | null, warnings: readonly string[]): Known & { usage?: Usage } {
  const { usage, usageIsOfSession, sessionId, model, denials } = report;
  const total = usage !== null && usageIsOfSession ? { usage } : {};
  const own = usage !== null && usageIsOfSession && before?.usage ? usageSince(usage, before.usage) : usage;
  return {
    ...(own === null ? {} : { usage: own }),
    ...(sessionId === null ? {} : { session: { id: sessionId, ...total } }),
    ...(model === null ? {} : { model }),
    ...(denials.length > 0 ? { denials } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

/**
 * A text that is longer than allowed keeps one character more than that: enough to be refused as too long, and never to
 * be taken for the whole of a shorter answer.
 */
function bounded(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax + 1;
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1;
  return bytes.toString('utf8', 0, end);
}
