// Why an attempt gave no answer: one stable code per reason, whether a retry may help, and how long to wait. Programs report it in
// exit codes, events and prose, so all three are read, the most exact one first.
import type { Fault } from '../kernel/cast/fact.ts';
import type { Code } from '../kernel/codes.ts';
import type { AgentError, AgentReport } from './report.ts';

export type FaultCode = Extract<
  Code,
  | 'AGENT_TIMEOUT'
  | 'AGENT_UNAVAILABLE'
  | 'SESSION_LOST'
  | 'AUTH_REQUIRED'
  | 'RATE_LIMITED'
  | 'CONTEXT_OVERFLOW'
  | 'MODEL_UNAVAILABLE'
  | 'MODEL_SILENT'
  | 'PROVIDER_ERROR'
  | 'PROVIDER_UNREACHABLE'
  | 'REQUEST_REFUSED'
  | 'OUTPUT_FLOOD'
  | 'AGENT_CRASHED'
  | 'NO_OUTPUT'
>;

export type AgentFault = {
  readonly fault: Fault;
  readonly code: FaultCode;
  readonly reason: string;
  readonly retryAfterMs?: number;
};

/** How the process ended. */
export type ProcessEnd = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdoutTruncated: boolean;
  /** It was ended because it gave no sign of life, not because it took too long. */
  readonly silent?: boolean;
  /** What was seen of it when its time was over, in words. */
  readonly signs?: string;
  /** Why it could not be started, or not be kept. */
  readonly error?: string;
};

/** What each code is to the engine: it tries crashes and broken transports once more, and nothing else. */
const FAULTS: Readonly<Record<FaultCode, Fault>> = {
  AGENT_TIMEOUT: 'timeout',
  AGENT_UNAVAILABLE: 'refused',
  SESSION_LOST: 'crash',
  AUTH_REQUIRED: 'refused',
  RATE_LIMITED: 'transport',
  CONTEXT_OVERFLOW: 'refused',
  MODEL_UNAVAILABLE: 'refused',
  MODEL_SILENT: 'transport',
  PROVIDER_ERROR: 'transport',
  PROVIDER_UNREACHABLE: 'transport',
  REQUEST_REFUSED: 'refused',
  OUTPUT_FLOOD: 'refused',
  AGENT_CRASHED: 'crash',
  NO_OUTPUT: 'crash',
};

const FIXES: Partial<Readonly<Record<FaultCode, string>>> = {
  AUTH_REQUIRED: 'sign in to the program or set its key, then recast',
  CONTEXT_OVERFLOW: 'shorten the prompt or the context it gets, or use a model with a larger window',
  MODEL_UNAVAILABLE: 'name a model this account can use',
};

/** A reason is shorter than this, and a search must not read a flood. */
const REASON_CHARS_MAX = 2_000;
const LINES_MAX = 5;

/** What the prose of providers and programs gives away. The first row that matches decides. */
const PROSE: readonly (readonly [FaultCode, RegExp])[] = [
  [
    'SESSION_LOST',
    /no (?:conversation|rollout|session|previous sessions) found|session not found|invalid session identifier/i,
  ],
  [
    'CONTEXT_OVERFLOW',
    /(?:prompt|input) is too long|context window|context_length_exceeded|maximum context length|maximum number of tokens/i,
  ],
  ['RATE_LIMITED', /\b429\b|rate[ _]limit|too many requests|usage limit|insufficient_quota|quota exceeded/i],
  [
    'AUTH_REQUIRED',
    /\b401\b|invalid api key|authentication|unauthorized|not logged in|\/login|no api key|specify the \w{1,40}_API_KEY|set an auth method/i,
  ],
  [
    'MODEL_UNAVAILABLE',
    /model.not.found|unknown model|no models match|issue with the selected model|(?:in|not a )valid model|\bmodel\b.{1,200}? (?:does not exist|not found)/i,
  ],
  ['PROVIDER_ERROR', /overloaded|server.error|status 5\d\d/i],
  ['REQUEST_REFUSED', /invalid_request/i],
  [
    'PROVIDER_UNREACHABLE',
    /connection|econnre|enotfound|etimedout|socket|fetch failed|disconnected|network|terminated/i,
  ],
];

