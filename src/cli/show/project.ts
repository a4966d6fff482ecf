// How the answers about configurations, codes and the machine are shown.
import { basename } from 'node:path';
import type { DetectedAgent } from '../../agents/detect.ts';
import type { SelfTest } from '../../app/operations/agents.ts';
import type { MachineFinding } from '../../app/preflight/machine.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { again, type Call } from '../command.ts';
import { type Paint, paintFor, Ready, type ShownLine, table } from '../paint.ts';
import { oneLine, safe, wrap } from '../terminal-text.ts';
import { type Forms, PLACE, reasonLine, rowsIn } from './form.ts';

const isBad = ({ ok }: JsonObject): boolean => ok === false;

export const PROJECT_FORMS: Forms = {
  check: {
    notes: ({ machine, noneActive }, { env }) => [
      ...machineLines(rowsIn(machine), paintFor(process.stderr, env)),
      ...noneActiveLines(noneActive),
    ],
    lines: (details, call, _given, verdict) => checkLines(details, call, verdict),
    refusal: 'same',
  },
  'loadout.open': {
    value: (details) => details,
    lines: ({ document, digests }) => [new Ready(JSON.stringify({ document, digests }, null, 2))],
    refusal: 'fault',
  },
  'loadout.check': { lines: draftLines, isBad },
  'loadout.print': { lines: ({ text }) => textLines(text) },
  'loadout.test': { lines: testLines, refusal: 'same' },
  'loadout.record': { lines: reasonLine, refusal: 'lines' },
  'loadout.save': { lines: savedLines, refusal: 'lines' },
  'loadout.duplicate': { lines: savedLines, refusal: 'lines' },
  compile: { value: 'config', lines: ({ config }) => [new Ready(JSON.stringify(config, null, 2))], refusal: 'fault' },
  graph: { lines: ({ text }) => textLines(text), refusal: 'fault' },
  'loadout.list': { value: 'loadouts', lines: loadoutLines },
  'config.explain': { value: (details) => details, lines: configLines },
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

function configLines(
  { layers, all, key, value, why, means, config, issues, loadouts }: JsonObject,
  call: Call,
): readonly ShownLine[] {
  const wrong = rowsIn(issues).map(({ message }) => `! ${message}`);
  const text = (each: Json | undefined) => oneLine(JSON.stringify(each ?? null), 200);
  if (key === undefined) {
    const files = rowsIn(layers).map(({ layer, file }): string[] => [String(layer), String(file)]);
    if (Array.isArray(loadouts)) {
      const way = `\`${again(call)} config -l NAME\` shows what one of them is run with`;
      return [`No config.json counts here, and no loadout is active. The loadouts: ${loadouts.join(', ')}; ${way}.`];
    }
    const shown = files.length === 0 ? ['No file sets anything; the defaults count.'] : table(files, ['layer', 'file']);
    return [...shown, '', new Ready(safe(JSON.stringify(config, null, 2))), ...wrong];
  }
  const rows = rowsIn(layers).map(({ layer, file, value: said, why: how, wins }): string[] => [
    `${wins === true ? '→' : ' '} ${layer}`,
    text(said),
    String(how),
    String(file),
  ]);
  const about = means === undefined ? [] : [`  ${means}`];
  const asked = rowsIn(all).map(({ layer }) => String(layer));
  const none = [`No layer sets it (${asked.length === 0 ? 'there is none' : `there are: ${asked.join(', ')}`}).`];
  const found = rows.length === 0 ? none : table(rows, ['layer', 'value', 'what it does', 'file']);
  return [`${key} = ${text(value)}`, ...about, `  ${why}`, '', ...found, ...wrong];
}

/** What a cast is started with: `bugfix --input severity=…: one of "low", "high", else "low"`. */
function inputLines(inputs: readonly JsonObject[]): readonly string[] {
  return inputs.map(({ loadout, name, wants, isRequired, default: usual }) => {
    const how = isRequired === true ? 'needed' : `else ${JSON.stringify(usual ?? null)}`;
    return oneLine(`${loadout} --input ${name}=…: ${wants}, ${how}`, 300);
  });
}

function textLines(text: unknown): readonly ShownLine[] {
  return safe(String(text))
    .trimEnd()
    .split('\n')
    .map((line) => new Ready(line));
}

/** What is wrong with a draft, in the names of its steps, and what repairs it. */
function draftLines({ issues }: JsonObject, _call: Call, _given: unknown, { reason }: Verdict): readonly ShownLine[] {
  const lines = rowsIn(issues).flatMap(({ level, code, path, text, fix }) => [
    `${String(level)}: ${oneLine(String(text), 400)}`,
    `    ${code}  ${path}${isObject(fix) ? `  → ${String(fix.label)}` : ''}`,
  ]);
  return [...lines, reason];
}

function testLines(
  { tests }: JsonObject,
  _call: Call,
  _given: unknown,
  { allow, reason }: Verdict,
): readonly ShownLine[] {
  const rows = rowsIn(tests).flatMap(({ passed, test, loadout, differences }) => [
    `${passed === true ? '✓' : '✗'} ${oneLine(String(test), 120)}${loadout === null ? '' : `  ${oneLine(String(loadout), 60)}`}`,
    ...(Array.isArray(differences) ? differences : []).map((each) => `    ${oneLine(String(each), 400)}`),
  ]);
  return [...rows, allow ? reason : (reason.split('; first: ')[0] ?? reason)];
}

const CHANGED_SHOWN = 200;

/** The lines of each file that differ, and what was done. */
function savedLines(
  { files, notes }: JsonObject,
  _call: Call,
  _given: unknown,
  { reason }: Verdict,
): readonly ShownLine[] {
  const changes = rowsIn(files).flatMap(({ path, before, after }) => {
    const [old, now] = [before, after].map((text) => (typeof text === 'string' ? text.split('\n') : []));
    const changed = changedLines(old ?? [], now ?? []);
    const rest = changed.length - CHANGED_SHOWN;
    return [
      String(path),
      ...changed.slice(0, CHANGED_SHOWN),
      ...(rest > 0 ? [`  … and ${counted(rest, 'line')} more`] : []),
    ];
  });
  const remarks = Array.isArray(notes) ? notes.map(String) : [];
  return [...changes, ...remarks, reason].map((line) => new Ready(safe(line)));
}

/** Without what both begin and end with. */
function changedLines(old: readonly string[], now: readonly string[]): readonly string[] {
  let from = 0;
  while (from < old.length && from < now.length && old[from] === now[from]) from += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - from && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const part = (lines: readonly string[], sign: string) =>
    lines.slice(from, lines.length - end).map((line) => `  ${sign} ${line}`);
  return [...part(old, '-'), ...part(now, '+')];
}

function checkLines(
  { file, files, issues, inputs }: JsonObject,
  { env }: Call,
  { allow, reason }: Verdict,
): readonly ShownLine[] {
  const where = file === BUNDLED ? 'the bundled configuration' : String(file);
  const more = Array.isArray(files) ? ` and ${counted(files.length - 1, 'other file')}` : '';
  const rows = rowsIn(issues);
  const errors = rows.filter(({ level }) => level === 'error').length;
  const found = `${counted(errors, 'error')}, ${counted(rows.length - errors, 'warning')}`;
  const paint = paintFor(process.stdout, env);
  return [
    ...rows.flatMap((issue) => issueLines(issue, basename(where), paint)),
    ...inputLines(rowsIn(inputs)),
    `${allow ? `ok: ${reason}` : found} in ${where}${more}`,
  ];
}

/** The last name that a person gave on the way to the place: of a step, of an agent, or of a socket. */
const NAMED = /.*(?:(?:steps|do)\[\d+\]|^materia|\.sockets|\.agents|\.loops)\.([\w-]+)/;

/** Where it is in the words of the person who wrote the file, what is wrong, and last what programs call it. */
function issueLines({ level, code, path, message }: JsonObject, file: string, paint: Paint): readonly Ready[] {
  const at = String(path);
  const place = PLACE.exec(String(message))?.[1];
  const words = String(message).slice(place === undefined ? 0 : place.length + 2);
  // Where a line is known the file is in the short form, which knows no sockets by their ids.
  const name = NAMED.exec(at)?.[1] ?? '';
  const isTheirs = name !== '' && !(place !== undefined && /^Socket-\d+$/.test(name));
  const colour = paint[level === 'error' ? 'bad' : 'warn'];
  const label = level === 'error' ? 'error:' : 'warning:';
  const [first = '', ...more] = wrap(safe(`  ${label} ${words}`), process.stdout.columns ?? 0, 4);
  return [
    `${paint.bold(safe(place ?? file))}${isTheirs ? `  ${safe(name)}` : ''}`,
    first.replace(label, colour(label)),
    ...more,
    paint.dim(safe(`    ${code}${at === '' ? '' : `  ${at}`}`)),
  ].map((line) => new Ready(line));
}

/** What this machine lacks is no mistake of the files. */
function machineLines(findings: readonly JsonObject[], paint: Paint): readonly ShownLine[] {
  const lines = (findings as unknown as readonly MachineFinding[]).flatMap((each) => findingOf(each, paint));
  return lines.length === 0 ? [] : ['This machine lacks what a cast needs:', ...lines];
}

function noneActiveLines(names: Json | undefined): readonly string[] {
  if (!Array.isArray(names)) return [];
  const fix = 'activeLoadout in config.json makes one the usual one';
  return [`No loadout is active, so a cast asks which, or needs -l NAME: ${names.join(', ')}. ${fix}.`];
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
    ...all.flatMap((each) => findingOf(each, paint)),
    errors === 0
      ? `Ready. Start with: ${again(call)} cast "…"`
      : `${counted(errors, 'thing')} to repair before a cast.`,
  ];
}

