// Marks every file below a folder. Links are files of their own and are never followed.
import { isUtf8 } from 'node:buffer';
import { type Dirent, readdirSync } from 'node:fs';
import type { FileReader, Mark } from './changes-mark.ts';

/** Adds the marks of everything below `folder`, a path below the root or the root itself. */
export async function walkInto(
  files: Record<string, Mark>,
  reader: FileReader,
  folder: string,
  skip: readonly string[],
): Promise<void> {
  const open: { readonly path: string; readonly file: Buffer }[] = [
    { path: folder, file: Buffer.from(folder === '' ? reader.root : `${reader.root}/${folder}`) },
  ];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const entry of entriesOf(at.file)) {
      const name = nameOf(entry.name);
      const path = at.path === '' ? name : `${at.path}/${name}`;
      if (name === '.git' || skip.includes(path)) continue;
      const file = Buffer.concat([at.file, SLASH, entry.name]);
      if (entry.isDirectory()) open.push({ path, file });
      else {
        const mark = await reader.mark(path, file);
        if (mark?.content) files[path] = mark;
      }
    }
  }
}

export const SLASH = Buffer.of(0x2f);

/** A name on disk is any bytes; one that is no text is shown byte by byte, so that no two look alike. */
export function nameOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}

function entriesOf(folder: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return []; // It is gone again, or not for us to see; then nobody could have changed it for us.
  }
}
