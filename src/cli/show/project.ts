// How the answers about configurations, codes and the machine are shown.

import type { DetectedAgent } from '../../agents/detect.ts';
import type { SelfTest } from '../../app/operations/agents.ts';
import type { MachineFinding } from '../../app/preflight/machine.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { again, type Call } from '../command.ts';
import { paintFor, Ready, type ShownLine, table } from '../paint.ts';
import { oneLine, safe, wrap } from '../terminal-text.ts';
import { type Forms, reasonLine, rowsIn } from './form.ts';

const isBad = ({ ok }: JsonObject): boolean => ok === false;

export const PROJECT_FORMS: Forms = {
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
  doctor: { value: (details) => details, lines: findingLines, isBad },
  notify: { lines: reasonLine, refusal: 'fault' },
  'agents.list': { value: (details) => details, lines: agentLines },
  'agents.test': {
    value: (details) => details,
    each: (result) => [testedLine(result as unknown as SelfTest)],
    lines: () => [],
    refusal: 'fault',
    isBad,
  },
  'hooks.verify': {
    value: (details) => details,
    lines: ({ verified, reason }) => [`${verified ? 'Verified' : 'Not verified'}: ${reason}.`],
    isBad: ({ verified }) => verified === false,
  },
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
  if (isObject(codes))
    return Object.entries(codes).map(([each, row]) => `${each.padEnd(28)} ${isObject(row) ? row.means : ''}`);
  return [
    `${code}: ${means}`,
    `  caused by    ${cause}`,
    `  what to do   ${fix}`,
    `  trying again helps ${RETRY[String(retry)]}`,
    `  HTTP status  ${http}`,
  ];
}

const MARKS: Readonly<Record<MachineFinding['level'], string>> = { ok: '✓', warning: '!', error: '✗' };

function findingLines({ findings }: JsonObject, call: Call): readonly ShownLine[] {
  const paint = paintFor(process.stdout, call.env);
  const all = rowsIn(findings) as unknown as readonly MachineFinding[];
  const errors = all.filter(({ level }) => level === 'error').length;
  return [
    ...all.flatMap(({ name, level, found, fix }) => [
      ...hanging(`${paint[COLOURS[level]](MARKS[level])} ${name.padEnd(14)} ${oneLine(found, 300)}`),
      ...(fix !== null && level !== 'ok' ? hanging(`  ${''.padEnd(14)} → ${safe(fix)}`) : []),
    ]),
    errors === 0
      ? `Ready. Start with: ${again(call)} cast "…"`
      : `${counted(errors, 'thing')} to repair before a cast.`,
  ];
}

const COLOURS = { ok: 'good', warning: 'warn', error: 'bad' } as const;
const HANG = 17;

/** Continued lines begin below the text. */
function hanging(line: string): readonly ShownLine[] {
  return wrap(line, process.stdout.columns ?? 0, HANG).map((piece) => new Ready(piece));
}

function agentLines({ agents, models }: JsonObject, call: Call): readonly ShownLine[] {
  const found = rowsIn(agents) as unknown as readonly DetectedAgent[];
  const rows = found.map(({ name, path, version, fault, signedInBy, hint }) => [
    name,
    path === null ? 'not installed' : fault === null ? (version ?? 'unknown version') : 'does not start',
    path === null ? '' : signedInBy === null ? 'not signed in' : 'signed in',
    hint ?? path ?? '',
  ]);
  const keys = rowsIn(models).map(({ name, keySet, variable }): string[] => [
    String(name),
    'model, no tools',
    keySet ? 'key is set' : 'no key',
    keySet ? String(variable) : `set ${variable}`,
  ]);
  const head = ['runner', 'version', 'sign-in', 'program, or what to do'];
  return [...table([...rows, ...keys], head), `\nTry them with: ${again(call)} agents test`];
}

function testedLine({ name, ok, said, code, model, tokens, ms }: SelfTest): string {
  const seconds = (ms / 1000).toFixed(1);
  if (!ok) return `✗ ${name}: ${oneLine(said.startsWith(`${code}: `) ? said : `${code}: ${said}`, 300)}`;
  const by = model === null ? '' : ` (${model})`;
  return `✓ ${name}${by} answered in ${seconds} s with ${tokens} tokens: ${oneLine(said, 60)}`;
}
