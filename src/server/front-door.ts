// Who gets in. A request must mean this server by its name, must not come from a page of another one, must show a token, and
// must not come from an agent of a cast, which has its tools and nothing else. Who asks too often waits.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isAgentToken, type ServerCaller } from '../access/server-callers.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

type DoorOptions = {
  /** The names by which this server is called besides those of this machine itself: `https://baton.example.org`. */
  readonly publicUrl: string | null;
  /** Whether a name of this machine is enough. */
  readonly isLoopback: boolean;
  readonly isBehindProxy: boolean;
  readonly admit: (token: string) => ServerCaller | Denied;
  /** Told of everybody who is turned away because of who they are. */
  readonly onRefused: (verdict: Denied) => void;
  /** Whether an agent of a cast is at the other end of the connection. */
  readonly isAgentAt?: (socket: Socket) => boolean;
  /** The agent that shows the token of its attempt. */
  readonly admitAgent?: (token: string, socket: Socket) => Promise<ServerCaller | Denied>;
  readonly requestsPerSecond?: number;
};

const REQUESTS_PER_SECOND = 400;
/** Wrong tokens from one address. */
const GUESSES_PER_SECOND = 2;
const QUERY_CHARS_MAX = 16_384;

export const FOR_NO_AGENT = deny(
  'APPROVER_IS_AGENT',
  'an agent of a cast may use nothing of the server but its own tools at /mcp, by the token of its attempt',
);

export class FrontDoor {
  readonly #doors: DoorOptions;
  readonly #requests: RateLimit;
  readonly #guesses = new RateLimit({ perSecond: GUESSES_PER_SECOND, burst: 20 });

  constructor(doors: DoorOptions) {
    this.#doors = doors;
    const perSecond = doors.requestsPerSecond ?? REQUESTS_PER_SECOND;
    this.#requests = new RateLimit({ perSecond, burst: perSecond * 2 });
  }

  /** Why this connection is not served at all, or null: pages of others, forged names, agents. */
  refusalOf(request: IncomingMessage): Denied | null {
    const { headers, socket } = request;
    const foreign = this.#foreignTo(request);
    if (foreign) return foreign;
    if (!isAgentToken(tokenIn(headers)) && !this.#doors.isAgentAt?.(socket)) return null;
    this.#doors.onRefused(FOR_NO_AGENT);
    return FOR_NO_AGENT;
  }

  /** Who calls, by the token that is shown. */
  callerOf(request: IncomingMessage): ServerCaller | Denied {
    return this.#let(request, this.#doors.admit(tokenIn(request.headers)));
  }

  /** Who calls the tools: a caller as anywhere else, or the agent of an attempt by the token of the attempt. */
  async toolCallerOf(request: IncomingMessage): Promise<ServerCaller | Denied> {
    const { headers, socket } = request;
    const token = tokenIn(headers);
    const { admitAgent } = this.#doors;
    if (!admitAgent || !isAgentToken(token)) return this.refusalOf(request) ?? this.callerOf(request);
    return this.#foreignTo(request) ?? this.#let(request, await admitAgent(token, socket));
  }

  #let(request: IncomingMessage, caller: ServerCaller | Denied): ServerCaller | Denied {
    const now = performance.now();
    if ('allow' in caller) {
      const locked = this.#guesses.take(this.#addressOf(request), now);
      if (locked > 0) return tooMany(locked, 'wrong tokens from this address');
      this.#doors.onRefused(caller);
      return caller;
    }
    const wait = this.#requests.take(caller.name, now);
    return wait > 0 ? tooMany(wait, `requests of ${caller.name}`) : caller;
  }

