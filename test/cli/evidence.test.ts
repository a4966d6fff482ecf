// The history as evidence, from the command line: signed when a cast ends, verified, exported, traced, and erased in part.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, BATON, baton, CHECKOUT, flow, json, project, put, read } from './baton.ts';

const LONG = `Build what was planned. ${'x'.repeat(400)}`;
const config = flow(
  { Plan: agent, Build: { tools: 'coding', prompt: LONG } },
  {
    'Socket-1': { materia: 'Plan', parse: 'text', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Build', parse: 'text', edges: [always('end')] },
  },
);
const agents = {
  Plan: ['a plan'],
  Build: [{ $turn: { output: `done ${'y'.repeat(400)}`, write: { 'src/a.txt': 'A' } } }],
};

type Told = {
  readonly allow: boolean;
  readonly code: string;
  readonly details: JsonObject & { seq?: number; kind?: string };
};

function outside(dir: string): NodeJS.ProcessEnv {
  return { BATON_CONFIG: join(dir, 'user', 'config'), BATON_CHECKPOINTS: join(dir, 'user', 'checkpoints') };
}

async function castOnce(dir: string, run = { config, agents: agents as JsonObject }): Promise<string> {
  put(dir, { 'cast.json': run.config, 'agents.json': run.agents });
  const args = ['cast', '--file', 'cast.json', '--agents', 'agents.json', '--json', 'do it'];
  const view = json<{ cast: string; status: string }>(await baton(dir, args, { env: outside(dir) }));
  expect(view.status).toBe('completed');
  return view.cast;
}

async function told(dir: string, ...args: string[]): Promise<Told & { exit: number | null }> {
  const ran = await baton(dir, [...args, '--json'], { env: outside(dir) });
  return { ...json<Told>(ran), exit: ran.code };
}

function inLog(dir: string, sql: string): void {
  const db = new DatabaseSync(join(dir, '.baton', 'state', 'log.sqlite'));
  db.exec(sql);
  db.close();
}

function verifier(...args: string[]): number | null {
  return spawnSync(process.execPath, [join(CHECKOUT, 'verifier', 'verify.mjs'), ...args]).status;
}

test('a cast that ends is signed, inside and outside; the log verifies, and a change is located', async () => {
  const dir = project();
  await castOnce(dir);
  const [id = ''] = readdirSync(join(dir, 'user', 'checkpoints'));
  const kept = join(dir, 'user', 'checkpoints', id, 'checkpoints.txt');
  expect(readFileSync(kept, 'utf8')).toBe(read(dir, '.baton/state/checkpoints/checkpoints.txt'));
  const whole = await told(dir, 'audit', 'verify');
  expect(whole).toMatchObject({
    exit: 0,
    code: 'OK',
    details: { checkpoints: { inside: 1, outside: 1, unsigned: 0 } },
  });
  const log = ['--log', join(dir, '.baton', 'state', 'log.sqlite'), '--checkpoint', kept];
  expect(verifier(...log)).toBe(0);

  inLog(dir, `UPDATE facts SET line = replace(line, '"by":"', '"by":"x') WHERE seq = 2`);
  expect(await told(dir, 'audit', 'verify')).toMatchObject({
    exit: 1,
    code: 'TAMPERED',
    details: { seq: 2, kind: 'CHAIN_BROKEN' },
  });
  expect(verifier(...log)).toBe(1);
  const { code, stdout, stderr } = await baton(dir, ['audit', 'verify'], { env: outside(dir) });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^baton: TAMPERED: entry 2: /);
});

