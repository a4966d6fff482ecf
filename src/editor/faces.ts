// The faces of a document as text: the seed's JSON, and the short form where it can say it. Each is read back into a document, with the
// line and column of every mistake. What a person wrote stays: comments, order and the way lines are broken.
import * as jsonc from 'jsonc-parser';
import * as yaml from 'yaml';
import { isObject, type Json, type JsonObject, objectAt } from '../kernel/json.ts';
import { compile } from '../short-form/compile.ts';
import { readJsonc, readWith, readYaml, type Source, tooLong } from '../short-form/read-text.ts';
import { decompile, foreignOf, type Untold } from './decompile.ts';
import { type EditorDocument, loadoutOf, materiaOf, without } from './document.ts';
import { jsonDocument, patchedJson } from './json-text.ts';
import { patchedYaml, yamlText } from './yaml-text.ts';

/** Lines and columns count from 1. */
export type TextFault = { readonly line: number; readonly column: number; readonly message: string };

export type FaceReading =
  | { readonly ok: true; readonly document: EditorDocument }
  | { readonly ok: false; readonly faults: readonly TextFault[] };

/** `before` is the text of the face so far. */
export function jsonFace({ config }: EditorDocument, before?: string): string {
  return (before === undefined ? null : patchedJson(before, config)) ?? jsonDocument(config);
}

export function readJsonFace(text: string, document: EditorDocument): FaceReading {
  const source = readWith(text, (all, offsets) => readJsonc(all, offsets, jsonc));
  if (!source.ok) return { ok: false, faults: source.mistakes };
  const { value } = source;
  const { name } = document;
  const at = (place: readonly (string | number)[], message: string): FaceReading => ({
    ok: false,
    faults: [{ ...source.positionOf(place), message }],
  });
  if (!isObject(value)) return at([], 'Write an object with materia and loadouts.');
  const names = Object.keys(objectAt(value, 'loadouts'));
  if (!isObject(value.loadouts) || !isObject(value.loadouts[name]))
    return at(['loadouts'], `Write the loadout ${name} here: "loadouts": { ${JSON.stringify(name)}: { … } }.`);
  const other = names.find((each) => each !== name);
  if (other !== undefined)
    return at(['loadouts', other], `This is the text of ${name}. Other loadouts are opened by themselves.`);
  if (value.materia !== undefined && !isObject(value.materia)) return at(['materia'], 'materia is an object.');
  return { ok: true, document: { ...document, config: value } };
}

type ShortFace =
  | { readonly ok: true; readonly text: string }
  /** Why the short form cannot say it. */
  | { readonly ok: false; readonly reasons: readonly Untold[] };

export type ShortKind = 'yaml' | 'jsonc';

export function shortFace(document: EditorDocument, before?: string, kind: ShortKind = 'yaml'): ShortFace {
  const source = before === undefined ? null : readShortSource(before, kind);
  const written = source?.ok && isObject(source.value) ? source.value : {};
  const found = decompile(document, written);
  if (!found.ok) return found;
  const { value } = found;
  if (before === undefined || !source?.ok)
    return { ok: true, text: kind === 'yaml' ? yamlText(value) : jsonDocument(value) };
  // What means the same is the same text.
  if (isUnchanged(document, written)) return { ok: true, text: before };
  return {
    ok: true,
    text: kind === 'yaml' ? patchedYaml(before, value) : (patchedJson(before, value) ?? jsonDocument(value)),
  };
}

function isUnchanged(document: EditorDocument, written: JsonObject): boolean {
  const compiled = compile(document.name, written, { materia: foreignOf(document) });
  if (!compiled.ok) return false;
  const before = documentOf(compiled.config, document);
  return JSON.stringify(ownOf(before)) === JSON.stringify(ownOf(document));
}

/** What a file of the short form says of a document. */
function ownOf(document: EditorDocument): Json {
  return [loadoutOf(document), without(materiaOf(document), ...document.foreign)];
}

export function readShortSource(text: string, kind: ShortKind): Source {
  const refused = tooLong(text);
  if (refused) return refused;
  return readWith(text, (all, offsets) =>
    kind === 'yaml' ? readYaml(all, offsets, yaml) : readJsonc(all, offsets, jsonc),
  );
}

export function readShortFace(text: string, document: EditorDocument, kind: ShortKind = 'yaml'): FaceReading {
  const source = readShortSource(text, kind);
  if (!source.ok) return { ok: false, faults: source.mistakes };
  const compiled = compile(document.name, source.value, { materia: foreignOf(document) });
  if (!compiled.ok)
    return {
      ok: false,
      faults: compiled.mistakes.map(({ place, message }) => ({ ...source.positionOf(place), message })),
    };
  return { ok: true, document: documentOf(compiled.config, document) };
}

/** The document of a compiled file: what the file defines, over what is defined elsewhere. */
export function documentOf(compiled: JsonObject, around: EditorDocument): EditorDocument {
  const { config, name, foreign, files } = around;
  const { materia: _materia, loadouts: _loadouts, budget, ...rest } = config;
  const merged = { ...objectAt(config, 'budget'), ...objectAt(compiled, 'budget') };
  const own = objectAt(compiled, 'materia');
  return {
    name,
    config: {
      ...rest,
      ...(Object.keys(merged).length === 0 ? {} : { budget: merged }),
      materia: { ...foreignOf(around), ...own },
      loadouts: { [name]: objectAt(objectAt(compiled, 'loadouts'), name) },
    },
    foreign: foreign.filter((id) => !Object.hasOwn(own, id)),
    files,
  };
}
