// How the answers about the project and the machine are shown.
import type { DetectedAgent } from '../../agents/detect.ts';
import type { SelfTest } from '../../app/operations/agents.ts';
import type { MachineFinding } from '../../app/preflight/finding.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { again, type Call } from '../command.ts';
import { paintFor, Ready, type ShownLine } from '../paint.ts';
import { oneLine, safe } from '../safe-text.ts';
import { table } from '../table.ts';
import { wrap } from '../text-width.ts';
import { type Forms, reasonLine, rowsIn } from './form.ts';

const isBad = ({ ok }: JsonObject): boolean => ok === false;

export const forms: Forms = {
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

/** What is found stands below each other. */
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
