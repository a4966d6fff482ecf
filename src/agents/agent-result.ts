// From a report and the way an attempt ended to what the engine is told.
import type { AttemptResult } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentNote } from '../kernel/fact.ts';
import type { AgentMateria } from '../kernel/graph/config.ts';
import type { Usage } from '../kernel/state.ts';
import type { AgentFault } from './fault.ts';
import { estimated } from './prices.ts';
import { type AgentReport, usageSince } from './report.ts';

type Settled = {
  readonly packet: Packet;
  readonly report: AgentReport;
  readonly warnings: readonly string[];
};

export function answered(settled: Settled): AttemptResult {
  const { packet, report } = settled;
  return { kind: 'output', output: bounded(report.text, packet.maxOutputBytes), ...told(settled) };
}

export function failed(fault: AgentFault, settled: Settled): AttemptResult {
  const { code, reason, retryAfterMs } = fault;
  return {
    kind: 'fault',
    fault: fault.fault,
    reason: `${code}: ${reason}`,
    code,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...told(settled),
  };
}

function told({ packet, report, warnings }: Settled): { agent: AgentNote; usage?: Usage } {
  const { usage, usageIsOfSession, sessionId, model, denials, commands } = report;
  const before = packet.session?.usage;
  const total = usage !== null && usageIsOfSession ? { usage } : {};
  const { runner, model: asked } = packet.materia as AgentMateria;
  const used = usage !== null && usageIsOfSession && before ? usageSince(usage, before) : usage;
  const own = used && estimated(used, model ?? asked ?? null, packet.prices);
  const agent = {
    runner,
    ...(sessionId === null ? {} : { session: { runner, id: sessionId, ...total } }),
    ...(model === null ? {} : { model }),
    // Nothing that was used is free: no price means that none was told, and none is known.
    ...(own !== null && isUnpriced(own) ? { unpriced: true } : {}),
    ...(denials.length > 0 ? { denials } : {}),
    // That none was run is worth knowing too: a report may name some.
    ...(commands === null ? {} : { commands }),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  return { agent, ...(own === null ? {} : { usage: own }) };
}

/** A price of nothing that somebody wrote down is a price. */
function isUnpriced({ input, output, cost, estimated: isEstimate }: Usage): boolean {
  return cost === 0 && !isEstimate && input + output > 0;
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
