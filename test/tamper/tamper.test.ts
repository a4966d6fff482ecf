// Whatever is done to the evidence is found, in its place, by `audit verify` and by the verifier that shares no code with it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { verifyBundle } from '../../src/audit/bundle.ts';
import { checkpointFolders, knownCheckpoints, notesIn } from '../../src/audit/checkpoints.ts';
import { makeCheckpoint } from '../../src/audit/make-checkpoint.ts';
import { keyLine, openSigner, type PublicKey } from '../../src/audit/note.ts';
import { makeBundle } from '../../src/audit/prove.ts';
import { verifyLog } from '../../src/audit/verify-log.ts';
import type { Append } from '../../src/engine/ports.ts';
import type { Fact } from '../../src/kernel/fact.ts';
import type { Verdict } from '../../src/kernel/verdict.ts';
import { withEvidence } from '../../src/log/sqlite/evidence.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';

type Finding = { readonly kind: string; readonly seq: number };
type Row = readonly [what: string, tamper: (folder: string) => void, kind: string | null, seq: number | null];

const table = async (name: string, member: string) =>
  ((await import(new URL(`./${name}-table.mjs`, import.meta.url).href)) as Record<string, readonly Row[]>)[member] ??
  [];
const LOG = await table('log', 'LOG');
const CHECKPOINTS = await table('checkpoint', 'CHECKPOINTS');
const BUNDLE = await table('bundle', 'BUNDLE');

const VERIFIER = fileURLToPath(new URL('../../verifier/verify.mjs', import.meta.url));
const HEAD = 1100;
/** What two writers of JSON most easily disagree about. */
const ODD = {
  numbers: [1e21, 1e-7, 5e-324, 333333333.3333333, -3.5e-6, 9007199254740992],
  '10': 1,
  '9': 2,
  '\u20ac\ud83d\ude00\ufb33': '\u20ac$\u000f\n\u007f\u2028"\\/',
  half: { '\ud800': `\udfff${'h'.repeat(300)}` },
  reference: { $blob: 'sha256:none', $json: 1, $literal: { $blob: 'x' } },
};
// JSON.parse of Node 24 can read the second name as the first one.
const ESCAPES = [
  { ' ': 0, 'a\\': 1 },
  { ' ': 0, 'a"': 1 },
];
const PERSONAL = 'p'.repeat(400);
const root = mkdtempSync(join(tmpdir(), 'baton-tamper-'));
const whole = join(root, 'whole');
let keys: readonly PublicKey[] = [];

