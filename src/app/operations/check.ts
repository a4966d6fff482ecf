// Every static issue of the configuration, at once: of config.json and of each loadout in the short form.
import { check } from '../../kernel/graph/check.ts';
import type { Issue } from '../../kernel/graph/config.ts';
import { objectAt } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { loadAll, loadFor } from '../../workspace/find-config.ts';
import type { Loaded } from '../../workspace/load-config.ts';
import { asCast, rulesIn, uncastableIn } from '../../workspace/plan.ts';
import { nearestBoundaries } from '../../workspace/registry-boundaries.ts';
import { inOwnWords } from '../../workspace/team-files.ts';
import type { Run } from '../operation.ts';
import { findingsIn, needsOf } from '../preflight/checks.ts';
import type { Finding } from '../preflight/finding.ts';
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
  const machine = await lackingIn(all, workspace);
  const [first] = errors;
  const [one, another] = all.map((loaded) => loaded.file);
  const details = {
    file: one ?? '',
    ...(another === undefined ? {} : { files: all.map((loaded) => loaded.file) }),
    issues,
    machine: machine.map((finding) => ({ ...finding })),
  };
  if (!first) return allow(issues.length === 0 ? 'no issues' : warnings, details);
  const counts = `${counted(errors.length, 'error')}, ${warnings}`;
  return deny(first.code, `${counts}; first: ${first.path}: ${first.message}`, details);
};

/** What this machine lacks for a cast. It is shown beside the issues and is none: files are checked on other machines, too. */
async function lackingIn(all: readonly Loaded[], workspace: Workspace): Promise<readonly Finding[]> {
  const needs = needsOf(all.flatMap(rulesIn), null);
  const found = await findingsIn({ workspace, needs, now: Date.now(), isDoctor: false, proved: new Set() });
  return found.filter(({ level }) => level !== 'ok');
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