/** Null when there is an answer: a program that finished well has one, whatever its exit code. */
export function faultOf(program: string, end: ProcessEnd, stderr: string, report: AgentReport): AgentFault | null {
  const isFinished = report.isFinished ?? (end.code === 0 && !end.timedOut && !end.stdoutTruncated);
  // One that was cut before its first word is an answer that the contract refuses, and no silence.
  if (isFinished && (report.isCut || report.text.trim() !== '')) return null;
  // First of all: a flood is ended or runs out of time, and its last error was lost in it.
  if (end.stdoutTruncated)
    return fault('OUTPUT_FLOOD', `${program} printed more than is kept, and its end was not seen`);
  if (end.timedOut) {
    const while_ = report.error ? `; it was trying again after: ${shortReason(report.error.message)}` : '';
    const what = end.silent ? 'gave no sign of life' : 'did not answer in time';
    const tool = report.toolCalls.at(-1);
    const doing =
      tool === undefined ? '' : `; its last tool call was ${shortReason(tool)}, of ${report.toolCalls.length}`;
    return fault('AGENT_TIMEOUT', `${program} ${what}${end.signs ? `: ${end.signs}` : ''}${doing}${while_}`);
  }
  const didNotRun = end.code === null && end.signal === null;
  if (end.error !== undefined && didNotRun) return fault('AGENT_UNAVAILABLE', end.error);
  if (report.error) return faultOfError(program, report.error);
  if (end.code === 0) return fault('NO_OUTPUT', `${program} ended without an error and without an answer`);
  // A program without another way reports it as its answer.
  const printed = stderr.trim() === '' && report.isFinished === null ? report.text : stderr;
  const words = shortReason(endOfStderr(printed));
  const code = codeInProse(words);
  const how = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`;
  return fault(code ?? 'AGENT_CRASHED', `${program} ended with ${how}${words === '' ? '' : `: ${words}`}`);
}

/** Its supervisor ended without a word about it. */
export function faultOfKill(program: string): AgentFault {
  return fault('AGENT_CRASHED', `${program} was killed together with its supervisor`);
}

/** The fault of a model that was silent for this long. */
export function faultOfSilence(program: string, silentMs: number): AgentFault {
  return fault('MODEL_SILENT', `${program} got nothing from its model for ${waitInWords(silentMs)}`);
}

export function faultOfError(program: string, error: AgentError): AgentFault {
  const { message, status = 0 } = error;
  const words = shortReason(message);
  const code = codeOfStatus(status, words) ?? codeInProse(words) ?? 'PROVIDER_ERROR';
  const waitMs = error.retryAfterMs ?? waitInProse(words);
  const at = status > 0 ? ` (status ${status})` : '';
  const isNowhere = status === 404 && code === 'REQUEST_REFUSED';
  const where = isNowhere ? '; nothing is at that address: correct baseUrl (codex and openai want it with /v1)' : '';
  return fault(code, `${program}: ${words}${at}${where}`, code === 'RATE_LIMITED' ? waitMs : undefined);
}

function fault(code: FaultCode, reason: string, retryAfterMs?: number): AgentFault {
  const fix = FIXES[code];
  return {
    fault: FAULTS[code],
    code,
    reason: fix === undefined ? reason : `${reason}; ${fix}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function codeOfStatus(status: number, words: string): FaultCode | null {
  if (status === 401 || status === 403) return 'AUTH_REQUIRED';
  // 402 is an account without credit: like a spent allowance it comes back, and others can be asked meanwhile.
  if (status === 429 || status === 402) return 'RATE_LIMITED';
  if (status === 413) return 'CONTEXT_OVERFLOW';
  // A model that is missing is named; an address that is wrong answers without a word about models.
  if (status === 404) return /model/i.test(words) ? 'MODEL_UNAVAILABLE' : 'REQUEST_REFUSED';
  if (status >= 500) return 'PROVIDER_ERROR';
  if (status < 400) return null;
  // A plain refusal says in its text what it is about; numbers in that text mean something else.
  return codeInProse(words, ['CONTEXT_OVERFLOW', 'MODEL_UNAVAILABLE']) ?? 'REQUEST_REFUSED';
}

function codeInProse(words: string, only?: readonly FaultCode[]): FaultCode | null {
  const row = PROSE.find(([code, sign]) => (only?.includes(code) ?? true) && sign.test(words));
  return row?.[0] ?? null;
}

/** `try again in 20s`, as providers write it. */
function waitInProse(words: string): number | undefined {
  const [, digits, unit] = /try again in (\d{1,6})(?:\.\d{1,6})? ?(ms|s|m)/i.exec(words) ?? [];
  if (digits === undefined) return undefined;
  const factor = unit === 'ms' ? 1 : unit === 's' ? 1_000 : 60_000;
  return Number(digits) * factor;
}

/** Programs warn first and say last why they ended. */
function endOfStderr(stderr: string): string {
  return withoutTrace(stderr).slice(-REASON_CHARS_MAX).trim().split('\n').slice(-LINES_MAX).join('\n');
}

function shortReason(text: string): string {
  return text.length <= REASON_CHARS_MAX ? text : `${text.slice(0, REASON_CHARS_MAX)}…`;
}

const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** In the largest unit of which it is at least two, never less than it is. */
export function waitInWords(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= 2 * one) ?? ['s', 1_000];
  return `${Math.ceil(ms / size)} ${unit}`;
}

