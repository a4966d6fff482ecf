// `baton doctor`: everything a cast needs, and how to mend what is missing.

import { counted } from '../../kernel/counted.ts';
import { checkup, type Finding } from '../checkup.ts';
import { again, type Call, EXIT, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { oneLine } from '../safe-text.ts';

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', error: '✗' };

export async function run(call: Call): Promise<number> {
  const findings = await checkup(workspaceOf(call), call.env, Date.now());
  const errors = findings.filter(({ level }) => level === 'error').length;
  if (call.json) outJson({ ok: errors === 0, findings });
  else {
    for (const { name, level, found, fix } of findings) {
      out(`${MARKS[level]} ${name.padEnd(14)} ${oneLine(found, 300)}`);
      if (fix !== null && level !== 'ok') out(`  ${''.padEnd(14)} → ${fix}`);
    }
    out(
      errors === 0
        ? `Ready. Start with: ${again(call)} cast "…"`
        : `${counted(errors, 'thing')} to mend before a cast.`,
    );
  }
  return errors === 0 ? EXIT.ok : EXIT.denied;
}