test('the commands for the verifier that the walk-through shows work beside another workspace', async () => {
  const [dir, other] = [project(), project()];
  const env = { ...process.env, ...outside(dir) };
  await castOnce(dir);
  put(other, { 'cast.json': config, 'agents.json': agents });
  await baton(other, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it'], { env: outside(dir) });
  expect(readdirSync(join(dir, 'user', 'checkpoints'))).toHaveLength(2);
  const shown = readFileSync(join(CHECKOUT, 'docs', 'evidence.md'), 'utf8').split('\n');
  const commands = shown.filter((line) => /^(?:node verifier|baton export)/.test(line));
  expect(commands).toHaveLength(3);
  const words = { 'node ': `${process.execPath} `, 'verifier/': `${CHECKOUT}/verifier/`, 'baton ': `${BATON} ` };
  const said = commands.map((line) =>
    line.replace(/node |verifier\/|(?<=^|\()baton /g, (word) => words[word as 'node ']),
  );
  expect(said.map((line) => spawnSync('sh', ['-c', line], { cwd: dir, env }).status)).toEqual([0, 0, 0]);
});

test('a log that is gone with everything beside it is missed', async () => {
  const dir = project();
  await castOnce(dir);
  rmSync(join(dir, '.baton', 'state'), { recursive: true });
  expect(await told(dir, 'audit', 'verify')).toMatchObject({
    exit: 1,
    code: 'TAMPERED',
    details: { seq: 1, kind: 'TRUNCATED' },
  });
});

test('a cut tail is found, and the next cast says that it was not signed', async () => {
  const dir = project();
  await castOnce(dir);
  const { details } = await told(dir, 'audit', 'verify');
  inLog(dir, `DELETE FROM facts WHERE seq = ${details.facts}`);
  expect(await told(dir, 'audit', 'verify')).toMatchObject({ details: { seq: details.facts, kind: 'TRUNCATED' } });
  expect(await told(dir, 'audit', 'checkpoint')).toMatchObject({ exit: 1, code: 'TAMPERED' });
});

test('that a cast could not be signed is said, and changes nothing about how it ended', async () => {
  const dir = project();
  mkdirSync(join(dir, 'user', 'config'), { recursive: true, mode: 0o755 });
  put(dir, { 'cast.json': config, 'agents.json': agents });
  const args = ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it'];
  const { code, stderr } = await baton(dir, args, { env: outside(dir) });
  expect(code).toBe(0);
  expect(stderr).toContain('The log was not signed (KEY_UNSAFE)');
  expect(readdirSync(join(dir, 'user'))).toEqual(['config']);
});

test('a fact is proved by its number, and one checkpoint by another', async () => {
  const dir = project();
  await castOnce(dir);
  await castOnce(dir);
  const proof = await told(dir, 'audit', 'prove', '3');
  expect(proof).toMatchObject({ exit: 0, details: { seq: 3, line: expect.stringContaining('"seq":3') } });
  expect(proof.details.checkpoint).toContain(`\n${proof.details.size}\n`);
  const between = await told(dir, 'audit', 'prove', '--from', '3');
  expect(between).toMatchObject({ exit: 0, details: { from: { size: 3 }, to: { size: proof.details.size } } });
  expect(await told(dir, 'audit', 'prove', '99999')).toMatchObject({ exit: 2, code: 'BAD_USAGE' });
  expect((await baton(dir, ['audit', 'prove', 'x'])).code).toBe(2);
  expect((await baton(dir, ['audit', 'nothing'])).code).toBe(2);
});

test('one cast goes out in one file that verifies here and by itself, also with a text left out', async () => {
  const dir = project();
  await castOnce(dir);
  expect(await told(dir, 'export', 'latest', '-o', 'run.baton')).toMatchObject({ exit: 0, details: { withheld: 0 } });
  expect(await told(dir, 'verify', 'run.baton')).toMatchObject({
    exit: 0,
    details: { loadout: 'L', key: { trusted: true } },
  });
  expect(verifier(join(dir, 'run.baton'))).toBe(0);
  await told(dir, 'export', 'latest', '-o', 'less.baton', '--redact', 'what was planned');
  expect(read(dir, 'less.baton')).not.toContain('what was planned');
  expect(await told(dir, 'verify', 'less.baton')).toMatchObject({ exit: 0 });
  expect(verifier(join(dir, 'less.baton'))).toBe(0);

  const { details } = await told(dir, 'audit', 'key');
  expect((await told(dir, 'verify', 'run.baton', '--key', String(details.key))).exit).toBe(0);
  const stranger = project();
  const { details: theirs } = await told(stranger, 'audit', 'key');
  expect(await told(dir, 'verify', 'run.baton', '--key', String(theirs.key))).toMatchObject({
    exit: 1,
    code: 'TAMPERED',
  });
  expect(verifier(join(dir, 'run.baton'), '--key', String(theirs.key))).toBe(1);
  put(dir, { 'run.baton': read(dir, 'run.baton').replace('done yyy', 'gone yyy') });
  expect(await told(dir, 'verify', 'run.baton')).toMatchObject({ exit: 1, details: { kind: 'BLOB_MISMATCH' } });
});

test('a credential in a script is not exported in clear', async () => {
  const dir = project();
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const prompt = `Use ${secret}. ${'x'.repeat(300)}`;
  const secretive = flow({ Plan: { ...agent, prompt } }, { 'Socket-1': { materia: 'Plan', parse: 'text' } });
  await castOnce(dir, { config: secretive, agents: { Plan: ['ok'] } });
  expect(await told(dir, 'export', 'latest', '-o', 'run.baton')).toMatchObject({
    exit: 1,
    code: 'EXPORT_HOLDS_SECRET',
  });
  expect(await told(dir, 'export', 'latest', '-o', 'run.baton', '--redact', 'secrets')).toMatchObject({ exit: 0 });
  expect(read(dir, 'run.baton')).not.toContain(secret);
});

test('old texts go, what is proved stays proved, and reading goes on', async () => {
  const dir = project();
  const id = await castOnce(dir);
  await told(dir, 'export', 'latest', '-o', 'before.baton');
  expect(await told(dir, 'gc')).toMatchObject({ exit: 0, details: { texts: 0 } });
  expect(await told(dir, 'gc', '--older-than', '0m', '--dry-run')).toMatchObject({
    details: { casts: [id], dryRun: true },
  });
  expect(await told(dir, 'gc', '--older-than', '0m')).toMatchObject({ exit: 0, details: { casts: [id] } });
  for (const name of ['log.sqlite', 'log.sqlite-wal']) {
    expect(
      readdirSync(join(dir, '.baton/state')).includes(name) ? read(dir, `.baton/state/${name}`) : '',
    ).not.toContain('yyyyyyyy');
  }
  const { details } = await told(dir, 'audit', 'verify');
  expect(details).toMatchObject({ texts: 0, erased: expect.any(Number), checkpoints: { unsigned: 0 } });
  const { stdout } = await baton(dir, ['show', '--json', '--turns']);
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'completed',
    turns: [{ output: 'a plan' }, { output: '[erased]' }],
  });
  expect((await told(dir, 'verify', 'before.baton')).exit).toBe(0);
  expect(await told(dir, 'export', 'latest', '-o', 'after.baton')).toMatchObject({ exit: 0 });
  expect(verifier(join(dir, 'after.baton'))).toBe(0);
  expect((await baton(dir, ['gc', '--older-than', 'soon'])).code).toBe(2);
});

