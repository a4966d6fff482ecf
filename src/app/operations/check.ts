// Every static issue of a configuration, at once.
import { counted } from '../../kernel/counted.ts';
import { check } from '../../kernel/graph/check.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { nearestBoundaries } from '../../workspace/registry-nearest.ts';
import { uncastableIn } from '../../workspace/uncastable.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'check'>> = async (workspace, { file, strict = false }) => {
  const loaded = loadFor({ file, workspace, cwd: workspace.cwd, loadout: undefined });
  const boundaries = await nearestBoundaries(workspace, loaded.baseDir, loaded.config);
  const options = { strict, utilities: UTILITY_NAMES, ...(boundaries ? { boundaries } : {}) };
  const issues = [...loaded.issues, ...check(loaded.config, options), ...uncastableIn(loaded.config)];
  const errors = issues.filter(({ level }) => level === 'error');
  const warnings = counted(issues.length - errors.length, 'warning');
  const [first] = errors;
  const details = { file: loaded.file, issues };
  if (!first) return allow(issues.length === 0 ? 'no issues' : warnings, details);
  const found = `${counted(errors.length, 'error')}, ${warnings}`;
  return deny(first.code, `${found}; first: ${first.path}: ${first.message}`, details);
};