// When an adapter retries on its own: the provider asked to wait, and the attempt did nothing yet that a retry would repeat. The
// engine decides about every other retry and records it. A turn has one budget of retries for all layers.

export type RetryRules = {
  readonly retriesMax: number;
  /** Doubled each time when the provider names no time. */
  readonly firstMs: number;
  /** A longer wait than this is not made here: the attempt fails and says how long it would be. */
  readonly waitMaxMs: number;
};

export const RETRY: RetryRules = { retriesMax: 3, firstMs: 2_000, waitMaxMs: 120_000 };

/** How long to wait before trying again, or null for not at all. */
export function waitBefore(
  fault: AgentFault,
  state: { readonly retries: number; readonly retriesMax: number; readonly toolCalls: number; readonly leftMs: number },
  rules: RetryRules = RETRY,
): number | null {
  const { retries, retriesMax, toolCalls, leftMs } = state;
  if (fault.code !== 'RATE_LIMITED' && fault.code !== 'PROVIDER_ERROR') return null;
  if (retries >= Math.min(rules.retriesMax, retriesMax) || toolCalls > 0) return null;
  const waitMs = Math.max(fault.retryAfterMs ?? 0, rules.firstMs * 2 ** retries);
  return waitMs <= rules.waitMaxMs && waitMs < leftMs ? waitMs : null;
}

/** Answers false when the signal came first. */
export function patience(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (isOver: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve(isOver);
    };
    const stop = () => done(false);
    const timer = setTimeout(() => done(true), ms);
    signal.addEventListener('abort', stop);
  });
}

// The error in what a program printed, without its stack trace, which is long and would push the error out of every limit.

/** So much of the end is looked at. */
const TRACE_CHARS_MAX = 32_000;
const HEAD_LINES_MAX = 10;
/** Of what is left: the first line, which is the error, and the last ones. */
const KEPT_LINES_MAX = 5;
const LINE_CHARS_MAX = 390;

const TRACE_FRAME = /^\s+at \S/;
/** Lines around the frames without information: marks under a source line, omissions, braces, the runtime. */
const AROUND = /^\s*(?:[~^]+|\.{3} \d+ (?:lines|more)\b.{0,100}|[{}\]],?|Node\.js v\S+)?\s*$/;
const TRACEBACK = /^Traceback \(most recent call last\):/;
const ERROR_LINE = /^(?:Uncaught )?[\w.$]{0,100}(?:Error|Exception)\b/;

/** The same words where there is no trace among them. */
export function withoutTrace(text: string): string {
  const lines = text.slice(-TRACE_CHARS_MAX).trimEnd().split('\n');
  const head = headOf(lines);
  if (head !== null) return shortenedTrace(lines.slice(head));
  return lines.some((line) => TRACEBACK.test(line)) ? shortenedTrace(outsideOf(lines)) : text;
}

function shortenedTrace(lines: readonly string[]): string {
  const kept = lines
    .filter((line) => !TRACE_FRAME.test(line) && !AROUND.test(line))
    .map((line) => line.replace(/ \{$/, '').slice(0, LINE_CHARS_MAX));
  const isLong = kept.length > KEPT_LINES_MAX;
  return (isLong ? [...kept.slice(0, 1), '…', ...kept.slice(2 - KEPT_LINES_MAX)] : kept).join('\n');
}

/** Where the words of the last error begin whose calls are listed below it; one that is indented is the cause of another. */
function headOf(lines: readonly string[]): number | null {
  const last = lines.findLastIndex((line, at) => TRACE_FRAME.test(lines[at + 1] ?? '') && /^\S/.test(line));
  if (last === -1) return null;
  const from = Math.max(0, last - HEAD_LINES_MAX);
  const begin = lines.slice(from, last + 1).findLastIndex((line) => ERROR_LINE.test(line));
  return begin === -1 ? last : from + begin;
}

/** The lines outside of a traceback: its lines are indented, and the error is below it. */
function outsideOf(lines: readonly string[]): readonly string[] {
  let isInside = false;
  return lines.filter((line) => {
    if (TRACEBACK.test(line)) isInside = true;
    else if (/^\S/.test(line)) isInside = false;
    return !isInside;
  });
}
