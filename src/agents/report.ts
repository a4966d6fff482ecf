// What an agent's event stream adds up to: the last answer, the usage, and the error. Readers build it event by event, so a broken
// stream still leaves what was known.
import type { Usage } from '../kernel/cast/state.ts';
import { isObject, type Json, type JsonObject, stringAt } from '../kernel/json.ts';

export type AgentReport = {
  /** The agent's final answer, without earlier messages. */
  readonly text: string;
  /** It reported a successful end. Null for programs that show it only by their exit code. */
  readonly isFinished: boolean | null;
  /** Its provider ended the answer before it was whole: at the model's limit of length, or at a filter. */
  readonly isCut: boolean;
  /** Its usage as reported so far. The report at its end replaces it. */
  readonly usage: Usage | null;
  /** By speaker, the usage of the current message: a part of `usage` that may still grow. */
  readonly underway: Readonly<Record<string, Underway>>;
  /** Whether `usage` covers the whole conversation and not only this turn. */
  readonly usageIsOfSession: boolean;
  readonly sessionId: string | null;
  /** The model that really answered. */
  readonly model: string | null;
  /** The names of the tools it called, in order. */
  readonly toolCalls: readonly string[];
  /** The names of the tools it was refused. */
  readonly denials: readonly string[];
  /** The shell commands it ran, in order. Null for programs that do not report them. */
  readonly commands: readonly string[] | null;
  /** By the id of its call, which of them may still turn out to have been refused. */
  readonly called: Readonly<Record<string, string>>;
  readonly error: AgentError | null;
  /** How often it reported a repeated request to its provider. */
  readonly retries: number;
  /** Tool calls that have begun and not ended. While there are any, the program does not wait for its model. */
  readonly openCalls: number;
};

type Underway = { readonly message: string; readonly usage: Usage };

export type AgentError = {
  readonly message: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
};

/** More names than this are not kept: a runaway agent must not fill our memory. */
const NAMES_MAX = 10_000;

export const EMPTY_REPORT: AgentReport = {
  text: '',
  isFinished: false,
  isCut: false,
  usage: null,
  underway: {},
  usageIsOfSession: false,
  sessionId: null,
  model: null,
  toolCalls: [],
  denials: [],
  commands: [],
  called: {},
  error: null,
  retries: 0,
  openCalls: 0,
};

export function addName(names: readonly string[], name: string): readonly string[] {
  return names.length < NAMES_MAX ? [...names, name] : names;
}

const COMMANDS_MAX = 1_000;
/** Enough of a command to recognize it. */
const COMMAND_CHARS_MAX = 10_000;
/** More simultaneous calls are not distinguished. */
const CALLED_MAX = 100;

/** The report with one more command, if it is a text. `call` is the id of its result. */
export function withCommand(report: AgentReport, command: Json | undefined, call: string | null = null): AgentReport {
  const { commands, called } = report;
  if (typeof command !== 'string' || commands === null || commands.length >= COMMANDS_MAX) return report;
  const text = command.slice(0, COMMAND_CHARS_MAX);
  const kept = Object.entries(called).slice(1 - CALLED_MAX);
  return {
    ...report,
    commands: [...commands, text],
    called: call === null ? called : { ...Object.fromEntries(kept), [call]: text },
  };
}

/** The report without the command of a call that was refused, so that it never ran. */
export function withoutCommand(report: AgentReport, call: string | null): AgentReport {
  const { commands, called } = report;
  const command = call === null ? undefined : called[call];
  const at = command === undefined ? -1 : (commands?.lastIndexOf(command) ?? -1);
  return at === -1 ? report : { ...withOutcome(report, call), commands: commands?.toSpliced(at, 1) ?? null };
}

/** The report once it is known how a call went. */
export function withOutcome(report: AgentReport, call: string | null): AgentReport {
  if (call === null || report.called[call] === undefined) return report;
  const { [call]: _known, ...called } = report.called;
  return { ...report, called };
}

