// Asks a model over HTTP and reads its stream, and says what an adapter for such an interface provides. A model alone has no tools and
// leaves nothing running, so there is nothing to supervise: an interrupted attempt is simply lost, with its request.
import type { AttemptDirs, LiveEvent, Runner } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Usage } from '../kernel/cast/state.ts';
import type { ApiStyle } from '../kernel/graph/config.ts';
import { isObject, type Json, type JsonObject, stringAt } from '../kernel/json.ts';
import { scrub } from '../kernel/secrets.ts';
import { type AgentCall, type AgentSettings, agentCallOf } from './agent-call.ts';
import { faultResult, lostResult, outputResult } from './agent-result.ts';
import { serverSentEvents } from './event-streams.ts';
import {
  type AgentFault,
  faultOf,
  faultOfError,
  faultOfSilence,
  patience,
  RETRY,
  type RetryRules,
  waitBefore,
} from './fault.ts';
import { modelSilence, silenceEvent } from './model-silence.ts';
import { type AgentError, type AgentReport, addUsage, EMPTY_REPORT } from './report.ts';
import { traceparentOf } from './trace-context.ts';

const ERROR_BYTES_MAX = 65_536;
/** How much of a foreign answer is kept, and how much of it is shown. */
const FOREIGN_CHARS_MAX = 65_536;
const SHOWN_CHARS_MAX = 80;

export type ApiRunnerOptions = { readonly retry?: RetryRules; readonly silenceMaxMs?: number };

type Bounds = { readonly timeoutMs: number; readonly silenceMaxMs: number; readonly charsMax: number };
type StreamEnd = {
  readonly report: AgentReport;
  readonly end: 'closed' | 'late' | 'silent' | 'long' | 'elsewhere';
  /** What is at that address instead of a model. */
  readonly instead?: string;
};

export function apiRunner(api: ModelApi, settings: ApiSettings = {}, options: ApiRunnerOptions = {}): Runner {
  const { retry = RETRY } = options;
  return {
    async run(packet, place, signal) {
      const call = agentCallOf(packet);
      const key = keyOf(api, settings);
      const made = traced(api.request(call, settings, key), packet);
      let spent: Usage | null = null;
      const settled = (report: AgentReport) => ({ packet, report, warnings: made.warnings, spent });
      const refused = refusalOf(api, settings, packet, key);
      if (refused) return faultResult(refused, settled(EMPTY_REPORT));
      const begun = performance.now();
      const silenceMaxMs = options.silenceMaxMs ?? packet.modelSilenceMs;
      for (let retries = 0; ; retries += 1) {
        const leftMs = () => packet.timeoutMs - (performance.now() - begun);
        const bounds = { timeoutMs: leftMs(), silenceMaxMs, charsMax: packet.maxOutputBytes };
        const answer = await ask(api, made, place, bounds, signal);
        if (signal.aborted) return lostResult('stopped', settled(answer.report));
        // Text beyond the limit is not used, so the answer is truncated here and marked.
        if (answer.end === 'long') return outputResult(settled(answer.report));
        const fault = faultIn(api, answer, silenceMaxMs);
        if (!fault) return outputResult(settled(answer.report));
        const { retriesMax } = packet;
        const waitMs = waitBefore(fault, { retries, retriesMax, toolCalls: 0, leftMs: leftMs() }, retry);
        if (waitMs === null) return faultResult(fault, { ...settled(answer.report), tries: retries + 1 });
        if (answer.report.usage !== null) spent = addUsage(spent, answer.report.usage);
        place.onEvent?.({ kind: 'waiting', forMs: waitMs, reason: fault.reason });
        if (!(await patience(waitMs, signal))) return lostResult('stopped', settled(EMPTY_REPORT));
      }
    },

    async recover() {
      return { kind: 'lost', mayHaveRun: true, reason: 'the process that asked the model is gone' };
    },
  };
}

/** The provider's own spans, where it has any, are part of the same trace. */
function traced(made: ApiRequest, packet: Packet): ApiRequest {
  const traceparent = traceparentOf(process.env, packet);
  return traceparent === null ? made : { ...made, headers: { ...made.headers, traceparent } };
}

