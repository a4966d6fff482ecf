// Follows a file that another process is writing, for live events. It is looked at now and then, because a missed event
// costs nothing and a watch on every spool would.
import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';

const LOOK_EVERY_MS = 100;
const PIECE_BYTES = 262_144;

/**
 * Hands over what is added to the file, until it is told to stop; the last look is after that. Of what is there already at
 * most `pastBytesMax` are told. A file that was cut is read from its beginning.
 */
export function follow(
  file: string,
  take: (text: string) => void,
  pastBytesMax = Number.POSITIVE_INFINITY,
): { stop(): Promise<void> } {
  let decoder = new StringDecoder('utf8');
  let at: number | null = null;
  let isStopped = false;
  let wake = () => {};
  const look = async () => {
    const handle = await open(file, 'r').catch(() => null);
    if (handle === null) return; // It is not there yet, or not any more.
    try {
      const { size } = await handle.stat();
      at ??= Math.max(0, size - pastBytesMax);
      if (size < at) {
        at = 0;
        decoder = new StringDecoder('utf8');
      }
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        take(decoder.write(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await handle.close();
    }
  };
  const running = (async () => {
    while (!isStopped) {
      await look().catch(() => {});
      if (isStopped) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_EVERY_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await look().catch(() => {});
  })();
  return {
    async stop() {
      isStopped = true;
      wake();
      await running;
    },
  };
}
