// Reads the text of a short form, YAML, JSONC or TypeScript, and remembers the place of each value. A parser is loaded when a file needs
// it: the one of YAML costs as much as the rest of a short command.
import { createRequire } from 'node:module';
import type { JsonObject } from '../kernel/json.ts';
import type { SourcePath } from './compile.ts';
import { positionAt, readJsonc, readWith, readYaml, type Source, tooLong } from './read-text.ts';

const load = createRequire(import.meta.url);

export type SourceKind = 'yaml' | 'jsonc' | 'ts';

export function readSource(text: string, kind: SourceKind): Source {
  const refused = tooLong(text);
  if (refused) return refused;
  if (kind === 'ts') return readTypeScript(text);
  return kind === 'yaml'
    ? readWith(text, (all, offsets) => readYaml(all, offsets, load('yaml') as typeof import('yaml')))
    : readWith(text, (all, offsets) => readJsonc(all, offsets, load('jsonc-parser') as typeof import('jsonc-parser')));
}

function readTypeScript(text: string): Source {
  const { evaluateLoadout } = load('./evaluate.ts') as typeof import('./evaluate.ts');
  const read = evaluateLoadout(text);
  if (!read.ok) return { ok: false, mistakes: [{ line: read.line, column: 1, message: read.message }] };
  return { ok: true, value: read.value, positionOf: (place) => positionAt(text, writtenAt(text, place)) };
}

/** Where the names of a place are written, one after the other. Values that were worked out are nowhere in the text. */
function writtenAt(text: string, place: SourcePath): number {
  let at = 0;
  let end = 0;
  for (const key of place) {
    if (typeof key !== 'string') continue;
    const found = new RegExp(`(?<![\\w-])(['"]?)${key.replace(/[^\w-]/g, '\\$&')}\\1\\s*:`).exec(text.slice(end));
    if (!found) break;
    at = end + found.index;
    end = at + found[0].length;
  }
  return at;
}

/** A short form as YAML: each step on one line, its options in braces. */
export function yamlOf(form: JsonObject): string {
  const { Document, isMap, isSeq } = load('yaml') as typeof import('yaml');
  const document = new Document(form);
  const onOneLine = (steps: unknown): void => {
    for (const step of isSeq(steps) ? steps.items : []) {
      if (!isMap(step)) continue;
      const inner = step.get('do', true);
      for (const { value } of inner ? [] : step.items) if (isMap(value)) value.flow = true;
      onOneLine(inner);
    }
  };
  onOneLine(document.get('steps', true));
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** The object of a JSON text that the offset is in: `materia.fix`. The text may be broken. */
export function placeAt(text: string, offset: number): string {
  const { getLocation } = load('jsonc-parser') as typeof import('jsonc-parser');
  const { path } = getLocation(text, offset);
  return path.filter((key) => key !== '').join('.');
}
