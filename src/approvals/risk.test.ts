// The table of commands, measured on a corpus. docs/approvals.md prints the figures of this measurement.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY, TIERS } from '../kernel/approval/request.ts';
import type { ProjectArea } from '../shell/dangerous.ts';
import { classify, classifyArgv } from './risk.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const ROOT = new URL('../../', import.meta.url);
const area: ProjectArea = {
  cwd: '/proj',
  home: '/home/ann',
  isOwn: (path) => path.startsWith('/proj/') && !path.startsWith('/proj/.git/'),
};
const tier = (line: string) => classify(line, DEFAULT_POLICY, area).tier;

type Corpus = Readonly<Record<'seed' | 'changes' | 'laterChanges', readonly string[]>> &
  Readonly<Record<'harmless' | 'laterHarmless', readonly (readonly [tier: string, line: string])[]>>;
const CORPUS = JSON.parse(readFileSync(new URL('test/corpus/command-risk.json', ROOT), 'utf8')) as Corpus;

test.each([...CORPUS.seed, ...CORPUS.changes])('a command that changes state needs an approval: %j', (line) => {
  expect(tier(line)).toBe('T3');
});

test.each<[string, readonly (readonly [string, string])[]]>([
  ['that change state and the contract names, ask', CORPUS.seed.map((line) => ['T3', line])],
  ['that change state, ask', CORPUS.changes.map((line) => ['T3', line])],
  ['harmless ones, run', CORPUS.harmless],
  ['that change state, written after the table, ask', CORPUS.laterChanges.map((line) => ['T3', line])],
  ['harmless ones, written after the table, run', CORPUS.laterHarmless],
])('the guide prints how many %s', (what, commands) => {
  const right = commands.filter(([expected, line]) => tier(line) === expected).length;
  const guide = readFileSync(new URL('docs/approvals.md', ROOT), 'utf8');
  expect(guide).toContain(`| ${what} | ${right} of ${commands.length} |`);
});

test('every tier has its commands', () => {
  const tiers = new Set(CORPUS.harmless.map(([expected]) => expected));
  expect([...tiers].sort()).toEqual(TIERS.slice(0, -1));
});

test.each([
  ['rm -rf /', 'root'],
  ['rm -r ~', 'root'],
  ['sudo rm -rf --no-preserve-root /', 'root'],
  ['bash -c "rm -rf /usr"', 'root'],
  ['rm --recursive build /', 'root'],
  ['mkfs /dev/sda', 'formats'],
  ['mkfs.ext4 /dev/sda', 'formats'],
  ['wipefs disk.img', 'wipes'],
  ['dd if=x of=/dev/sda', 'disk'],
  ['shred -n 1 /dev/sda', 'disk'],
  ['cat x > /dev/nvme0n1', 'disk'],
  ['cat x > a > /dev/nvme0n1', 'disk'],
  [':(){ :|:& };:', 'fork bomb'],
  [': ( ) { : | : & } ; :', 'fork bomb'],
  [`: ${'x'.repeat(5000)}; :(){ :|:& };:`, 'fork bomb'],
  ['shutdown now', 'stops'],
  ['chmod -R 777 /', 'permissions'],
  ['chown --recursive ann . /etc', 'permissions'],
  ['baton approve P-1', 'person'],
  ['baton -C x approve P-1', 'person'],
  ['baton -Cx approve P-1', 'person'],
  ['baton --directory x approve P-1', 'person'],
  ['baton --directory=x approve P-1', 'person'],
  ['baton --not-C approve P-1', 'person'],
  ['baton registry release x', 'person'],
  ['baton registry accept x', 'person'],
  ['env -iu ls /path/baton approve P-1', 'person'],
  ['terraform destroy -auto-approve', 'configuration'],
])('%s can never be approved: %s', (line, why) => {
  const policy = { ...DEFAULT_POLICY, blocked: ['make dist', ' terraform  destroy '] };
  expect(classify(line, policy, area).blocked).toContain(why);
});

test.each([
  'rm -rf build',
  'git push --force',
  'terraform apply',
  'rm -rf ./usr',
  'rm /etc',
  'ls -R /',
  'chmod 777 /etc',
  'chmod -R 777 build',
  'ls -l /dev/sda',
  'dd if=/dev/sda of=x',
  'cat x > a',
  'mkfsx',
  'baton status',
  'baton status approve',
  'baton registry show',
  'baton -C approve status',
  'mybaton approve P-1',
  'baton.sh approve P-1',
  'terraform plan -destroy',
])('%s can be approved', (line) => {
  expect(classify(line, { ...DEFAULT_POLICY, blocked: ['terraform destroy'] }, area).blocked).toBe(null);
});

test('people give tiers, and theirs count before ours', () => {
  const policy = {
    ...DEFAULT_POLICY,
    tiers: { 'make deploy': 'T1', ls: 'T3', './x.sh check': 'T0' },
    writes: 'T3',
  } as const;
  const rows = [
    'make deploy',
    'make deploy prod',
    'make other',
    'ls',
    './x.sh check',
    './x.sh',
    'echo a > b',
    'bash -c "make deploy"',
  ];
  expect(rows.map((line) => classify(line, policy, area).tier)).toEqual([
    'T1',
    'T1',
    'T3',
    'T3',
    'T0',
    'T3',
    'T3',
    'T1',
  ]);
});

test.each(['echo a \r# ; rm b', 'cat <<E\r\nfoo\nE\r\nls\nE'])(
  'a carriage return hides what comes after it: %j',
  (line) => {
    expect(tier(line)).toBe('T3');
  },
);

test('no line takes long, however it is nested or left open', () => {
  const parts = ["$(cat <<'E'\n", '`', '${', '$((', '<<E ', '{', "$'", '"$(', '(('];
  for (const part of parts) expect(tier(part.repeat(20_000))).toBe('T3');
}, 10_000);

test('where it is not known where a command runs, a write changes state', () => {
  expect(classify('echo a > b', DEFAULT_POLICY, null).tier).toBe('T3');
  expect(classify('ls', DEFAULT_POLICY, null).tier).toBe('T0');
});

test('words are judged as a line of them is', () => {
  expect(classifyArgv(['echo', '> a; rm b'], DEFAULT_POLICY, area).tier).toBe('T0');
  expect(classifyArgv(['bash', '-c', 'rm b'], DEFAULT_POLICY, area).tier).toBe('T3');
});

const PIECES = [
  'ls',
  'rm a',
  'git push',
  '$(',
  ')',
  '`',
  '"',
  "'",
  ';',
  '|',
  '&&',
  '>',
  'a',
  '<<E',
  '\n',
  '{',
  '}',
  'sudo',
  'env',
  'bash -c',
  '\\',
  '$X',
  'xargs',
  'for',
  'do',
];

test('whatever the line, it has a tier; and more of it is never less risky', () => {
  const line = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(' ')),
  );
  fc.assert(
    fc.property(line, (text) => {
      const found = classify(text, DEFAULT_POLICY, area);
      expect(TIERS).toContain(found.tier);
      expect(found.because).not.toBe('');
      expect(tier(`rm a; ${text}`)).toBe('T3');
    }),
    { numRuns: RUNS },
  );
});
