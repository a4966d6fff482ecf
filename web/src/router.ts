// The addresses of the page. An address says what is looked at, so that a link shows two people the same thing.
import { type MouseEvent, useSyncExternalStore } from 'react';

export type Route = { readonly path: readonly string[]; readonly query: URLSearchParams };

const listeners = new Set<() => void>();
let shown = read();

function read(): Route {
  const path = location.pathname.split('/').filter(Boolean).map(decoded);
  return { path, query: new URLSearchParams(location.search) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function changed(): void {
  shown = read();
  for (const each of listeners) each();
}
addEventListener('popstate', changed);

export function useRoute(): Route {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

/** Goes to an address of the page. `replace` leaves no step behind, for example while somebody scrubs. */
export function go(to: string, { replace = false } = {}): void {
  if (to === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  changed();
}

/** Changes members of the query; an empty value takes one out. */
export function withQuery(change: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change))
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, String(value));
  const text = query.toString();
  return location.pathname + (text ? `?${text}` : '');
}

/** What a link needs: a plain click stays in the page, any other click does what the browser does. */
export function linkTo(to: string): { readonly href: string; readonly onClick: (event: MouseEvent) => void } {
  return {
    href: to,
    onClick(event) {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      go(to);
    },
  };
}

export const castPath = (cast: string): string => `/cast/${encodeURIComponent(cast)}`;
export const turnPath = (cast: string, turn: string | number): string => `${castPath(cast)}/turn/${turn}`;
export const inboxPath = (id?: string): string => (id === undefined ? '/inbox' : `/inbox/${encodeURIComponent(id)}`);
