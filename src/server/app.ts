// The routes. A route reads what it is asked, calls an operation or the log, and answers; it decides nothing.
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Actor } from '../access/actor.ts';
import type { ServerCaller } from '../access/server-callers.ts';
import { castPages, type RowQuery } from '../app/cast-pages.ts';
import { nameCast } from '../app/name-cast.ts';
import { OPERATIONS } from '../app/operations/table.ts';
import { verdictOf } from '../app/refused.ts';
import { LOG_LISTS } from '../app/views/cast-timeline.ts';
import type { Workspace } from '../app/workspace.ts';
import type { JsonObject } from '../kernel/json.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { headersFor, httpStatusOf, json, jsonFor, jsonTextFor, noRoute, respond, takesGzip } from './answer.ts';
import { callOperation, givenInBody, givenInQuery, operationNamed, operationRows } from './calls.ts';
import type { EventHub } from './event-hub.ts';
import { eventStream } from './event-stream.ts';
import { FOR_NO_AGENT, type FrontDoor } from './front-door.ts';
import type { LiveFeed } from './live-feed.ts';
import { metricsText, type RequestCounts } from './metrics-text.ts';
import { openApiOf } from './openapi.ts';
import type { PageFiles } from './page-files.ts';
import { REFERENCE_POLICY, referencePage } from './reference-page.ts';
import { storedText } from './stored-text.ts';

type AppParts = {
  readonly workspace: Workspace;
  readonly version: string;
  readonly door: FrontDoor;
  readonly actorOf: (caller: ServerCaller) => Actor;
  readonly hub: EventHub;
  readonly live: LiveFeed;
  readonly page: PageFiles;
  readonly requests: RequestCounts;
};

type Env = { Bindings: HttpBindings; Variables: { caller: ServerCaller; actor: Actor } };

const BODY_BYTES_MAX = 16 * 1_048_576;
const STREAMS_MAX = 512;
const ENTRIES_MAX = 1_000;

