// Which configuration counts: the named one, the project's own, or the one that comes with the product.
import { statSync } from 'node:fs';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDefaultRunner } from '../kernel/graph/runner-choice.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { type Loaded, loadConfig } from './load-config.ts';
import type { Workspace } from './locate.ts';

export type Wanted = {
  readonly workspace: Workspace;
  readonly file: string | undefined;
  readonly loadout: string | undefined;
  readonly cwd: string;
};

/** The named file; else the project's own configuration; else, without one, what ships with the product. Its default runner is filled in. */
export function loadFor(wanted: Wanted): Loaded {
  const loaded = loadedFor(wanted);
  return isObject(loaded.config) ? { ...loaded, config: withDefaultRunner(loaded.config) } : loaded;
}

function loadedFor({ file, workspace, cwd, loadout }: Wanted): Loaded {
  if (file !== undefined) return loadConfig(resolvePath(cwd, file));
  if (!isThere(workspace.configFile)) return loadConfig(BUNDLED);
  const own = loadConfig(workspace.configFile);
  return loadout !== undefined && !has(own.config, loadout) && has(loadConfig(BUNDLED).config, loadout)
    ? loadConfig(BUNDLED)
    : own;
}

/** `src/bundled` in a checkout, `dist/bundled` in the package. */
export const BUNDLED = join(dirname(fileURLToPath(import.meta.url)), '..', 'bundled', 'config.json');

/** Anything but a plain absence counts as there, so that reading it says what is wrong. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function has(config: Json, loadout: string): boolean {
  return isObject(config) && isObject(config.loadouts) && Object.hasOwn(config.loadouts, loadout);
}
