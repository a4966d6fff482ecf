// Codes of the HTTP server: requests that reach no operation.
import { type CodeRow, row } from './row.ts';

export const SERVER_CODES = {
  UNKNOWN_ROUTE: row(
    404,
    'never',
    'the server has nothing at this address',
    'the path or the name of the operation is wrong',
    '`GET /api` lists the operations; `GET /api/openapi.json` describes every route',
  ),
  METHOD_NOT_ALLOWED: row(
    405,
    'never',
    'the address does not take this method',
    'an operation that changes something was asked for with GET, or a page of data with POST',
    'call operations with POST; GET is for those that only look',
  ),
  FOREIGN_ORIGIN: row(
    403,
    'never',
    'a page or a name of another machine was turned away',
    'the Origin or Host header of the request names something that is not this server',
    'open the page at the address that `baton ui` prints; behind a proxy, name its address with --public-url',
  ),
  REQUEST_TOO_LARGE: row(
    413,
    'never',
    'the request is larger than the server takes',
    'the body has more than 16 MiB, or the query more than 16 KiB',
    'send less; name a file of the workspace instead of its text',
  ),
  TOO_MANY_REQUESTS: row(
    429,
    'later',
    'the caller asks more often than the server answers',
    'too many requests or streams at once, or too many wrong tokens in a short time',
    'wait for the seconds that the Retry-After header names, then go on more slowly',
  ),
  UNKNOWN_TEXT: row(
    404,
    'never',
    'the entry has no such text',
    'the sequence number or the digest of the address is wrong',
    'take both from the reference of the text: {"digest", "seq"}',
  ),
  METRICS_NOT_READY: row(
    503,
    'later',
    'the figures of a long log are not counted yet',
    'the server has just begun, and counts the whole log once',
    'ask again; a log of a million entries takes some seconds',
  ),
  SERVER_UNREACHABLE: row(
    503,
    'later',
    'the client gets no answer from the server, or one that is no verdict',
    'no server runs at the address, the address is wrong, or something between answers in its place',
    'start it with `baton serve`, and give the client the address that it prints',
  ),
  PAGE_NOT_BUILT: row(
    503,
    'later',
    'the files of the page are not there',
    'this is a checkout and the page was never built',
    'run `npm run build:webui`, or open it with `baton ui`, which builds it',
  ),
} as const satisfies Record<string, CodeRow>;
