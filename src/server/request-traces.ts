// A span for each request, by the conventions for HTTP servers. It goes on with the trace that the caller names in `traceparent`. No address, no
// token, no body and no answer goes along: only the route, the method and the status.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SERVER, span, spanSender } from '../app/driving/traces.ts';
import type { Workspace } from '../app/workspace.ts';

type RequestTraces = {
  note(request: IncomingMessage, route: string, status: number, startedAt: number): void;
  /** All spans are out, or have failed. */
  settled(): Promise<void>;
};

const NOTHING: RequestTraces = { note: () => undefined, settled: async () => undefined };

export function requestTraces(workspace: Pick<Workspace, 'env'>, say: (line: string) => void): RequestTraces {
  const sender = spanSender(workspace, say, 'The server goes on.');
  if (sender === null) return NOTHING;
  return {
    note({ method = '', headers }, route, status, startedAt) {
      const context = parentIn(headers.traceparent);
      // Who traces decides what is sampled.
      if (context?.isSampled === false) return;
      const ids = {
        traceId: context?.traceId ?? randomBytes(16).toString('hex'),
        spanId: randomBytes(8).toString('hex'),
        ...(context ? { parentSpanId: context.spanId } : {}),
      };
      const times = [new Date(startedAt).toISOString(), new Date().toISOString()] as const;
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
      };
      sender.send(span(ids, `${method} ${route}`, times, attributes, status >= 500 ? `${status}` : null, SERVER));
    },
    settled: sender.settled,
  };
}

type Parent = { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean };

/** The context that a W3C `traceparent` names; null for one that says nothing. */
export function parentIn(header: string | readonly string[] | undefined): Parent | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(header) ?? [];
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  // A later version may add fields; the first one has none.
  if (version === '00' && header.length !== 55) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
