// Loadouts as the editor works on them: open one, check or print one that is not saved, save it, duplicate it.
import { dirname } from 'node:path';
import { parseJsonText } from '../../dialects/json-text.ts';
import { checkDocument, located } from '../../editor/check.ts';
import { duplicateOf } from '../../editor/clip.ts';
import { type EditorDocument, filledIn, loadoutOf } from '../../editor/document.ts';
import { jsonFace, shortFace } from '../../editor/faces.ts';
import { mergeDocuments } from '../../editor/merge.ts';
import { check, issuesOf } from '../../kernel/graph/check.ts';
import { withDefaultRunner } from '../../kernel/graph/issue.ts';
import { type ConfigLayer, type MergedLayers, mergeLayers } from '../../kernel/graph/layers.ts';
import { resolve } from '../../kernel/graph/resolve.ts';
import { isObject, isString, isText, type Json, type JsonObject, objectAt } from '../../kernel/json.ts';
import { counted, nearestName, utf8Length } from '../../kernel/text.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import { loadAll, withManifestIds } from '../../workspace/find-config.ts';
import { issuesBetween, personalLayers } from '../../workspace/layers.ts';
import {
  blankLoadout,
  changedSince,
  type FileDigests,
  type OpenedLoadout,
  openLoadout,
  type PlannedWrite,
  planSave,
  shippedMateria,
  writeFiles,
} from '../../workspace/loadout-files.ts';
import { nearestBoundaries } from '../../workspace/registry-boundaries.ts';
import { drawMermaid, drawSvg, drawText } from '../views/draw-graph.ts';
import { drawingOf } from '../views/graph-drawing.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

export const loadoutOpen: Operation<'loadout.open'> = async (workspace, { name, blank = false, layer }) => {
  const there = openLoadout(workspace, name);
  if (blank && there && there.layer !== 'bundled')
    return deny('LOADOUT_EXISTS', `There is a loadout ${name} already. Choose another name.`, { name });
  const opened = blank ? blankLoadout(workspace, name, layer) : there;
  if (!opened) return unknownLoadout(workspace, name);
  return allow(`${name}: ${opened.readOnly ?? opened.file}`, {
    ...shown(opened),
    identities: identitiesIn(workspace, opened.document),
    shipped: { ...shippedMateria() },
    utilities: { ...UTILITY_NAMES } as unknown as JsonObject,
  });
};

function shown({ document, digests, faults, ...opened }: OpenedLoadout): JsonObject {
  return {
    ...opened,
    digests: { ...digests },
    document: document && asJson(document),
    faults: faults.map((each) => ({ ...each })),
  };
}

function asJson({ name, config, foreign, files }: EditorDocument): JsonObject {
  return { name, config, foreign: [...foreign], files: { ...files } };
}

/** Who each materia is in the registry. Its prompt is pinned: an edit runs only after it was accepted. */
function identitiesIn({ configFile }: Workspace, document: EditorDocument | null): JsonObject {
  if (!document) return {};
  const config = withManifestIds(dirname(configFile), document.config);
  const known = Object.entries(objectAt(config, 'materia')).flatMap(([id, each]): [string, Json][] =>
    isObject(each) && isText(each.identity) ? [[id, each.identity]] : [],
  );
  return Object.fromEntries(known);
}

function unknownLoadout(workspace: Workspace, name: string): Denied {
  const known = loadAll(workspace).flatMap(({ config }) =>
    Object.keys(objectAt(isObject(config) ? config : {}, 'loadouts')),
  );
  const near = nearestName(name, known);
  const guess = near === null ? '' : ` Did you mean ${near}?`;
  const reason = `There is no loadout ${JSON.stringify(name)}.${guess} There are: ${known.join(', ') || 'none'}.`;
  return deny('UNKNOWN_LOADOUT', reason, { name, known });
}

const DOCUMENT_BYTES_MAX = 8 * 1024 * 1024;
const NAME_CHARS_MAX = 200;

type Given =
  | { readonly ok: true; readonly document: EditorDocument; readonly digests: FileDigests }
  | { readonly ok: false; readonly refusal: Denied };

/** The command line gives the text of a file. */
export function valueIn(given: Json): Json {
  if (!isString(given)) return given;
  const parsed = parseJsonText(given, { maxBytes: DOCUMENT_BYTES_MAX });
  return parsed.ok ? parsed.value : null;
}