/** Numbers of a foreign report: what is no amount counts as nothing. */
export function amount(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/**
 * A usage figure. A missing figure is 0. A reported figure that is no amount stays invalid, also in every sum.
 */
export function figure(value: Json | undefined): number {
  if (value === undefined || value === null) return 0;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : Number.NaN;
}

export function addUsage(one: Usage | null, other: Usage): Usage {
  if (!one) return other;
  const sum = { input: one.input + other.input, output: one.output + other.output, cost: one.cost + other.cost };
  return { ...sum, ...ofWhichCached((one.cached ?? 0) + (other.cached ?? 0)) };
}

/** The number of simultaneous speakers. Beyond it, the first ones count as finished. */
const SPEAKERS_MAX = 100;

/** The report with the usage of a message so far. A message reports it several times and counts once. */
export function withMessageUsage(report: AgentReport, speaker: string, message: string, told: Usage): AgentReport {
  const { [speaker]: known, ...others } = report.underway;
  const before = known?.message === message ? known.usage : null;
  const usage = before === null ? told : atLeast(before, told);
  const added = before === null ? usage : usageSince(usage, before);
  const kept = Object.entries(others).slice(1 - SPEAKERS_MAX);
  return {
    ...report,
    usage: addUsage(report.usage, added),
    underway: { ...Object.fromEntries(kept), [speaker]: { message, usage } },
  };
}

/** Of two reports of the same, what the fuller one says of each figure. */
function atLeast(one: Usage, other: Usage): Usage {
  return {
    input: Math.max(one.input, other.input),
    output: Math.max(one.output, other.output),
    cost: Math.max(one.cost, other.cost),
    ...ofWhichCached(Math.max(one.cached ?? 0, other.cached ?? 0)),
  };
}

/** What a turn used when its program reports the whole conversation; never less than nothing. */
export function usageSince(total: Usage, before: Usage): Usage {
  const rest = (now: number, then: number) => Math.max(0, now - then);
  return {
    input: rest(total.input, before.input),
    output: rest(total.output, before.output),
    cost: rest(total.cost, before.cost),
    ...ofWhichCached(rest(total.cached ?? 0, before.cached ?? 0)),
  };
}

/** Only present if there is any. */
export function ofWhichCached(cached: number): Pick<Usage, 'cached'> {
  return cached === 0 ? {} : { cached };
}

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The text parts of a message, joined as they are. */
export function textIn(content: Json | undefined): string {
  return objectsIn(content)
    .filter(({ type }) => type === 'text' || type === 'output_text')
    .map((part) => stringAt(part, 'text') ?? '')
    .join('');
}

// The usage that a provider or program reports, checked: whole tokens, nothing negative, nothing beyond all bounds. An impossible
// figure counts as 0 and gives a warning. The others count.

/** More tokens, or a higher price, than any attempt can use. */
const TOKENS_MAX = 1e12;
const COST_MAX = 1e9;

export function soundUsage(usage: Usage | null): { readonly usage: Usage | null; readonly doubts: readonly string[] } {
  if (usage === null) return { usage, doubts: [] };
  const doubts: string[] = [];
  const sound = (what: string, value: number, isSound: boolean) => {
    if (isSound) return value;
    // What is no amount at all has lost its words by now.
    const amount = Number.isNaN(value) ? `${what} that are no number` : `${value} ${what}`;
    doubts.push(`it reported a use of ${amount}, which is impossible; counted as 0`);
    return 0;
  };
  const tokens = (what: string, value: number) =>
    sound(what, value, Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX);
  const { cached = 0, cost, estimated } = usage;
  const figures = {
    input: tokens('input tokens', usage.input),
    output: tokens('output tokens', usage.output),
    cost: sound('USD', cost, cost >= 0 && cost <= COST_MAX),
    ...ofWhichCached(tokens('cached tokens', cached)),
  };
  return { usage: { ...figures, ...(estimated === undefined ? {} : { estimated }) }, doubts };
}
