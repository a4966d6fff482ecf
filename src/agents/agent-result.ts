// Turns a report and the end of an attempt into the result for the engine. The second half estimates the cost for agents that report
// tokens and no price. Its table is never quite right, so the result is marked as an estimate, and prices in the configuration win.
import type { AttemptResult } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentNote, Usage } from '../kernel/cast/state.ts';
import type { AgentMateria, Price } from '../kernel/graph/config.ts';
import { type AgentFault, waitInWords, withoutTrace } from './fault.ts';
import { type AgentReport, addUsage, soundUsage, usageSince } from './report.ts';

export type Settled = {
  readonly packet: Packet;
  readonly report: AgentReport;
  readonly warnings: readonly string[];
  /** The end of what the program wrote in addition to its answer. */
  readonly stderr?: string;
  /** How often the attempt asked its provider in all. */
  readonly tries?: number;
  /** The usage of earlier runs of the same attempt. Null if there were none, or if they did not report it. */
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
    ...lastOutputOf(settled),
    ...((settled.tries ?? 1) > 1 ? { tries: settled.tries } : {}),
  };
}

/** The longest text that is searched for secrets. The log keeps less. */
const LAST_OUTPUT_CHARS_MAX = 16_000;

/** The last output of the agent before it failed, else of its program. An error of the provider is in the reason. */
function lastOutputOf({ report, stderr = '' }: Settled): { readonly said?: string } {
  return lastOutput(report.text.trim() || (report.error ? '' : withoutTrace(stderr)));
}

export function lastOutput(text: string): { readonly said?: string } {
  const words = text.trim();
  return words === '' ? {} : { said: words.slice(-LAST_OUTPUT_CHARS_MAX) };
}

/** The attempt was interrupted. The usage that it reported until then still counts. */
export function lostResult(reason: string, settled: Settled): Extract<AttemptResult, { kind: 'lost' }> {
  const { agent, usage } = noteOfAttempt(settled);
  return { kind: 'lost', mayHaveRun: true, reason, agent, ...(usage ? { usage } : {}) };
}

/** The usage of a run. Some programs report the whole conversation, so its earlier usage is subtracted. */
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
    // Usage is never free: no cost means that no price was reported and none is known.
    ...(own !== null && isUnpriced(own) ? { unpriced: true } : {}),
    ...(denials.length > 0 ? { denials } : {}),
    // An empty list is kept, too, because a report may claim commands.
    ...(commands === null ? {} : { commands }),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  return { agent, ...(own === null ? {} : { usage: own }) };
}

/** A configured price of zero is a price. */
function isUnpriced({ input, output, cost, estimated: isEstimate }: Usage): boolean {
  return cost === 0 && !isEstimate && input + output > 0;
}

/**
 * Keeps one character more than allowed of a longer text, so that it is refused as too long and never counts as a complete shorter
 * answer.
 */
function bounded(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax + 1;
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1;
  return bytes.toString('utf8', 0, end);
}

/** When the table was last compared with the published prices. */
export const PRICES_CHECKED = '2026-11-16';

const price = (input: number, output: number, cached: number): Price => ({ input, output, cached });