function keyOf(api: ModelApi, { keyVariable, env = {} }: ApiSettings): string | null {
  const name = keyVariable ?? api.keyVariable;
  const key = env[name] ?? process.env[name] ?? '';
  return key.trim() === '' ? null : key;
}

function refusalOf(api: ModelApi, settings: ApiSettings, packet: Packet, key: string | null): AgentFault | null {
  if (packet.materia.type === 'agent' && packet.materia.tools !== 'none') {
    const reason = `${api.name} asks a model, which has no tools; set tools to none, or use claude, codex or pi`;
    return { fault: 'refused', code: 'AGENT_UNAVAILABLE', reason };
  }
  if (packet.materia.type === 'agent' && packet.materia.model === null) {
    const reason = `${api.name} has no model of its own; name one`;
    return { fault: 'refused', code: 'MODEL_UNAVAILABLE', reason };
  }
  // Another address may ask for no key; where one was named, it does.
  if (key === null && (settings.baseUrl === undefined || settings.keyVariable !== undefined)) {
    const name = settings.keyVariable ?? api.keyVariable;
    return { fault: 'refused', code: 'AUTH_REQUIRED', reason: `${api.name} needs a key; set ${name}` };
  }
  return null;
}

function faultIn(api: ModelApi, { report, end, instead }: StreamEnd, silenceMaxMs: number): AgentFault | null {
  if (end === 'elsewhere') {
    return { fault: 'refused', code: 'REQUEST_REFUSED', reason: `${api.name}: ${instead}; correct baseUrl` };
  }
  if (end === 'silent') {
    return faultOfSilence(api.name, silenceMaxMs);
  }
  if (end === 'closed' && !report.isFinished && report.error === null) {
    return faultOfError(api.name, { message: 'the connection was closed before the answer was finished' });
  }
  const process = { code: 0, signal: null, timedOut: end === 'late', stdoutTruncated: false };
  return faultOf(api.name, process, '', report);
}

async function ask(
  api: ModelApi,
  { url, headers, body }: ApiRequest,
  { onEvent }: AttemptDirs,
  { timeoutMs, silenceMaxMs, charsMax }: Bounds,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const late = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
  const silent = new AbortController();
  const silence = modelSilence(silenceMaxMs, {
    isAsked: () => true,
    report: (silentMs) => onEvent?.(silenceEvent(api.name, silentMs)),
    giveUp: () => silent.abort(),
  });
  let report = EMPTY_REPORT;
  try {
    const all = AbortSignal.any([signal, late, silent.signal]);
    // The target of a redirect would get the key and the brief, and it is not configured.
    const redirect = 'manual';
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: all, redirect });
    if (response.status >= 300 && response.status < 400)
      return { report, end: 'elsewhere', instead: pointed(url, response) };
    if (!response.ok) return { report: { ...report, error: await errorOf(response) }, end: 'closed' };
    const events = serverSentEvents();
    const decoder = new TextDecoder();
    let [isStream, foreign] = [false, ''];
    for await (const chunk of response.body ?? []) {
      silence.heard();
      const text = decoder.decode(chunk, { stream: true });
      if (!isStream && foreign.length < FOREIGN_CHARS_MAX) foreign += text;
      for (const event of events.push(text)) {
        isStream = true;
        report = api.fold(report, event);
        if (onEvent) for (const one of api.live(event)) onEvent(one);
      }
      // Leaving the loop closes the connection, and with it the bill.
      if (report.text.length > charsMax) return { report, end: 'long' };
    }
    return isStream ? { report, end: 'closed' } : withoutStream(report, response, foreign);
  } catch (error) {
    if (late.aborted) return { report, end: 'late' };
    if (silent.signal.aborted) return { report, end: 'silent' };
    return { report: { ...report, isFinished: false, error: { message: whyNot(error) } }, end: 'closed' };
  } finally {
    silence.stop();
  }
}

/** Where it pointed to, without what may be a secret in it. */
function pointed(url: string, { status, headers }: Response): string {
  const location = headers.get('location') ?? '';
  const target = URL.canParse(location, url) ? new URL(location, url) : null;
  const where = target === null ? 'nowhere' : oneLine(`${target.origin}${target.pathname}`, 200);
  return `it pointed to ${where} (status ${status}), which is not followed, because the key and the brief would go there too`;
}

