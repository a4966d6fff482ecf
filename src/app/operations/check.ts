// Every static issue of the configuration, at once: of config.json and of each loadout in the short form.
import { check } from '../../kernel/graph/check.ts';
import type { Issue } from '../../kernel/graph/config.ts';
import { isObject, type Json, objectAt } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { loadAll, loadFor } from '../../workspace/find-config.ts';
import type { Loaded } from '../../workspace/load-config.ts';
import { uncastableIn } from '../../workspace/plan.ts';
import { nearestBoundaries } from '../../workspace/registry-boundaries.ts';
import { inOwnWords } from '../../workspace/team-files.ts';
import type { Run } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'check'>> = async (workspace, { file, strict = false }) => {
  const all =
    file === undefined ? loadAll(workspace) : [loadFor({ file, workspace, cwd: workspace.cwd, loadout: undefined })];
  const found: Issue[] = [];
  for (const loaded of all) found.push(...(await issuesIn(loaded, workspace, strict)));
  const errors = found.filter(({ level }) => level === 'error');
  const issues = [...errors, ...found.filter(({ level }) => level !== 'error')];
  const warnings = counted(issues.length - errors.length, 'warning');
  const [first] = errors;
  const [one, another] = all.map((loaded) => loaded.file);
  const details = {
    file: one ?? '',
    ...(another === undefined ? {} : { files: all.map((loaded) => loaded.file) }),
    issues,
  };
  if (!first) return allow(issues.length === 0 ? 'no issues' : warnings, details);
  const counts = `${counted(errors.length, 'error')}, ${warnings}`;
  return deny(first.code, `${counts}; first: ${first.path}: ${first.message}`, details);
};

const STOPS = ['BOUNDARY_REFUSED', 'PROMPT_BYTES_MISMATCH'];

/** Where the registry of the workspace keeps an agent of a loadout from starting, every cast of it would fail. */
function asCast(issue: Issue, config: Json): Issue {
  if (!STOPS.includes(issue.code)) return issue;
  const loadouts = Object.values(objectAt(isObject(config) ? config : {}, 'loadouts')).filter(isObject);
  const sockets = loadouts.flatMap((loadout) => Object.values(objectAt(loadout, 'sockets')));
  const isUsed = sockets.some(
    (socket) => isObject(socket) && `${issue.path}.`.startsWith(`materia.${socket.materia}.`),
  );
  return isUsed ? { ...issue, level: 'error' } : issue;
}

export async function issuesIn(loaded: Loaded, workspace: Workspace, strict: boolean): Promise<readonly Issue[]> {
  const { config, source } = loaded;
  if (config === null) return loaded.issues;
  const boundaries = await nearestBoundaries(workspace, loaded.baseDir, config);
  const options = { strict, utilities: UTILITY_NAMES, ...(boundaries ? { boundaries } : {}) };
  const checked = check(config, options).map((issue) => (boundaries?.isInForce ? asCast(issue, config) : issue));
  const all = [...loaded.issues, ...checked, ...uncastableIn(config)];
  if (!source) return all;
  // What config.json adds is reported with config.json.
  const own = ['loadouts', 'materia'].flatMap((section) =>
    Object.keys(objectAt(source.compiled, section)).map((name) => `${section}.${name}`),
  );
  const isOwn = ({ path }: Issue) => own.some((begin) => path === begin || path.startsWith(`${begin}.`));
  return all.filter(isOwn).map((issue) => inOwnWords(issue, loaded));
}