beforeAll(async () => {
  const place = { dir: whole, stateDir: join(whole, 'state') };
  const env = { BATON_CONFIG: join(root, 'config'), BATON_CHECKPOINTS: join(root, 'checkpoints') };
  const file = join(place.stateDir, 'log.sqlite');
  const log = new SqliteLog(file);
  for (const [from, to] of [
    [1, 1030],
    [1031, 1099],
    [1100, HEAD],
  ] as const) {
    const facts = Array.from({ length: to - from + 1 }, (_, index) => factAt(from + index));
    await log.commit(from - 1, { decide: () => facts });
    expect(await makeCheckpoint(place, log, env)).toMatchObject({ allow: true, details: { size: to } });
  }
  await log.saveSnapshot({ through: 1040, digest: sha256('{}'), body: '{}' });
  await log.close();
  const { outside, origin } = checkpointFolders(place, env);
  cpSync(outside, join(whole, 'outside'), { recursive: true });
  const [signer, known] = [openSigner(env), knownCheckpoints(place, env)];
  if (!signer.ok || !known.ok) throw new Error('there is no key');
  keys = known.value.keys;
  const signing = { signer: signer.value, origin };
  const { verdict, text } = await withEvidence(file, (evidence) => makeBundle(evidence, 'a', known.value, signing, []));
  expect(verdict.code).toBe('OK');
  writeFileSync(join(whole, 'run.baton'), text);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Casts a and b take turns; the first entries have tasks, keys and long texts, one of which is erased later. */
function factAt(seq: number): Append {
  const cast = seq % 2 === 1 ? 'a' : 'b';
  const long = `${seq} ${'x'.repeat(400)}`;
  const special: Record<number, object> = {
    1: {
      kind: 'cast.started',
      cast,
      request: long,
      loadout: 'L',
      rules: {},
      script: null,
      data: { more: `${long}.`, ...ODD },
    },
    2: { kind: 'task.moved', run: cast, task: 'T-1' },
    3: { kind: 'cast.paused', cast, reason: PERSONAL },
    4: { kind: 'task.moved', run: cast, task: `T-${'9'.repeat(300)}` },
    5: { kind: 'turn.dropped', cast, turn: 5, paths: ESCAPES[0] },
    6: { kind: 'turn.dropped', cast, turn: 6, paths: ESCAPES[1] },
    // With a text and a key that lie beside the log when it is cut off here.
    1082: { kind: 'cast.paused', cast, reason: long },
    1041: { kind: 'snapshot.taken', through: 1040, digest: sha256('{}') },
    1060: { kind: 'blob.erased', digest: `sha256:${sha256(PERSONAL)}`, from: [3], reason: 'asked for' },
  };
  const fact = (special[seq] ?? { kind: 'turn.dropped', cast, turn: seq }) as Fact;
  const once = seq === 2 ? ['k1'] : seq === 3 ? ['k2'] : seq === 1082 ? ['k3'] : [];
  return { fact, by: 'test', at: Date.UTC(2026, 0, 1) + seq * 1000, once };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function copy(tamper: (folder: string) => void): string {
  const folder = mkdtempSync(join(root, 'case-'));
  cpSync(whole, folder, { recursive: true });
  tamper(folder);
  return folder;
}

function audited(folder: string): Promise<Verdict> {
  const kept = [
    { where: 'inside', notes: notesIn(join(folder, 'state', 'checkpoints')) },
    { where: 'outside', notes: notesIn(join(folder, 'outside')) },
  ] as const;
  return withEvidence(join(folder, 'state', 'log.sqlite'), (evidence) => verifyLog(evidence, kept, keys));
}

/** Thrown where the verifier would end its process. */
class Ended extends Error {
  readonly code: unknown;

  constructor(code: unknown) {
    super(`ended with ${code}`);
    this.code = code;
  }
}

let calls = 0;

/**
 * The first finding of the verifier: its kind and its place. The verifier is a program that runs when it is loaded, so it
 * is loaded afresh for each call; its start, exit codes and streams as a process have a test of their own.
 */
async function verified(...args: string[]): Promise<Finding> {
  const { argv, exit } = process;
  const printed: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(String(line)));
  process.argv = [process.execPath, VERIFIER, ...args];
  process.exit = (code) => {
    throw new Ended(code);
  };
  try {
    await import(`${pathToFileURL(VERIFIER).href}?${++calls}`);
    throw new Error('the verifier did not end its process');
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return findingOf(error.code, printed.join('\n'));
  } finally {
    Object.assign(process, { argv, exit });
    log.mockRestore();
  }
}

/** The same by a process of its own. */
function verifiedApart(...args: string[]): Finding {
  const flags = ['--disable-warning=ExperimentalWarning', VERIFIER, ...args];
  const { stdout, status } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  return findingOf(status, stdout);
}

function findingOf(code: unknown, stdout: string): Finding {
  const [seq = '', kind = ''] = (stdout.split('\n')[0] ?? '').split('\t');
  return { kind: code === 0 ? 'OK' : kind, seq: Number(seq) };
}

const logArgs = (folder: string) => [
  '--log',
  join(folder, 'state/log.sqlite'),
  '--checkpoint',
  join(folder, 'outside/checkpoints.txt'),
];

/** Null in a row leaves open what it is that is found; that something is found it never does. */
function expectFound(
  found: { readonly kind: unknown; readonly seq: unknown },
  kind: string | null,
  seq: number | null,
) {
  expect({ kind: kind === null ? found.kind : kind, seq: seq === null ? found.seq : seq }).toEqual(found);
  expect(found.kind).not.toBe('OK');
  expect(found.kind).toBeTypeOf('string');
}

test('the verifier and the tampering share no code with the program, and the verifier can be read in one sitting', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const scripts = [VERIFIER, ...globSync('*.mjs', { cwd: folder }).map((name) => join(folder, name))];
  expect(scripts).toHaveLength(5);
  for (const script of scripts) {
    const imported = [...readFileSync(script, 'utf8').matchAll(/\bimport\b[^'\n]*'([^']+)'/g)].map(([, name]) => name);
    expect(imported.filter((name) => !name?.startsWith('node:') && name !== './tampering.mjs')).toEqual([]);
  }
  expect(readFileSync(VERIFIER, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(335);
});

test('what nobody touched is whole', async () => {
  const folder = copy(() => undefined);
  expect(await audited(folder)).toMatchObject({
    allow: true,
    details: { facts: HEAD, erased: 1, checkpoints: { unsigned: 0 } },
  });
  expect((await verified(...logArgs(folder))).kind).toBe('OK');
  expect(verifyBundle(readFileSync(join(folder, 'run.baton'), 'utf8'), keys)).toMatchObject({ allow: true });
  expect((await verified(join(folder, 'run.baton'))).kind).toBe('OK');
});

test.each([...LOG, ...CHECKPOINTS])('%s', async (_, tamper, kind, seq) => {
  const folder = copy(tamper);
  const verdict = await audited(folder);
  expect(verdict.code).toBe('TAMPERED');
  expectFound({ kind: verdict.details.kind, seq: verdict.details.seq }, kind, seq);
  expectFound(await verified(...logArgs(folder)), kind, seq);
});

test.each(BUNDLE)('bundle: %s', async (_, tamper, kind, seq) => {
  const folder = copy(tamper);
  const verdict = verifyBundle(readFileSync(join(folder, 'run.baton'), 'utf8'), keys);
  expect(verdict.code).toBe('TAMPERED');
  expectFound({ kind: verdict.details.kind, seq: verdict.details.seq }, kind, seq);
  expectFound(await verified(join(folder, 'run.baton')), kind, seq);
});

test('a copy outside that is gone is told, and refuses nothing', async () => {
  const folder = copy((at) => {
    const file = join(at, 'outside', 'checkpoints.txt');
    writeFileSync(file, readFileSync(file, 'utf8').split('\n').slice(0, 6).join('\n'));
  });
  const missing = (seq: number) => ({ kind: 'CHECKPOINT_MISSING', seq });
  expect(await audited(folder)).toMatchObject({ allow: true, details: { warnings: [missing(1099), missing(HEAD)] } });
  expect((await audited(copy(() => undefined))).details.warnings).toEqual([]);
});

test('as a process the verifier prints the same findings, and ends with 0 or 1', () => {
  const untouched = copy(() => undefined);
  expect(verifiedApart(...logArgs(untouched)).kind).toBe('OK');
  expect(verifiedApart(join(untouched, 'run.baton')).kind).toBe('OK');
  for (const [, tamper, kind, seq] of LOG.slice(0, 1)) expectFound(verifiedApart(...logArgs(copy(tamper))), kind, seq);
  for (const [, tamper, kind, seq] of BUNDLE.slice(0, 1))
    expectFound(verifiedApart(join(copy(tamper), 'run.baton')), kind, seq);
});

/** What a third party names and is not what it should be must never pass for a check. */
test('the verifier refuses to check by what is not there', () => {
  const folder = copy((at) => {
    writeFileSync(join(at, 'empty.txt'), '');
    writeFileSync(join(at, 'x.txt'), 'x');
  });
  const log = ['--log', join(folder, 'state/log.sqlite')];
  const bundle = join(folder, 'run.baton');
  const [key] = keys;
  const wrong = key ? keyLine(key).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) : '';
  const calls = [
    [],
    [bundle, bundle],
    [bundle, '--checkpoint', join(folder, 'outside/checkpoints.txt')],
    [bundle, '--bogus'],
    [bundle, '--key', ''],
    [bundle, '--key'],
    [bundle, '--key', 'junk'],
    [bundle, '--key', wrong],
    [join(folder, 'nowhere.baton')],
    [folder],
    [...log, bundle],
    [...log, '--key', ''],
    [...log, '--bogus'],
    [...log, '--checkpoint'],
    [...log, '--checkpoint', join(folder, 'nowhere.txt')],
    [...log, '--checkpoint', join(folder, 'empty.txt')],
    [...log, '--checkpoint', join(folder, 'x.txt')],
    ['--log', join(folder, 'nowhere.sqlite')],
  ];
  const answers = calls.map((args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [VERIFIER, ...args], { encoding: 'utf8' });
    const said = stderr.split('\n').filter((line) => line.startsWith('verify.mjs: '));
    return [args, status, stdout, said.length];
  });
  expect(answers).toEqual(calls.map((args) => [args, 2, '', 1]));
});

test('a cut tail without a checkpoint outside is found by the one inside, and without either it is not', async () => {
  const folder = copy((at) => {
    LOG.find(([what]) => what === 'facts: the tail is cut off')?.[1](at);
    rmSync(join(at, 'outside'), { recursive: true });
  });
  expect((await audited(folder)).details).toMatchObject({ kind: 'TRUNCATED', seq: 1091 });
  rmSync(join(folder, 'state', 'checkpoints'), { recursive: true });
  expect(await audited(folder)).toMatchObject({
    allow: true,
    details: { facts: 1090, checkpoints: { unsigned: 1090 } },
  });
});
