// How the answers about contracts are shown.
import { ANSWERS } from '../../kernel/codes.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { Ready } from '../paint.ts';
import { oneLine, safe } from '../safe-text.ts';
import { type Forms, rowsIn } from './form.ts';

export const forms: Forms = {
  check: {
    notes: ({ machine }) => machineLines(rowsIn(machine)),
    lines: (details, _call, _given, verdict) => issueLines(details, verdict),
    refusal: 'same',
  },
  compile: { value: 'config', lines: ({ config }) => [new Ready(JSON.stringify(config, null, 2))] },
  graph: {
    lines: ({ text }) =>
      safe(String(text))
        .trimEnd()
        .split('\n')
        .map((line) => new Ready(line)),
  },
  explain: { value: (details) => details.codes ?? details, lines: codeLines },
};

function issueLines({ file, issues }: JsonObject, { allow, reason }: Verdict): readonly string[] {
  const where = file === BUNDLED ? 'the bundled configuration' : file;
  const rows = rowsIn(issues);
  const errors = rows.filter(({ level }) => level === 'error').length;
  const found = `${counted(errors, 'error')}, ${counted(rows.length - errors, 'warning')}`;
  return [
    ...rows.map(({ level, code, path, message }) => `${String(level).padEnd(7)} ${code}  ${path}\n        ${message}`),
    allow ? `ok: ${reason} in ${where}` : `${found} in ${where}`,
  ];
}

/** What this machine lacks is no mistake of the files. */
function machineLines(findings: readonly JsonObject[]): readonly string[] {
  const lines = findings.map(({ level, name, found, fix }) => {
    return `${level === 'error' ? '✗' : '!'} ${String(name).padEnd(12)} ${oneLine(String(found), 300)}\n        → ${fix}`;
  });
  return lines.length === 0 ? [] : ['This machine lacks what a cast needs:', ...lines];
}

const RETRY: Readonly<Record<string, string>> = {
  repaired: 'after the payload was repaired',
  later: 'later, as it is',
  person: 'after a person acted',
  never: 'not at all',
};

function codeLines({ codes, code, means, cause, fix, retry, http }: JsonObject): readonly string[] {
  if (codes) return Object.entries(ANSWERS).map(([each, row]) => `${each.padEnd(28)} ${row.means}`);
  return [
    `${code}: ${means}`,
    `  caused by    ${cause}`,
    `  what to do   ${fix}`,
    `  trying again helps ${RETRY[String(retry)]}`,
    `  HTTP status  ${http}`,
  ];
}
