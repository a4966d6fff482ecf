// From a report and the way an attempt ended to what the engine is told.
import type { AttemptResult } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentNote, Usage } from '../kernel/cast/state.ts';
import type { AgentMateria } from '../kernel/graph/config.ts';
import { type AgentFault, waitInWords, withoutTrace } from './fault.ts';
import { estimated } from './prices.ts';
import { type AgentReport, addUsage, soundUsage, usageSince } from './report.ts';

export type Settled = {
  readonly packet: Packet;
  readonly report: AgentReport;
  readonly warnings: readonly string[];
  /** The end of what the program wrote in addition to its answer. */
  readonly stderr?: string;
  /** How often the attempt asked its provider in all. */
  readonly tries?: number;
  /** What runs of the same attempt used before this one; null where there were none, or they did not tell. */
  readonly spent?: Usage | null;
};

export function outputResult(settled: Settled): AttemptResult {
  const { packet, report } = settled;
  const output = bounded(report.text, packet.maxOutputBytes);
  return { kind: 'output', output, ...noteOfAttempt(settled), ...(report.isCut ? { cutShort: true } : {}) };
}

export function faultResult(fault: AgentFault, settled: Settled): AttemptResult {
  const { code, reason, retryAfterMs } = fault;
  const wait = retryAfterMs === undefined ? '' : `; it asks to wait ${waitInWords(retryAfterMs)}`;
  return {
    kind: 'fault',
    fault: fault.fault,
    reason: `${code}: ${reason}${wait}`,
    code,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...noteOfAttempt(settled),
    ...lastWords(settled),
    ...((settled.tries ?? 1) > 1 ? { tries: settled.tries } : {}),
  };
}

/** More than this is not looked through for secrets; the log keeps less. */
const SAID_CHARS_MAX = 16_000;

/** What the agent said before it failed; else what its program wrote. An error of the provider is in the reason. */
function lastWords({ report, stderr = '' }: Settled): { readonly said?: string } {
  return endOfWords(report.text.trim() || (report.error ? '' : withoutTrace(stderr)));
}

export function endOfWords(text: string): { readonly said?: string } {
  const words = text.trim();
  return words === '' ? {} : { said: words.slice(-SAID_CHARS_MAX) };
}

/** Cut off before its end. What it had told by then of what it used counts all the same. */
export function lostResult(reason: string, settled: Settled): Extract<AttemptResult, { kind: 'lost' }> {
  const { agent, usage } = noteOfAttempt(settled);
  return { kind: 'lost', mayHaveRun: true, reason, ...(usage ? { agent, usage } : {}) };
}

/** What a run used, by its own report. One that tells the whole conversation tells what came before it, too. */
export function usedBy(
  { session }: Pick<Packet, 'session'>,
  { usage, usageIsOfSession }: Pick<AgentReport, 'usage' | 'usageIsOfSession'>,
): Usage | null {
  const before = session?.usage;
  return usage !== null && usageIsOfSession && before ? usageSince(usage, before) : usage;
}

function noteOfAttempt(settled: Settled): { agent: AgentNote; usage?: Usage } {
  const { packet } = settled;
  const { usageIsOfSession, sessionId, model, denials, commands } = settled.report;
  const { usage, doubts } = soundUsage(settled.report.usage);
  const { usage: spent, doubts: before } = soundUsage(settled.spent ?? null);
  const warnings = [...settled.warnings, ...new Set([...before, ...doubts])];
  const total = usage !== null && usageIsOfSession ? { usage } : {};
  const { runner, model: asked } = packet.materia as AgentMateria;
  const last = usedBy(packet, { usage, usageIsOfSession });
  const used = last === null ? spent : addUsage(spent, last);
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
