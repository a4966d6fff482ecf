// Checks what a cast needs of this machine. Each finding says what was found and, where something is missing, how to repair it.
// Nothing is changed.
import { check } from '../../kernel/graph/check.ts';
import { counted } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { BUNDLED, loadAll } from '../../workspace/find-config.ts';
import type { Loaded } from '../../workspace/load-config.ts';
import { rulesIn, uncastableIn } from '../../workspace/plan.ts';
import type { Run } from '../operation.ts';
import { findingsIn, needsOf } from '../preflight/checks.ts';
import { error, type Finding } from '../preflight/finding.ts';
import { probed } from '../preflight/probe.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'doctor'>> = async (workspace, { probe = false }, { signal, onEvent }) => {
  const { finding, loaded } = configuration(workspace);
  const needs = needsOf(loaded.flatMap(rulesIn), null);
  const answers = await probed(probe ? needs.agents : [], { signal, onEvent });
  const scene = { workspace, needs, now: Date.now(), isDoctor: true, proved: answers.proved };
  const findings = [finding, ...(await findingsIn(scene)), ...answers.findings];
  const errors = findings.filter(({ level }) => level === 'error').length;
  const reason = errors === 0 ? 'nothing is missing' : `${counted(errors, 'thing')} to repair before a cast`;
  return allow(reason, { ok: errors === 0, findings: findings.map((each) => ({ ...each })) });
};

type Configured = { readonly finding: Finding; readonly loaded: readonly Loaded[] };

function configuration(workspace: Workspace): Configured {
  try {
    const loaded = loadAll(workspace);
    const errors = loaded
      .flatMap(({ config, issues }) => [
        ...issues,
        ...(config === null ? [] : [...check(config, { utilities: UTILITY_NAMES }), ...uncastableIn(config)]),
      ])
      .filter(({ level }) => level === 'error');
    const [file = ''] = loaded.map((each) => each.file);
    const isOwn = file !== BUNDLED;
    const more = loaded.length > 1 ? ` and ${loaded.length - 1} more` : '';
    const where = isOwn ? `${file}${more}` : 'the one that comes with baton';
    const [first] = errors;
    if (first) {
      const found = `${counted(errors.length, 'error')} in ${where}; first: ${first.path}: ${first.message}`;
      return { finding: error('configuration', found, 'baton check lists them all, each with a way out'), loaded };
    }
    const fix = isOwn ? null : 'baton init makes one of your own';
    return { finding: { name: 'configuration', level: 'ok', found: where, fix }, loaded };
  } catch (cause) {
    const fix = `correct ${workspace.configFile}, or replace it with baton init --force`;
    return { finding: error('configuration', (cause as Error).message, fix), loaded: [] };
  }
}