/** A document as `loadout.open` answers it. Who sends it is not believed. */
function documentIn(given: Json): Given {
  const value = valueIn(given);
  const wrong = (what: string): Given => ({
    ok: false,
    refusal: deny('BAD_USAGE', `The document is none: ${what}. Send what \`loadout.open\` answers, changed.`),
  });
  if (!isObject(value)) return wrong('it is no object');
  if (utf8Length(JSON.stringify(value)) > DOCUMENT_BYTES_MAX)
    return wrong(`it has more than ${DOCUMENT_BYTES_MAX} bytes`);
  // The answer of `loadout.open` as it is, or the document in it.
  const inner = isObject(value.document) ? value.document : value;
  const { name, config, foreign = [], files = {} } = inner;
  const digests = value.digests ?? inner.digests ?? {};
  if (!isText(name) || name.length > NAME_CHARS_MAX || name === '__proto__' || /\p{Cc}/u.test(name))
    return wrong('its name cannot be that of a loadout');
  if (!isObject(config) || !isObject(objectAt(config, 'loadouts')[name]))
    return wrong(`config holds no loadout ${name}`);
  if (config.materia !== undefined && !isObject(config.materia)) return wrong('materia is no object');
  if (!Array.isArray(foreign) || !foreign.every(isString)) return wrong('foreign is no list of names');
  if (!isObject(files) || !Object.values(files).every(isString)) return wrong('files are texts by their names');
  if (!isObject(digests)) return wrong('digests are no object');
  const document = {
    name,
    config,
    foreign: foreign as readonly string[],
    files: files as Readonly<Record<string, string>>,
  };
  return { ok: true, document, digests: digests as FileDigests };
}

export const loadoutCheck: Operation<'loadout.check'> = async (workspace, { document: given }) => {
  const read = documentIn(given);
  if (!read.ok) return read.refusal;
  const { document } = read;
  const home = dirname(workspace.configFile);
  const merged = underneath(workspace, filledIn(document));
  const config = withManifestIds(home, withDefaultRunner(merged.config));
  const boundaries = await nearestBoundaries(workspace, home, config);
  const found = check(config, { utilities: UTILITY_NAMES, ...(boundaries ? { boundaries } : {}) });
  const missing = checkDocument(document).filter(({ path }) => path.endsWith('.promptFile'));
  const locked = located(document, issuesBetween({ ...merged, untrusted: [] }));
  const own = located(document, issuesOf(found, document.name, config));
  const issues = [...locked, ...own, ...missing].map((issue) => ({ ...issue })) as unknown as readonly JsonObject[];
  const errors = issues.filter(({ level }) => level === 'error').length;
  const reason = `${counted(errors, 'error')}, ${counted(issues.length - errors, 'warning')}`;
  return allow(issues.length === 0 ? 'no issues' : reason, { ok: errors === 0, issues });
};

/** With the sections that lower layers set, merged as for a cast: a checker of the user is one here, too. */
function underneath(workspace: Workspace, config: JsonObject): MergedLayers {
  const below = personalLayers(workspace).map((layer): ConfigLayer => {
    const {
      loadouts: _loadouts,
      materia: _materia,
      activeLoadout: _active,
      activeLoadoutId: _id,
      ...rest
    } = layer.config;
    return { ...layer, config: rest };
  });
  // A check runs nothing, so no person has to trust the folder for it.
  return mergeLayers([...below, { name: 'project', file: workspace.configFile, config }], () => true);
}

const DRAW = { text: drawText, mermaid: drawMermaid, svg: drawSvg } as const;

export const loadoutPrint: Operation<'loadout.print'> = async (_workspace, { document: given, format = 'json' }) => {
  const read = documentIn(given);
  if (!read.ok) return read.refusal;
  const { document } = read;
  if (format === 'json') return allow('printed', { format, text: jsonFace(document) });
  if (format === 'short') {
    const face = shortFace(document);
    if (face.ok) return allow('printed', { format, text: face.text });
    const reasons = face.reasons.map((each) => ({ ...each }));
    return deny('INVALID_CONFIG', `The short form cannot say it. ${face.reasons[0]?.message ?? ''}`, { reasons });
  }
  const config = withDefaultRunner(filledIn(document));
  const [error] = issuesOf(check(config), document.name, config).filter(({ level }) => level === 'error');
  if (error) return deny(error.code, `It cannot be drawn before it is sound. ${error.message}`, { path: error.path });
  const drawing = drawingOf(resolve(config, document.name));
  return allow('printed', { format, text: DRAW[format](drawing) });
};

