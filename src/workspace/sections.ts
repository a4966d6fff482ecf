// The sections of the merged configuration, for what needs no loadout: hooks, approvals, notifications, the ledger. It loads little, because a
// hook waits for it. `layers.ts` makes whole layers of the same files.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { userFolder, whyOpen } from '../access/user-folder.ts';
import { isTrusted } from '../git/folder-trust.ts';
import { type ConfigLayer, type LayerName, type MergedLayers, mergeLayers } from '../kernel/graph/layers.ts';
import { isObject, type Json, type JsonObject, objectAt } from '../kernel/json.ts';
import { type LocatedWorkspace, UsageError } from './locate.ts';

/** Where the configuration of a workspace is. */
export type ConfigPlace = Pick<LocatedWorkspace, 'dir' | 'configFile' | 'env'>;

/** Where the administrator of the machine writes. The variable is for machines without such a file. */
const ADMINISTRATOR = '/etc/baton/config.json';

/** The files of a person that are layers here, from the lowest to the highest. What others could have written counts in none. */
export function personalFiles({
  env = process.env,
}: Pick<ConfigPlace, 'env'>): readonly (readonly [LayerName, string])[] {
  const admin = existsSync(ADMINISTRATOR) ? ADMINISTRATOR : env.BATON_ADMIN_CONFIG;
  const user = join(userFolder(env), 'config.json');
  const all: (readonly [LayerName, string])[] = [...(admin ? [['administrator', admin] as const] : []), ['user', user]];
  const found = all.filter(([, file]) => isThere(file));
  for (const [name, file] of found) refuseOpen(name, file);
  return found;
}

/** A folder that this user may not enter holds no layer of theirs. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function refuseOpen(name: LayerName, file: string): void {
  const found = statSync(file);
  const isOfRoot = name === 'administrator' && found.uid === 0;
  const why = isOfRoot ? ((found.mode & 0o022) === 0 ? null : 'may be changed by other users') : whyOpen(found, 0o022);
  if (why === null) return;
  throw new UsageError(`${file} ${why}; \`chmod go-w ${file}\`, or make it your own`, 'INVALID_CONFIG');
}

/** A whole merge of these layers in this folder. */
export function mergedIn(
  { dir, env = process.env }: Pick<ConfigPlace, 'dir' | 'env'>,
  layers: readonly ConfigLayer[],
): MergedLayers {
  return mergeLayers(layers, () => existsSync(dir) && isTrusted(dir, env));
}

type SectionReading =
  | {
      readonly ok: true;
      readonly section: Json | undefined;
      readonly layers: readonly ConfigLayer[];
      readonly merged: MergedLayers;
    }
  | { readonly ok: false; readonly file: string; readonly why: string };

/** A locked or protected key keeps the value of its owner. */
export function sectionIn(workspace: ConfigPlace, name: string): SectionReading {
  const { configFile } = workspace;
  let file = configFile;
  try {
    const files = [...personalFiles(workspace), ...(existsSync(configFile) ? [['project', configFile] as const] : [])];
    const layers: ConfigLayer[] = [];
    for (const [layer, each] of files) {
      file = each;
      const config = plainObject(readFileSync(each, 'utf8'));
      if (!config) return { ok: false, file, why: 'it holds no object' };
      layers.push({ name: layer, file: each, config });
    }
    const merged = mergedIn(workspace, layers);
    return { ok: true, section: merged.config[name], layers, merged };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof UsageError) return { ok: false, file, why: message };
    const why = error instanceof SyntaxError ? `it is not JSON (${message})` : `it cannot be read (${message})`;
    return { ok: false, file, why };
  }
}

function plainObject(text: string): JsonObject | null {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  return isObject(value) ? value : null;
}

/** A section that is an object; an empty one where there is none. Throws what is wrong with a file. */
export function sectionObject(workspace: ConfigPlace, name: string): JsonObject {
  const read = sectionIn(workspace, name);
  if (!read.ok) throw new UsageError(`${read.file}: ${read.why}`, 'INVALID_CONFIG');
  return objectAt({ section: read.section ?? {} }, 'section');
}
