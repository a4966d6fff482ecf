// `baton check`: every static issue of a configuration, at once.

import { resolve } from 'node:path';
import { check } from '../../kernel/graph/check.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { loadConfig } from '../../workspace/load-config.ts';
import { locate } from '../../workspace/locate.ts';
import { loadFor } from '../../workspace/plan.ts';
import { type Call, EXIT, flag, out, outJson, text, UsageError } from '../command.ts';

export async function run(call: Call): Promise<number> {
  if (call.words.length > 1) throw new UsageError('check one file at a time');
  const workspace = locate(text(call.values, 'directory'), call.env, call.cwd);
  if (!workspace) throw new UsageError(`there is no folder ${text(call.values, 'directory')}`);
  const file = call.words[0];
  const loaded =
    file === undefined
      ? loadFor({ file: undefined, workspace, cwd: call.cwd, loadout: undefined })
      : loadConfig(resolve(text(call.values, 'directory') === undefined ? call.cwd : workspace.dir, file));
  const strict = flag(call.values, 'strict');
  const issues = [...loaded.issues, ...check(loaded.config, { strict })];
  const errors = issues.filter(({ level }) => level === 'error');
  const warnings = issues.length - errors.length;
  const [first] = errors;
  const verdict = first
    ? deny(first.code, `${errors.length} errors, ${warnings} warnings; first: ${first.path}: ${first.message}`, {
        issues,
      })
    : allow(warnings === 0 ? 'no issues' : `${warnings} warnings`, { issues });
  if (call.json) outJson(verdict);
  else {
    for (const { level, code, path, message } of issues) out(`${level.padEnd(7)} ${code}  ${path}\n        ${message}`);
    out(verdict.allow ? `ok: ${verdict.reason}` : `${errors.length} errors, ${warnings} warnings`);
  }
  return verdict.allow ? EXIT.ok : EXIT.denied;
}
