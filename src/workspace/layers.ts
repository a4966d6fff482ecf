// Whole layers of the configuration, with the files that they name, and what is wrong between them. They are the administrator's file, the
// user's own, and the project's `.baton/config.json`; a named file and flags come on top.

import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Issue } from '../kernel/graph/config.ts';
import {
  type ConfigLayer,
  type KeyPath,
  keyPathOf,
  type LayerName,
  layerOf,
  type MergedLayers,
} from '../kernel/graph/layers.ts';
import { isObject, isString, type Json, type JsonObject, objectAt } from '../kernel/json.ts';
import { type FileLayer, readJsonFile, withFiles } from './load-config.ts';
import { UsageError } from './locate.ts';
import { type ConfigPlace, personalFiles } from './sections.ts';

/** The layers of persons here, from the lowest to the highest. */
export function personalLayers(place: Pick<ConfigPlace, 'env'>): readonly FileLayer[] {
  return personalFiles(place).map(([name, file]) => {
    const config = readPersonal(file);
    if (isObject(config)) return layerIn(name, file, config, dirname(realpathSync(file)));
    throw new UsageError(`${file} is no JSON object; correct it or move it away`, 'INVALID_CONFIG');
  });
}

/** The call names no such file, so a broken one is a fault of the configuration and not of the call. */
function readPersonal(file: string): Json {
  try {
    return readJsonFile(file);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(error.message, 'INVALID_CONFIG');
    throw error;
  }
}

/** A layer whose prompts, schemas and scripts are those next to its own file, whichever loadout is cast. */
export function layerIn(name: LayerName, file: string, written: JsonObject, baseDir: string): FileLayer {
  const { config, issues } = withFiles(file, written, baseDir);
  return withOwnScripts({ name, file, config: isObject(config) ? config : {}, baseDir, issues });
}

/** The same with the relative scripts of its commands made absolute. */
export function withOwnScripts(layer: FileLayer): FileLayer {
  const { config, baseDir } = layer;
  if (!isObject(config.materia)) return layer;
  const materia = Object.fromEntries(
    Object.entries(config.materia).map(([id, one]) => [id, isObject(one) ? withOwnScript(one, baseDir) : one]),
  );
  return { ...layer, config: { ...config, materia } };
}

function withOwnScript(materia: JsonObject, baseDir: string): JsonObject {
  const { command } = materia;
  if (!Array.isArray(command)) return materia;
  const isScript = (at: number) => at === 0 || (at === 1 && command[0] === 'node');
  const words = command.map((word, at) =>
    isString(word) && word.startsWith('./') && isScript(at) ? join(baseDir, word) : word,
  );
  return { ...materia, command: words };
}

/** What a flag may set: nothing that runs a program, reaches another place or reads a variable. */
const FLAG_SECTIONS = ['budget', 'limits', 'defaults', 'language', 'runners', 'prices', 'mcp', 'compaction'];
const FLAG_FIELDS = ['model', 'thinking', 'timeoutMs', 'runner'];

/** The layer of the flags of a call; none where there are no flags. */
export function flagLayer(set: readonly string[], below: readonly ConfigLayer[]): readonly FileLayer[] {
  if (set.length === 0) return [];
  let config: JsonObject = {};
  for (const each of set) {
    const at = each.indexOf('=');
    if (at < 1)
      throw new UsageError(`--set takes KEY=VALUE, such as budget.maxTokens=500000, not ${each.slice(0, 80)}`);
    const key = keyPathOf(each.slice(0, at).trim(), ...below.map((layer) => layer.config));
    const [section = '', , field = ''] = key;
    const isMateria = section === 'materia' && key.length === 3 && FLAG_FIELDS.includes(field);
    if (!isMateria && !FLAG_SECTIONS.includes(section)) {
      const may = `${FLAG_SECTIONS.join(', ')} and materia.ID.${FLAG_FIELDS.join('|')}`;
      throw new UsageError(`--set may not set ${key.join('.')}; it sets ${may}. Write the rest into a file`);
    }
    config = withKey(config, key, flagValue(each.slice(at + 1)));
  }
  return [{ name: 'flags', file: '--set', config, baseDir: '', issues: [] }];
}

function flagValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function withKey(config: JsonObject, [name = '', ...rest]: KeyPath, value: Json): JsonObject {
  return { ...config, [name]: rest.length === 0 ? value : withKey(objectAt(config, name), rest, value) };
}

/** What is wrong between the layers: a locked key that is set, and what an untrusted project would change. */
export function issuesBetween({ locks, untrusted }: MergedLayers): readonly Issue[] {
  return [
    ...locks.map(({ key, lockedBy, setBy }): Issue => {
      const message = `${lockedBy.file} locks ${key}, and ${setBy.file} sets it. Remove it from ${setBy.file}, or unlock it in ${lockedBy.file}.`;
      return { code: 'CONFIG_LOCKED', level: 'error', path: key, message };
    }),
    ...untrusted.map(({ key, keptFrom, setBy }): Issue => {
      const message = `${setBy.file} changes ${key}, which ${keptFrom.file} sets, and the folder is not trusted. Look at it; \`baton trust\` lets it count.`;
      return { code: 'FOLDER_UNTRUSTED', level: 'error', path: key, message };
    }),
  ];
}

/** An issue at a place that another file sets names that file. */
export function fromLayer(issue: Issue, layers: readonly ConfigLayer[], own: string): Issue {
  if (layers.length === 0) return issue;
  const layer = layerOf(layers, keyPathOf(issue.path, ...layers.map(({ config }) => config)));
  const isOther = layer !== null && layer.file !== own && (layer.name === 'user' || layer.name === 'administrator');
  return isOther && !issue.message.includes(layer.file)
    ? { ...issue, message: `${layer.file}: ${issue.message}` }
    : issue;
}