  #foreignTo({ url = '', method = '', headers }: IncomingMessage): Denied | null {
    if (url.length > QUERY_CHARS_MAX) return deny('REQUEST_TOO_LARGE', 'the address is too long');
    return isLinkToPage(url, method, headers) ? this.#unnamed(headers) : this.#foreign(headers);
  }

  /** A proxy adds the address that it sees to the end of the list. */
  #addressOf({ headers, socket: { remoteAddress = '' } }: IncomingMessage): string {
    if (!this.#doors.isBehindProxy) return remoteAddress;
    const forwarded = headers['x-forwarded-for'];
    return (
      String(forwarded ?? '')
        .split(',')
        .at(-1)
        ?.trim() || remoteAddress
    );
  }

  #unnamed({ host = '' }: IncomingHttpHeaders): Denied | null {
    if (this.#isOwn(`http://${host}`)) return null;
    const { publicUrl } = this.#doors;
    const how = publicUrl ? `call the server by ${publicUrl}` : 'call it by 127.0.0.1, or start it with --public-url';
    return deny('FOREIGN_ORIGIN', `the Host header names another machine; ${how}`);
  }

  #foreign(headers: IncomingHttpHeaders): Denied | null {
    const { host = '', origin, 'sec-fetch-site': site } = headers;
    const unnamed = this.#unnamed(headers);
    if (unnamed) return unnamed;
    if (origin !== undefined && !(this.#isOwn(origin) && this.#isSameHost(origin, host)))
      return deny('FOREIGN_ORIGIN', 'pages of other origins may not call');
    // A browser says this of every request, also of those that send no Origin.
    if (site === undefined || site === 'same-origin' || site === 'none') return null;
    return deny('FOREIGN_ORIGIN', 'pages of other sites may not call');
  }

  #isOwn(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const { publicUrl, isLoopback } = this.#doors;
    const { host, hostname } = new URL(address);
    if (publicUrl !== null && host === new URL(publicUrl).host) return true;
    return isLoopback && LOOPBACK.includes(hostname);
  }

  /** A page of another port of this machine is another page. */
  #isSameHost(origin: string, host: string): boolean {
    const { publicUrl } = this.#doors;
    return (
      new URL(origin).host === host || (publicUrl !== null && new URL(origin).origin === new URL(publicUrl).origin)
    );
  }
}

/** A link to the page from anywhere opens it in a window of its own. The page is the same for everybody, and has no token yet. */
function isLinkToPage(url: string, method: string, headers: IncomingHttpHeaders): boolean {
  if (method !== 'GET' || headers.origin !== undefined || /^\/(?:api|mcp|metrics)(?:[/?]|$)/.test(url)) return false;
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

function tooMany(waitMs: number, what: string): Denied {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return deny('TOO_MANY_REQUESTS', `too many ${what}; try again in ${seconds} s`, { retryAfterSeconds: seconds });
}

function tokenIn({ authorization: shown = '' }: IncomingHttpHeaders): string {
  // The name of a scheme may be written in any case.
  return /^bearer /i.test(shown) ? shown.slice('Bearer '.length).trim() : '';
}

// How often somebody may ask: a bucket for each name that fills up again with time.
type Rate = { readonly perSecond: number; readonly burst: number };

/** So many names are remembered; a full table forgets those that asked longest ago. */
const NAMES_MAX = 10_000;

class RateLimit {
  readonly #rate: Rate;
  readonly #left = new Map<string, { tokens: number; at: number }>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Takes one. Answers 0, or the milliseconds to wait where there is none. */
  take(name: string, now: number): number {
    const wait = this.waitFor(name, now);
    if (wait > 0) return wait;
    const bucket = this.#bucket(name, now);
    bucket.tokens -= 1;
    this.#left.delete(name);
    this.#left.set(name, bucket);
    const [oldest] = this.#left.keys();
    if (this.#left.size > NAMES_MAX && oldest !== undefined) this.#left.delete(oldest);
    return 0;
  }

  /** The milliseconds until there is one again; takes nothing. */
  waitFor(name: string, now: number): number {
    const { tokens } = this.#bucket(name, now);
    return tokens >= 1 ? 0 : ((1 - tokens) / this.#rate.perSecond) * 1000;
  }

  #bucket(name: string, now: number): { tokens: number; at: number } {
    const { perSecond, burst } = this.#rate;
    const known = this.#left.get(name);
    if (!known) return { tokens: burst, at: now };
    return { tokens: Math.min(burst, known.tokens + ((now - known.at) / 1000) * perSecond), at: now };
  }
}
