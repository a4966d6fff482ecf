// How the server answers: a verdict as JSON, with the HTTP status of its code.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CODES } from '../kernel/codes.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';

export function httpStatusOf(verdict: Verdict): number {
  return verdict.allow ? 200 : CODES[verdict.code].http;
}

export function respond(verdict: Verdict, headers: Record<string, string> = {}): Response {
  return json(verdict, httpStatusOf(verdict), headers);
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  });
}

const zip = promisify(gzip);
const ZIPPED_CHARS_MIN = 8_192;

export function takesGzip(acceptEncoding: string | undefined): boolean {
  return /\bgzip\b/.test(acceptEncoding ?? '');
}

export function jsonFor(acceptEncoding: string | undefined, value: unknown, status = 200): Promise<Response> {
  return jsonTextFor(acceptEncoding, JSON.stringify(value), status);
}

/** Compresses a large answer outside the main thread. For a small one that would cost more than it saves. */
export async function jsonTextFor(acceptEncoding: string | undefined, text: string, status = 200): Promise<Response> {
  const headers = { 'content-type': 'application/json; charset=utf-8', vary: 'accept-encoding' };
  if (text.length < ZIPPED_CHARS_MIN || !takesGzip(acceptEncoding)) return new Response(text, { status, headers });
  const zipped = await zip(text, { level: 1 });
  return new Response(zipped, { status, headers: { ...headers, 'content-encoding': 'gzip' } });
}

export function noRoute(path: string): Denied {
  return deny('UNKNOWN_ROUTE', `there is nothing at ${path.slice(0, 200)}; GET /api lists the operations`);
}

/** The headers that go with a refusal of who calls: when to try again, or that a token is wanted. */
export function headersFor(refusal: Denied): Record<string, string> {
  const { retryAfterSeconds: after } = refusal.details;
  if (typeof after === 'number') return { 'retry-after': String(after) };
  return httpStatusOf(refusal) === 401 ? { 'www-authenticate': 'Bearer' } : {};
}
