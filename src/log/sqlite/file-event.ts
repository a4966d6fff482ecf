// Hears when a file of a folder changes.
import { watch } from 'node:fs';

/** Some systems have no events to give, or none left; the poll is enough then. */
export function onFileEvent(folder: string, changed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}
