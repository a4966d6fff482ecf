// What an adapter for a model's HTTP interface gives: a request for a call, and how its stream is read. Pure; the runner
// does the talking.
import type { LiveEvent } from '../engine/ports.ts';
import type { ApiStyle } from '../kernel/graph/config.ts';
import { isObject, type Json, type JsonObject, stringAt } from '../kernel/json.ts';
import type { AgentCall, AgentSettings } from './agent-call.ts';
import type { AgentError, AgentReport } from './report.ts';

export type ApiSettings = Pick<AgentSettings, 'baseUrl' | 'env'> & {
  /** The variable that holds the key, when it is not the provider's usual one. */
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
  /** A null key is fine where the server asks for none. */
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

/** Nobody means a longer wait than a year. */
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
