// Says what the layers of the configuration come to, and why.
import { fieldNames, tableFieldAt } from '../../kernel/field-schema.ts';
import { WHOLE_CONFIG } from '../../kernel/graph/config-fields.ts';
import { type ExplainedKey, explainKey, keyPathOf } from '../../kernel/graph/layers.ts';
import { isObject, type Json, type JsonObject, objectAt } from '../../kernel/json.ts';
import { scrubJson } from '../../kernel/secrets.ts';
import { nearestName } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { issuesBetween } from '../../workspace/layers.ts';
import { UsageError } from '../../workspace/locate.ts';
import type { Operation } from './table.ts';

export const configExplain: Operation<'config.explain'> = async (workspace, { explain: key, loadout, file, set }) => {
  const loaded = loadFor({ workspace, cwd: workspace.cwd, file, loadout, ...(set ? { set } : {}) });
  const { layers = [], merged } = loaded;
  const found = layers.map(({ name, file: of }) => ({ layer: name, file: of }));
  const issues = merged ? issuesBetween(merged).map((issue) => ({ ...issue })) : [];
  const config = isObject(loaded.config) ? loaded.config : {};
  if (key === undefined) {
    const sections = Object.keys(config).map((name) => {
      const of = layers
        .filter((layer) => layer.config[name] !== undefined && name !== 'locked')
        .map(({ name: by }) => by);
      return { key: name, layers: [...new Set(of)] };
    });
    const names = Object.keys(objectAt(config, 'loadouts'));
    // Without a name it is not known which of several files of the short form is meant.
    const several = layers.length === 0 && names.length > 1 ? { loadouts: names } : {};
    return allow(`${layers.length} layers`, { layers: found, config: safe(config), sections, issues, ...several });
  }
  const explained = merged
    ? explainKey(key, layers, merged)
    : explainKey(key, [], { config, locks: [], untrusted: [] });
  if (explained.layers.length === 0) refuseUnknown(keyPathOf(explained.key, config));
  const field = tableFieldAt(WHOLE_CONFIG, keyPathOf(explained.key, config, ...layers.map((layer) => layer.config)));
  const about = field?.means === undefined ? {} : { means: field.means };
  const usual = field?.default === undefined ? {} : { default: field.default };
  const whole = { ...explained, ...about, ...usual, ...withDefault(explained, usual.default) };
  return allow(`${explained.key}: ${whole.why}`, { ...safe(whole as unknown as JsonObject), all: found, issues });
};

function withDefault(
  { layers, value, why }: ExplainedKey,
  usual: Json | undefined,
): { readonly value: Json; readonly why: string } {
  return layers.length === 0 && usual !== undefined
    ? { value: usual, why: 'no layer sets it, so the default counts' }
    : { value, why };
}

/** A misspelt key is set by no layer either, and its default would be a wrong answer. */
function refuseUnknown(path: readonly string[]): void {
  for (const [index, name] of path.entries()) {
    const holder = tableFieldAt(WHOLE_CONFIG, path.slice(0, index));
    if (holder?.type !== 'object' || Object.hasOwn(holder.fields, name) || name.startsWith('x_')) continue;
    const known = fieldNames(holder.fields);
    const near = nearestName(name, known);
    const guess = near === null ? '' : `did you mean ${[...path.slice(0, index), near].join('.')}? `;
    throw new UsageError(
      `there is no key ${path.slice(0, index + 1).join('.')}; ${guess}there are: ${known.join(', ')}`,
    );
  }
}

/** Addresses of webhooks and the like may hold secrets. */
function safe(value: JsonObject): JsonObject {
  const clean = scrubJson(value).value;
  return isObject(clean) ? clean : {};
}
