// The sections of shared knowledge that the configuration of a workspace names.
import { readFileSync } from 'node:fs';
import { given, objectAt } from '../kernel/graph/authored.ts';
import { isObject } from '../kernel/json.ts';
import type { Workspace } from '../workspace/locate.ts';

/** Null where nobody said which there are, or where that cannot be read: `baton check` says what is wrong with it. */
export function declaredSections({ configFile }: Workspace): readonly string[] | null {
  try {
    const config: unknown = JSON.parse(readFileSync(configFile, 'utf8').replace(/^\uFEFF/, ''));
    if (!isObject(config)) return null;
    const context = objectAt(config, 'context');
    return given(context, 'sections') === undefined ? null : Object.keys(objectAt(context, 'sections'));
  } catch {
    return null;
  }
}