export function appOf(parts: AppParts): Hono<Env> {
  const { workspace, door, hub, live, page, requests } = parts;
  const store = () => (workspace.hasLog() ? workspace.castStore() : null);
  const app = new Hono<Env>();

  let document: JsonObject | null = null;
  const openApi = () => {
    document ??= openApiOf(parts.version);
    return document;
  };
  let reference: string | null = null;
  const encoding = (c: Context<Env>) => c.req.header('accept-encoding');
  const answer = (c: Context<Env>, verdict: Verdict) => jsonFor(encoding(c), verdict, httpStatusOf(verdict));
  const callingOf = (c: Context<Env>) => ({ workspace, actor: c.get('actor'), signal: c.req.raw.signal });

  app.use(async (c, next) => {
    const refusal = door.refusalOf(c.env.incoming);
    if (refusal) return secured(respond(refusal));
    await next();
    secured(c.res);
  });
  app.onError((error) => secured(respond(verdictOf(error))));

  app.get('/healthz', () => json({ ok: true }));
  app.get('/reference', () => {
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': REFERENCE_POLICY };
    reference ??= referencePage(openApi());
    return new Response(reference, { headers });
  });

  const identify: MiddlewareHandler<Env> = async (c, next) => {
    const caller = door.callerOf(c.env.incoming);
    if ('allow' in caller) {
      return respond(caller, headersFor(caller));
    }
    const actor = parts.actorOf(caller);
    // The holder of the workspace's own token started the server, and may be an agent.
    if (actor.kind === 'agent') return respond(FOR_NO_AGENT);
    c.set('caller', caller);
    c.set('actor', actor);
    return next();
  };
  app.use('/api/*', identify);
  app.get('/metrics', identify, () => metricsText(store(), requests, parts.version));
  app.get('/api/openapi.json', (c) => jsonFor(encoding(c), openApi()));
  app.get('/api', async (c) => {
    const head = (await store()?.view('head')) ?? { seq: 0, hash: '' };
    const { name, role } = c.get('caller');
    const { dir, program } = workspace;
    return jsonFor(encoding(c), {
      me: { name, role },
      workspace: { name: dir.split('/').at(-1) || dir, dir, version: parts.version },
      head,
      operations: operationRows(c.get('actor'), program),
    });
  });

  app.get('/api/events', async (c) => {
    if (requests.streamsOpen >= STREAMS_MAX)
      return respond(deny('TOO_MANY_REQUESTS', `${STREAMS_MAX} streams are open; close some`), { 'retry-after': '5' });
    const shown = c.req.header('last-event-id') ?? c.req.query('after');
    const after = shown === undefined ? null : countIn(shown);
    if (after === undefined) return respond(deny('BAD_USAGE', 'after must be the number of an entry'));
    await hub.open();
    const word = c.req.query('cast');
    const from = store();
    const cast = word === undefined ? undefined : from ? (await nameCast(from, word, workspace.program)).cast : word;
    const kinds = (c.req.query('kinds') ?? '').split(',').filter((kind) => kind !== '');
    requests.streamsOpen += 1;
    requests.streamsBegun += 1;
    const onEnd = () => {
      requests.streamsOpen -= 1;
    };
    const body = eventStream({ hub, live, after: after ?? hub.seq, filter: { cast, kinds }, onEnd });
    return new Response(body, {
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      },
    });
  });

  app.get('/api/facts/:seq/texts/:digest', (c) =>
    storedText(store(), c.req.param('seq'), c.req.param('digest'), c.req.header('range') ?? null),
  );

  app.get('/api/casts/:cast/entries', async (c) => {
    const after = countIn(c.req.query('after') ?? '0');
    const limit = countIn(c.req.query('limit') ?? '250');
    if (after === undefined || limit === undefined || limit === 0)
      return respond(deny('BAD_USAGE', 'after and limit must be whole numbers, and limit at least 1'));
    const from = workspace.castStore();
    const { cast } = await nameCast(from, c.req.param('cast'), workspace.program);
    const entries = await hub.read(after, Math.min(limit, ENTRIES_MAX), cast);
    return jsonFor(encoding(c), { entries, head: await from.view('head') });
  });

  app.get('/api/casts/:cast/view', async (c) => {
    const shown = c.req.query('at');
    const at = shown === undefined ? null : countIn(shown);
    if (at === undefined) return respond(deny('BAD_USAGE', 'at must be the number of an entry'));
    const from = workspace.castStore();
    const { cast } = await nameCast(from, c.req.param('cast'), workspace.program);
    const page = await castPages(from).pageOf(from, cast, at, c.req.raw.signal);
    if (page === null) return respond(deny('UNKNOWN_CAST', `cast ${cast} began after entry ${at}`, { cast }));
    return answer(c, allow(`cast ${cast} as of entry ${page.seq}`, page as unknown as JsonObject));
  });

  app.get('/api/casts/:cast/fold', async (c) => {
    const from = workspace.castStore();
    const { cast } = await nameCast(from, c.req.param('cast'), workspace.program);
    return jsonTextFor(encoding(c), await castPages(from).foldOf(from, cast));
  });

  for (const part of ['state', 'ledger', 'turns', 'log'] as const)
    app.get(`/api/casts/:cast/${part}`, async (c) => {
      const read = rowQueryOf(c.req.query());
      if (read === null)
        return respond(
          deny('BAD_USAGE', 'numbers must be whole, limit at least 1, and list one of the lists of the log'),
        );
      const from = workspace.castStore();
      const { cast } = await nameCast(from, c.req.param('cast'), workspace.program);
      const { at, ...query } = read;
      const found = await castPages(from).partOf(from, cast, at, part, query, c.req.raw.signal);
      if (found === null) return respond(deny('UNKNOWN_CAST', `cast ${cast} began after entry ${at}`, { cast }));
      return jsonFor(encoding(c), { cast, ...found });
    });

  app.get('/api/:name', async (c) => {
    const name = operationNamed(c.req.param('name'));
    if (name === null) return respond(noRoute(c.req.path));
    if (OPERATIONS[name].act !== 'look')
      return respond(deny('METHOD_NOT_ALLOWED', `${name} changes something; call it with POST`), { allow: 'POST' });
    const read = givenInQuery(name, new URL(c.req.url).searchParams);
    if ('refusal' in read) return respond(read.refusal);
    return answer(c, await callOperation(name, read.given, callingOf(c)));
  });

  app.post(
    '/api/:name',
    bodyLimit({
      maxSize: BODY_BYTES_MAX,
      onError: () => respond(deny('REQUEST_TOO_LARGE', `the body has more than ${BODY_BYTES_MAX} bytes`)),
    }),
    async (c) => {
      const name = operationNamed(c.req.param('name'));
      if (name === null) return respond(noRoute(c.req.path));
      const read = givenInBody(await c.req.text());
      if ('refusal' in read) return respond(read.refusal);
      return answer(c, await callOperation(name, read.given, callingOf(c)));
    },
  );

  app.all('/api/*', (c) => respond(noRoute(c.req.path)));
  app.get('*', (c) => page.answer(c.req.path, takesGzip(encoding(c))));
  app.notFound((c) => secured(respond(noRoute(c.req.path))));
  return app;
}

/** No script, style or address of another origin, no frame, no guessing of types; answers of the API are kept nowhere. */
const SECURE: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

function secured(response: Response): Response {
  for (const [name, value] of Object.entries(SECURE))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}

/** Undefined for what is no whole number. */
function rowQueryOf(given: Readonly<Record<string, string>>): (RowQuery & { readonly at: number | null }) | null {
  const [at, after, limit, from, until] = ['at', 'after', 'limit', 'from', 'until'].map((name) => {
    const text = given[name];
    return text === undefined ? undefined : (countIn(text) ?? null);
  });
  const list = given.list === undefined ? 'all' : LOG_LISTS.find((each) => each === given.list);
  if (!list || limit === 0 || [at, after, limit, from, until].includes(null)) return null;
  return {
    ...{ at: at ?? null, after: after ?? 0, limit: Math.min(limit ?? 250, ENTRIES_MAX), list },
    ...(from == null ? {} : { from }),
    ...(until == null ? {} : { until }),
  };
}

function countIn(text: string): number | undefined {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}
