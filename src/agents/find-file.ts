// The file that a name of a program stands for, as a shell would find it.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** Null where there is no such file that may be run. A name with a slash is looked up from `cwd`, any other on `PATH`. */
export function fileOf(program: string, path: string | undefined, cwd: string): string | null {
  if (program.includes('/')) return [resolve(cwd, program)].find(isProgram) ?? null;
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isProgram) ?? null;
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
