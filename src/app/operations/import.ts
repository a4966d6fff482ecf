// Takes a configuration of another program over: shows what it becomes and what cannot be carried over, and writes it after a yes.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJsonText } from '../../dialects/json-text.ts';
import { isObject, isString, type Json, type JsonObject, objectAt } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { type Imported, type ImportNote, importMateria } from '../../workspace/import-materia.ts';
import { objectInFile } from '../../workspace/load-config.ts';
import { UsageError } from '../../workspace/locate.ts';
import { proposeFiles } from '../proposed-files.ts';
import type { Operation } from './table.ts';

const BYTES_MAX = 8 * 1024 * 1024;

export const materiaImport: Operation<'import.materia'> = async (workspace, { config: given, yes, replace }) => {
  const written = configIn(given);
  const imported = importMateria(written, { utilities: UTILITY_NAMES, materia: shippedMateria() });
  const own = objectInFile(workspace.configFile);
  const { config, notes } = joined(own, imported);
  const names = Object.keys(objectAt(imported.config, 'loadouts'));
  const count = notes.filter(({ kind }) => kind === 'left out').length;
  const reason = `${counted(names.length, 'loadout')} and ${Object.keys(objectAt(imported.config, 'materia')).length} materia; ${count === 0 ? 'everything was carried over' : `${count} could not be carried over`}`;
  const details = { loadouts: names, report: notes.map((note) => ({ ...note })) };
  const text = `${JSON.stringify(config, null, 2)}\n`;
  return proposeFiles(workspace, [{ path: '.baton/config.json', text }], { yes, replace }, { reason, details });
};

/** A file on the command line is text; a program gives the value. */
function configIn(given: Json): JsonObject {
  const parsed = isString(given)
    ? parseJsonText(given, { maxBytes: BYTES_MAX })
    : ({ ok: true, value: given } as const);
  if (!parsed.ok)
    throw new UsageError(`the file is no JSON: line ${parsed.line}, column ${parsed.column}: ${parsed.message}`);
  const { value } = parsed;
  if (!isObject(value))
    throw new UsageError('the file holds no object; name a configuration with materia and loadouts');
  if (value.materia === undefined && value.loadouts === undefined)
    throw new UsageError('the file has neither materia nor loadouts; name a configuration of Materia');
  return value;
}

/** What ships, as a definition of one's own: with its prompt, and without its id in the registry that ships. */
function shippedMateria(): (name: string) => JsonObject | null {
  const all = objectAt(objectInFile(BUNDLED), 'materia');
  return (name) => {
    const { identity: _identity, promptFile, ...one } = objectAt(all, name);
    if (Object.keys(one).length === 0) return null;
    const file = isString(promptFile) ? join(dirname(BUNDLED), promptFile) : '';
    return existsSync(file) ? { ...one, prompt: readFileSync(file, 'utf8').trim() } : one;
  };
}

/** Over the configuration that is there. What it has under the same name stays, and is reported. */
function joined(own: JsonObject, { config, notes }: Imported): Imported {
  const report: ImportNote[] = [...notes];
  const result: Record<string, Json> = { ...own };
  for (const [section, value] of Object.entries(config)) {
    const before = own[section];
    if (section !== 'materia' && section !== 'loadouts') {
      if (before === undefined) result[section] = value;
      else if (JSON.stringify(before) !== JSON.stringify(value)) report.push(taken(section));
      continue;
    }
    const there = objectAt(own, section);
    const added = Object.entries(isObject(value) ? value : {}).filter(([name, one]) => {
      if (there[name] === undefined) return true;
      if (JSON.stringify(there[name]) !== JSON.stringify(one)) report.push(taken(`${section}.${name}`));
      return false;
    });
    result[section] = { ...there, ...Object.fromEntries(added) };
  }
  return { config: result, notes: report };
}

function taken(path: string): ImportNote {
  const fix = 'Rename the one in .baton/config.json, or the one in the file, and import again';
  return { path, kind: 'left out', reason: '.baton/config.json has another one, which stays', fix };
}
