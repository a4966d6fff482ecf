// What the view that is open adds to the palette: the sockets of a cast, its acts, the tasks of a board.
import { useEffect, useSyncExternalStore } from 'react';
import type { IconName, Status } from '../parts/glyphs.tsx';

export type PaletteRow = {
  readonly id: string;
  readonly says: string;
  readonly beside?: string;
  readonly keys?: string;
  readonly icon?: IconName;
  readonly glyph?: Status;
  readonly run: () => void;
};

const listeners = new Set<() => void>();
let offered: readonly PaletteRow[] = [];

function put(rows: readonly PaletteRow[]): void {
  offered = rows;
  for (const each of listeners) each();
}

/** `rows` must be the same value while nothing of it changed. */
export function useOffered(rows: readonly PaletteRow[]): void {
  useEffect(() => {
    put(rows);
    return () => put([]);
  }, [rows]);
}

export function usePaletteRows(): readonly PaletteRow[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => offered,
  );
}
