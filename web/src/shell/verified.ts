// When the history was verified last in this browser, and what came of it.
import { useSyncExternalStore } from 'react';
import { look, type Verdict } from '../api.ts';

export type Verified = { readonly at: number; readonly isGood: boolean; readonly entries: number };

const KEY = 'baton.verified';
const listeners = new Set<() => void>();
let known: Verified | null = read();

function read(): Verified | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Verified | null;
  } catch {
    return null;
  }
}

export function useVerified(): Verified | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => known,
  );
}

/** Verifies the whole history. What cannot be reached was not verified, and changes nothing here. */
export async function verifyHistory(entries: number): Promise<Verdict> {
  const verdict = await look('audit.verify');
  if (verdict.allow || verdict.code.startsWith('AUDIT') || verdict.code.startsWith('LOG') || 'seq' in verdict.details) {
    known = { at: Date.now(), isGood: verdict.allow, entries };
    sessionStorage.setItem(KEY, JSON.stringify(known));
    for (const each of listeners) each();
  }
  return verdict;
}
