// `baton check`: every static issue of a configuration, at once.
import { check } from '../../kernel/graph/check.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { BUNDLED, loadFor } from '../../workspace/find-config.ts';
import { nearestBoundaries } from '../../workspace/registry-nearest.ts';
import { uncastableIn } from '../../workspace/uncastable.ts';
import { type Call, exitOf, flag, out, outJson } from '../command.ts';
import { counted } from '../counted.ts';
import { workspaceOf } from '../find-workspace.ts';

export async function run(call: Call): Promise<number> {
  const [file] = call.words;
  const workspace = workspaceOf(call);
  const loaded = loadFor({ file, workspace, cwd: call.cwd, loadout: undefined });
  const strict = flag(call.values, 'strict');
  const boundaries = await nearestBoundaries(workspace, loaded.baseDir, loaded.config);
  const options = { strict, utilities: UTILITY_NAMES, ...(boundaries ? { boundaries } : {}) };
  const issues = [...loaded.issues, ...check(loaded.config, options), ...uncastableIn(loaded.config)];
  const errors = issues.filter(({ level }) => level === 'error');
  const warnings = counted(issues.length - errors.length, 'warning');
  const [first] = errors;
  const found = `${counted(errors.length, 'error')}, ${warnings}`;
  const details = { file: loaded.file, issues };
  const verdict = first
    ? deny(first.code, `${found}; first: ${first.path}: ${first.message}`, details)
    : allow(issues.length === 0 ? 'no issues' : warnings, details);
  if (call.json) outJson(verdict);
  else {
    const where = loaded.file === BUNDLED ? 'the bundled configuration' : loaded.file;
    for (const { level, code, path, message } of issues) out(`${level.padEnd(7)} ${code}  ${path}\n        ${message}`);
    out(verdict.allow ? `ok: ${verdict.reason} in ${where}` : `${found} in ${where}`);
  }
  return exitOf(verdict);
}
