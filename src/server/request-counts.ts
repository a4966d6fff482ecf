// What the server counts about itself: requests by route and status, how long they took, and the streams that are open.
type RouteCounts = {
  readonly route: string;
  readonly method: string;
  readonly statuses: Map<number, number>;
  /** How many took at most as long as the bound of the same place. */
  readonly within: number[];
  count: number;
  seconds: number;
};

export const BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5] as const;
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH'];

export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  streamsOpen = 0;
  streamsBegun = 0;

  note(route: string, method: string, status: number, ms: number): void {
    const known = METHODS.includes(method) ? method : 'other';
    const key = `${known} ${route}`;
    const counts = this.#routes.get(key) ?? {
      ...{ route, method: known, count: 0, seconds: 0 },
      ...{ statuses: new Map<number, number>(), within: BOUNDS_S.map(() => 0) },
    };
    this.#routes.set(key, counts);
    counts.count += 1;
    counts.seconds += ms / 1_000;
    counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
    for (const [index, bound] of BOUNDS_S.entries())
      if (ms <= bound * 1_000) counts.within[index] = (counts.within[index] ?? 0) + 1;
  }

  get routes(): readonly RouteCounts[] {
    return [...this.#routes.values()];
  }
}

/** A name for the route of a path. There are only so many, whatever is asked for. */
export function routeOf(path: string, isOperation: (name: string) => boolean): string {
  const [, first = '', second = '', third, fourth, fifth] = path.split('/');
  if (first === 'api' && second === 'casts' && CAST_PARTS.has(fourth ?? '')) return `/api/casts/CAST/${fourth}`;
  if (first === 'api' && second === 'facts' && fourth === 'texts' && fifth !== undefined)
    return '/api/facts/SEQ/texts/DIGEST';
  if (first === 'api' && third === undefined)
    return second === '' ? '/api' : FIXED.has(second) || isOperation(second) ? `/api/${second}` : 'unknown';
  if (first === 'api') return 'unknown';
  return ['mcp', 'metrics', 'healthz', 'reference'].includes(first) ? `/${first}` : 'page';
}

const CAST_PARTS: ReadonlySet<string> = new Set(['entries', 'view', 'state', 'ledger']);
const FIXED: ReadonlySet<string> = new Set(['events', 'openapi.json']);