/** Dollars for a million tokens, by the beginning of a model's name. The longest beginning that fits counts. */
export const PRICES: Readonly<Record<string, Price>> = {
  'claude-fable-5': price(10, 50, 1),
  'claude-fable-5-1': price(10, 50, 0.25),
  'claude-opus-4': price(15, 75, 1.5),
  'claude-opus-4-5': price(5, 25, 0.5),
  'claude-opus-4-6': price(5, 25, 0.5),
  'claude-opus-4-7': price(5, 25, 0.5),
  'claude-opus-4-8': price(5, 25, 0.5),
  'claude-opus-5': price(5, 25, 0.5),
  'claude-opus-5-5': price(4, 20, 0.2),
  'claude-sonnet-4': price(3, 15, 0.3),
  'claude-sonnet-5': price(2, 10, 0.2),
  'claude-haiku-4': price(1, 5, 0.1),
  'claude-3-5-haiku': price(0.8, 4, 0.08),
  'gpt-4.1': price(2, 8, 0.5),
  'gpt-4.1-mini': price(0.4, 1.6, 0.1),
  'gpt-4.1-nano': price(0.1, 0.4, 0.025),
  'gpt-4o': price(2.5, 10, 1.25),
  'gpt-4o-mini': price(0.15, 0.6, 0.075),
  'gpt-5': price(1.25, 10, 0.125),
  'gpt-5-mini': price(0.25, 2, 0.025),
  'gpt-5-nano': price(0.05, 0.4, 0.005),
  'gpt-5-pro': price(15, 120, 15),
  'gpt-5.1': price(1.25, 10, 0.125),
  'gpt-5.2': price(1.75, 14, 0.175),
  'gpt-5.2-pro': price(21, 168, 21),
  'gpt-5.3': price(1.75, 14, 0.175),
  'gpt-5.4': price(2.5, 15, 0.25),
  'gpt-5.4-mini': price(0.75, 4.5, 0.075),
  'gpt-5.4-nano': price(0.2, 1.25, 0.02),
  'gpt-5.4-pro': price(30, 180, 30),
  'gpt-5.5': price(5, 30, 0.5),
  'gpt-5.5-pro': price(30, 180, 30),
  'gpt-5.6-luna': price(0.2, 1.2, 0.02),
  'gpt-5.6-sol': price(4, 20, 0.4),
  'gpt-5.6-terra': price(2, 12, 0.2),
  'gpt-6-astra': price(10, 50, 1),
  'gpt-6-luna': price(0.1, 0.5, 0.01),
  'gpt-6-sol': price(2, 10, 0.2),
  o3: price(2, 8, 0.5),
  'o3-mini': price(1.1, 4.4, 0.55),
  'o3-pro': price(20, 80, 20),
  'o4-mini': price(1.1, 4.4, 0.275),
  'gemini-2.5-flash': price(0.3, 2.5, 0.03),
  'gemini-2.5-flash-lite': price(0.1, 0.4, 0.01),
  'gemini-2.5-pro': price(1.25, 10, 0.125),
  'gemini-3.1-pro': price(2, 12, 0.2),
  'gemini-3.1-flash-lite': price(0.25, 1.5, 0.025),
  'gemini-3.5-flash': price(1.5, 9, 0.15),
  'gemini-3.5-flash-lite': price(0.3, 2.5, 0.03),
};

type Prices = Readonly<Record<string, Price>>;

/** The price of a model, or null where none is known. A provider before the name (`openai/gpt-5`) is ignored. */
export function priceOf(model: string | null, own: Prices = {}): Price | null {
  if (model === null) return null;
  const names = [model, model.slice(model.lastIndexOf('/') + 1)];
  return longest(own, names) ?? longest(PRICES, names);
}

/** The usage with its estimated cost. Usage with a cost, or of a model without a price, stays unchanged. */
export function estimated(usage: Usage, model: string | null, own?: Prices): Usage {
  if (usage.cost > 0 || usage.input + usage.output === 0) return usage;
  const found = priceOf(model, own);
  return found === null ? usage : { ...usage, cost: costOf(usage, found), estimated: true };
}

function costOf(
  { input, output, cached = 0 }: Usage,
  { input: perInput, output: perOutput, cached: perCached = perInput }: Price,
): number {
  const read = Math.min(cached, input);
  return ((input - read) * perInput + read * perCached + output * perOutput) / 1_000_000;
}

function longest(prices: Prices, names: readonly string[]): Price | null {
  let found = '';
  for (const start of Object.keys(prices)) {
    if (start.length > found.length && names.some((name) => isOfFamily(name, start))) found = start;
  }
  return found === '' ? null : (prices[found] ?? null);
}

/** A family ends where its name does or where a new part begins: `o3` is no part of `o30`, nor `gpt-5` of `gpt-5.9`. */
function isOfFamily(model: string, start: string): boolean {
  return model.startsWith(start) && /^(?:$|[-:@])/.test(model.slice(start.length));
}
