// The tier of a command, row by row: what is seen through, what is known, and that everything else changes state.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../kernel/approval/policy.ts';
import { TIERS } from '../kernel/approval/request.ts';
import { classify, classifyArgv, type Ground } from './tier.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);
const ground: Ground = {
  cwd: '/proj',
  home: '/home/ann',
  isOwn: (path) => path.startsWith('/proj/') && !path.startsWith('/proj/.git/'),
};
const tier = (line: string) => classify(line, DEFAULT_POLICY, ground).tier;

/** One command a line behind its tier; a line break in a command is written as \\n. */
const rows = readFileSync(new URL('fixtures/tiers.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((row) => ({ wanted: row.slice(0, 2), line: row.slice(3).replaceAll('\\n', '\n') }));

test.each(rows)('$wanted $line', ({ wanted, line }) => {
  expect(tier(line)).toBe(wanted);
});

test('every tier has its commands', () => {
  expect(rows.length).toBeGreaterThan(150);
  expect([...new Set(rows.map(({ wanted }) => wanted))]).toEqual([...TIERS]);
});

test.each([
  ['rm -rf /', 'root'],
  ['rm -r ~', 'root'],
  ['sudo rm -rf --no-preserve-root /', 'root'],
  ['bash -c "rm -rf /usr"', 'root'],
  ['rm --recursive build /', 'root'],
  ['mkfs /dev/sda', 'anew'],
  ['mkfs.ext4 /dev/sda', 'anew'],
  ['wipefs disk.img', 'wipes'],
  ['dd if=x of=/dev/sda', 'disk'],
  ['shred -n 1 /dev/sda', 'disk'],
  ['cat x > /dev/nvme0n1', 'disk'],
  ['cat x > a > /dev/nvme0n1', 'disk'],
  [':(){ :|:& };:', 'multiplies'],
  [': ( ) { : | : & } ; :', 'multiplies'],
  [`: ${'x'.repeat(5000)}; :(){ :|:& };:`, 'multiplies'],
  ['shutdown now', 'stops'],
  ['chmod -R 777 /', 'rights'],
  ['chown --recursive ann . /etc', 'rights'],
  ['baton approve P-1', 'person'],
  ['baton -C x approve P-1', 'person'],
  ['baton -Cx approve P-1', 'person'],
  ['baton --directory x approve P-1', 'person'],
  ['baton --directory=x approve P-1', 'person'],
  ['baton --not-C approve P-1', 'person'],
  ['baton registry release x', 'person'],
  ['env -iu ls /path/baton approve P-1', 'person'],
  ['terraform destroy -auto-approve', 'configuration'],
])('%s can never be approved: %s', (line, why) => {
  const policy = { ...DEFAULT_POLICY, blocked: ['make dist', ' terraform  destroy '] };
  expect(classify(line, policy, ground).blocked).toContain(why);
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
  expect(classify(line, { ...DEFAULT_POLICY, blocked: ['terraform destroy'] }, ground).blocked).toBe(null);
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
  expect(rows.map((line) => classify(line, policy, ground).tier)).toEqual([
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
  expect(classifyArgv(['echo', '> a; rm b'], DEFAULT_POLICY, ground).tier).toBe('T0');
  expect(classifyArgv(['bash', '-c', 'rm b'], DEFAULT_POLICY, ground).tier).toBe('T3');
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
      const found = classify(text, DEFAULT_POLICY, ground);
      expect(TIERS).toContain(found.tier);
      expect(found.because).not.toBe('');
      expect(tier(`rm a; ${text}`)).toBe('T3');
    }),
    { numRuns: RUNS },
  );
});
