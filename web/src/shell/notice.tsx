// One short sentence that says what just happened and goes away by itself. Nothing is told only here.
import { type ReactNode, useSyncExternalStore } from 'react';

const SHOWN_MS = 2_400;
const listeners = new Set<() => void>();
let shown: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

export function notice(text: string): void {
  clearTimeout(timer);
  put(text);
  timer = setTimeout(() => put(null), SHOWN_MS);
}

function put(text: string | null): void {
  shown = text;
  for (const each of listeners) each();
}

export function Notice(): ReactNode {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
  return (
    <div className="notice" role="status">
      {text === null ? null : <span>{text}</span>}
    </div>
  );
}