const COLOURS = { ok: 'good', warning: 'warn', error: 'bad' } as const;
const HANG = 17;

/** What was found, and below it how to repair it. Continued lines begin below the text. */
function findingOf({ name, level, found, fix }: MachineFinding, paint: Paint): readonly ShownLine[] {
  const hanging = (line: string, hang: number) =>
    wrap(line, process.stdout.columns ?? 0, hang).map((piece) => new Ready(piece));
  return [
    ...hanging(`${paint[COLOURS[level]](MARKS[level])} ${name.padEnd(14)} ${oneLine(found, 300)}`, HANG),
    ...(fix !== null && level !== 'ok' ? hanging(`${' '.repeat(HANG)}→ ${safe(fix)}`, HANG + 2) : []),
  ];
}

function loadoutLines({ loadouts }: JsonObject, call: Call): readonly ShownLine[] {
  const rows = rowsIn(loadouts).map(({ name, steps, description, isUsual, isBundled, issue }) => {
    const whose = isUsual === true ? 'used without -l' : isBundled === true ? 'bundled' : '';
    const what = isObject(issue) ? `${issue.code}: ${issue.message}` : String(description ?? [steps].flat().join(', '));
    return [oneLine(String(name)), whose, oneLine(what)];
  });
  const inputs = rowsIn(loadouts).flatMap(({ name, inputs: all }) =>
    rowsIn(all).map(({ name: input, wants, isRequired, default: usual }) => [
      oneLine(String(name)),
      String(input),
      isRequired === true ? 'needed' : `else ${JSON.stringify(usual ?? null)}`,
      oneLine(String(wants)),
    ]),
  );
  const asked = inputs.length === 0 ? [] : ['', ...table(inputs, ['loadout', 'input', '', 'is'])];
  return [...table(rows, ['loadout', '', 'what it does']), ...asked, `\nRun one with: ${again(call)} cast -l NAME "…"`];
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