export const loadoutSave: Operation<'loadout.save'> = async (
  workspace,
  { document: given, base, as, layer, preview = false },
) => {
  const read = documentIn(given);
  if (!read.ok) return read.refusal;
  const { document, digests } = read;
  const planned = planSave(workspace, document, { ...(as ? { form: as } : {}), ...(layer ? { layer } : {}) });
  if (!planned.ok) return deny(planned.code, planned.reason, planned.details);
  const { writes, notes, folder } = planned;
  const changed = changedSince(folder, writes, digests);
  if (changed.length > 0) return conflictOf(workspace, document, base, changed);
  const details = { name: document.name, notes: [...notes], files: writes.map((each) => ({ ...each })) };
  if (writes.length === 0) return allow('nothing differs from what is saved', { ...details, saved: false });
  if (preview) return allow(`${counted(writes.length, 'file')} would change`, { ...details, saved: false });
  writeFiles(folder, writes);
  const after = openLoadout(workspace, document.name);
  return allow(`saved ${document.name}: ${writes.map(({ path }) => path).join(', ')}`, {
    ...details,
    saved: true,
    ...(after ? shown(after) : {}),
  });
};

/** Nothing is written. Both texts are shown, and what a merge of both would be. */
function conflictOf(
  workspace: Workspace,
  document: EditorDocument,
  base: Json | undefined,
  changed: readonly PlannedWrite[],
): Denied {
  const now = openLoadout(workspace, document.name);
  const before = base === undefined ? null : documentIn(base);
  const files = changed.map(({ path, before: theirs, after: ours }) => ({ path, theirs, ours }));
  const merged = before?.ok && now?.document ? mergeDocuments(before.document, document, now.document) : null;
  const which = changed.map(({ path }) => path).join(', ');
  const reason = `${which} changed since it was opened, so nothing is written. Merge both, then save again.`;
  return deny('LOADOUT_CHANGED', reason, {
    files,
    now: now ? shown(now) : null,
    merged: merged && asJson(merged.document),
    conflicts: (merged?.conflicts ?? []).map((each) => ({ ...each, path: [...each.path] })),
  });
}

export const loadoutDuplicate: Operation<'loadout.duplicate'> = async (
  workspace,
  { name, as: copy, layer, preview = false },
) => {
  const source = openLoadout(workspace, name);
  if (!source) return unknownLoadout(workspace, name);
  if (!source.document)
    return deny('INVALID_CONFIG', `${name} cannot be read: ${source.faults[0]?.message ?? ''}`, { file: source.file });
  if (openLoadout(workspace, copy))
    return deny('LOADOUT_EXISTS', `There is a loadout ${copy} already. Choose another name.`, { name: copy });
  const target = blankLoadout(workspace, copy, layer);
  const { document, notes } = duplicateOf(source.document, target.document as EditorDocument, {
    isBundled: source.layer === 'bundled',
    isShort: source.home === 'short' && layer !== 'user',
  });
  const read = documentIn({ ...asJson(document), digests: { ...target.digests } });
  if (!read.ok) return read.refusal;
  const isShort = source.home === 'short' && layer !== 'user';
  const planned = planSave(workspace, document, { form: isShort ? 'short' : 'config', ...(layer ? { layer } : {}) });
  if (!planned.ok) return deny(planned.code, planned.reason, planned.details);
  const changed = changedSince(planned.folder, planned.writes, target.digests);
  if (changed.length > 0) return conflictOf(workspace, document, undefined, changed);
  return written(planned.folder, document, planned.writes, [...notes, ...planned.notes], preview);
};

function written(
  folder: string,
  document: EditorDocument,
  writes: readonly PlannedWrite[],
  notes: readonly string[],
  preview: boolean,
): Verdict {
  const details = { name: document.name, notes: [...notes], files: writes.map((each) => ({ ...each })) };
  const steps = Object.keys(objectAt(loadoutOf(document), 'sockets')).length;
  if (preview) return allow(`${counted(writes.length, 'file')} would change`, { ...details, saved: false });
  writeFiles(folder, writes);
  return allow(`saved ${document.name} with ${counted(steps, 'step')}`, { ...details, saved: true });
}