test('a file, a cast and a prompt are followed', async () => {
  const dir = project();
  const id = await castOnce(dir);
  const traced = async (word: string) =>
    json<JsonObject[]>(await baton(dir, ['trace', word, '--json'], { env: outside(dir) }));
  const all = await traced(id);
  expect(all.map(({ turn, after, runner }) => [turn, after, runner])).toEqual([
    [1, null, 'scripted'],
    [2, 1, 'scripted'],
  ]);
  expect(Object.keys(all[1]?.touched as object)).toEqual(['src/a.txt']);
  expect(await traced('src/a.txt')).toEqual(all);
  expect(await traced(String(all[1]?.prompt))).toEqual(all.slice(1));
  expect((await baton(dir, ['trace', 'nothing'])).code).toBe(2);
  expect((await baton(dir, ['trace', `sha256:${'0'.repeat(64)}`])).code).toBe(2);
});

test('what cannot be understood is wrong usage, wherever it is found out', async () => {
  const dir = project();
  await castOnce(dir);
  const calls = [
    ['audit', 'prove', '9999'],
    ['audit', 'prove', '--from', '4', '--to', '2'],
    ['audit', 'verify', '--key', 'junk'],
    ['audit', 'verify', '--key', ''],
    ['export', 'latest', '-o', 'x.baton', '--redact', 'nowhere'],
    ['token', 'create', '--role', 'viewer', '--name', '../x'],
    ['gc', '--digest', `sha256:${'0'.repeat(64)}`],
  ];
  const answers: [string | undefined, number | null][] = [];
  for (const args of calls) {
    const { exit, code } = await told(dir, ...args);
    answers.push([code, exit]);
  }
  expect(answers).toEqual(calls.map(() => ['BAD_USAGE', 2]));
});
