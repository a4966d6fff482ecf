// Reads a file that somebody named. A pipe without a writer would never answer, and a device such as /dev/zero never end, so
// both are refused. What a shell hands over as `<(…)` or /dev/stdin has a writer and is read up to the limit.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const PLAIN_BYTES_MAX = 512 * 1024 * 1024;
const CHUNK = 65_536;
const HANDED_OVER = /^\/(?:dev\/stdin$|dev\/fd\/|proc\/(?:self|\d+)\/fd\/)/;

class NotPlainError extends Error {}

export function readPlainFile(file: string, bytesMax = PLAIN_BYTES_MAX): Buffer {
  const isHandedOver = HANDED_OVER.test(file);
  const handle = openSync(file, constants.O_RDONLY | (isHandedOver ? 0 : constants.O_NONBLOCK));
  try {
    const found = fstatSync(handle);
    if (found.isDirectory()) throw Object.assign(new Error('this is a folder'), { code: 'EISDIR' });
    const mayRead = found.isFile() || (isHandedOver && (found.isFIFO() || found.isSocket()));
    if (!mayRead) throw new NotPlainError('this is not a plain file but a pipe or a device; name a file');
    const chunks: Buffer[] = [];
    for (let total = 0; ; ) {
      const chunk = Buffer.allocUnsafe(Math.max(CHUNK, Math.min(found.size - total + 1, 2 ** 26)));
      const length = readSync(handle, chunk, 0, chunk.length, null);
      if (length === 0) return Buffer.concat(chunks);
      total += length;
      if (total > bytesMax) throw new NotPlainError(`it is larger than ${bytesMax} bytes`);
      chunks.push(chunk.subarray(0, length));
    }
  } finally {
    closeSync(handle);
  }
}