/** An answer without one event in it: an error, something else altogether, or a stream that was closed too early. */
function withoutStream(report: AgentReport, response: Response, text: string): StreamEnd {
  const type = response.headers.get('content-type') ?? 'no type';
  if (text.trim() === '' || type.includes('event-stream')) return { report, end: 'closed' };
  const body = parseJson(text.slice(0, FOREIGN_CHARS_MAX));
  if (isObject(body) && body.error !== undefined && body.error !== null) {
    return { report: { ...report, error: errorIn(body) }, end: 'closed' };
  }
  const instead = `it answered with ${oneLine(type, 60)} where a stream of events was due, beginning ${JSON.stringify(oneLine(text, SHOWN_CHARS_MAX))}`;
  return { report, end: 'elsewhere', instead };
}

/** In one line. A secret is found whole before anything is cut. */
function oneLine(text: string, charsMax: number): string {
  const line = scrub(text.slice(0, FOREIGN_CHARS_MAX)).text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax)}…`;
}

async function errorOf(response: Response): Promise<NonNullable<AgentReport['error']>> {
  const text = (await response.text().catch(() => '')).slice(0, ERROR_BYTES_MAX);
  const waitMs = retryAfterMs(response.headers.get('retry-after'), Date.now());
  const error = errorIn(parseJson(text) ?? { error: text.slice(0, 500) }, response.status);
  return { ...error, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) };
}

function parseJson(text: string): Json | null {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** The runtime says only that the request failed; the reason is one level below. */
function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : '';
  const words = CONNECTION_FAULTS[code];
  if (words !== undefined) return `${words} (${code})`;
  return `connection failed: ${code === '' ? error.message : `${error.message} (${code})`}`;
}

/** What the codes of the runtime mean, for people. */
const CONNECTION_FAULTS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'connection failed: the name of the host could not be looked up',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'connection failed: the host cannot be reached',
  ENETUNREACH: 'connection failed: the network cannot be reached',
  ENOTFOUND: 'connection failed: there is no such host',
  EPIPE: 'connection closed by the other side',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_SOCKET: 'connection closed by the other side',
};

export type ApiSettings = Pick<AgentSettings, 'baseUrl' | 'env'> & {
  /** The variable with the key, if it is not the provider's usual one. */
  readonly keyVariable?: string;
  /** OpenAI has two interfaces; compatible servers mostly speak `chat`. */
  readonly wire?: ApiStyle;
};

export type ApiRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
};

export interface ModelApi {
  readonly name: string;
  readonly keyVariable: string;
  /** The key is null if the server needs none. */
  request(call: AgentCall, settings: ApiSettings, key: string | null): ApiRequest;
  fold(report: AgentReport, event: JsonObject): AgentReport;
  live(event: JsonObject): readonly LiveEvent[];
}

/** `a/` and `b` as `a/b`. */
export function addressOf(base: string, path: string): string {
  let end = base.length;
  while (end > 0 && base[end - 1] === '/') end -= 1;
  return `${base.slice(0, end)}/${path}`;
}

/** The error in a provider's body, which all of them put under `error`. */
export function errorIn(body: Json, status?: number): AgentError {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const kind = stringAt(error, 'code') ?? stringAt(error, 'type');
  const message = stringAt(error, 'message') ?? (isObject(body) && typeof body.error === 'string' ? body.error : '');
  const text = [kind, message].filter((part) => part !== null && part !== '').join(': ');
  return { message: text === '' ? 'the provider gave no reason' : text, ...(status === undefined ? {} : { status }) };
}

/** A longer wait than a year is a mistake. */
const WAIT_MS_MAX = 366 * 86_400_000;

/** How long a `retry-after` header asks to wait: seconds, or a date. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const bounded = (ms: number) => Math.min(Math.max(0, ms), WAIT_MS_MAX);
  if (header.trim() !== '' && Number.isFinite(seconds)) return bounded(Math.round(seconds * 1_000));
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : bounded(date - now);
}
