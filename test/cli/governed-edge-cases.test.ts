// Foreign handoffs over time, through the command line: what is used up, what stays blocked, what is kept, and what a
// fault of the machine leaves behind.
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Append } from '../../src/engine/ports.ts';
import type { Fact } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { BATON, baton, json, project, put, type Ran, read } from './baton.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;
const MANIFEST = '.baton/versions/prompt-manifest.json';
const LOCK = '.baton/versions/prompt-lock.json';
const ANSWERS = '.baton/prompts/answers.md';

type Answer = { readonly allow: boolean; readonly code: string; readonly reason: string; readonly details: JsonObject };
type Row = { readonly seq: number; readonly at: string; readonly kind: string } & JsonObject;

/** `asks` hands to `answers`, who hands to nobody; `stranger` is known to `router` alone. */
const AGENTS = { asks: 'domains', answers: 'domains', stranger: 'domains', router: 'orchestrators' } as const;

async function registered(files: Readonly<Record<string, Json>> = {}): Promise<string> {
  const record = (id: string) => ({ canonical_id: id, file: `prompts/${id}.md`, version: '1.0.0' });
  const manifest = {
    version: '1.0.0',
    domains: {
      asks: { ...record('asks'), collaboration: { allow: [{ target: 'answers' }] } },
      answers: record('answers'),
      stranger: record('stranger'),
    },
    orchestrators: { router: record('router') },
  };
  const prompts = Object.keys(AGENTS).map((id) => [`.baton/prompts/${id}.md`, `You are ${id}.\n`] as const);
  const dir = project({ [MANIFEST]: manifest, ...Object.fromEntries(prompts), ...files });
  expect((await baton(dir, ['registry', 'lock'])).code).toBe(0);
  return dir;
}

function between(dir: string, source: string, target: string, change: JsonObject = {}): JsonObject {
  const { prompts } = JSON.parse(read(dir, LOCK)) as {
    prompts: Record<string, { hash: string; type: string; version: string }>;
  };
  const agent = (id: string) => ({
    agent_type: prompts[id]?.type ?? '',
    agent_id: id,
    agent_version: prompts[id]?.version ?? '',
    prompt_hash: prompts[id]?.hash ?? '',
  });
  return {
    handoff_id: randomUUID(),
    timestamp: new Date(Date.now() - 1_000).toISOString(),
    protocol_version: '1.0.0',
    source_agent: agent(source),
    target_agent: agent(target),
    context: {
      request: { type: 'task', description: 'Do it', input_data: {}, constraints: [], expected_output: '' },
      state: { conversation_history: [], accumulated_context: {}, decisions_made: [] },
    },
    governance: {
      source_agent_verified: true,
      target_agent_verified: true,
      composition_valid: true,
      boundaries_respected: true,
      audit_trail: 'x',
    },
    ...change,
  };
}

async function judged(dir: string, value: Json): Promise<Answer> {
  put(dir, { 'handoff.json': value });
  const ran = await baton(dir, ['handoff', 'verify', 'handoff.json']);
  const answer = json<Answer>(ran);
  expect(ran.code).toBe(answer.allow ? 0 : 1);
  return answer;
}

const codeOf = async (dir: string, value: Json) => (await judged(dir, value)).code;
const asked = (dir: string, change: JsonObject = {}) => between(dir, 'asks', 'answers', change);
const registry = async (dir: string, ...args: string[]) =>
  json<Answer>(await baton(dir, ['registry', ...args, '--json'])).code;
const blocked = async (dir: string) =>
  json<{ key: string; times: number }[]>(await baton(dir, ['registry', 'quarantine', '--json']));
const log = async (dir: string, prefix = '') =>
  json<Row[]>(await baton(dir, ['log', '--json', '--after', '0'])).filter(({ kind }) => kind.startsWith(prefix));

function wrongHash(dir: string): JsonObject {
  const right = asked(dir) as { target_agent: { prompt_hash: string } } & JsonObject;
  const { prompt_hash } = right.target_agent;
  const digit = prompt_hash.startsWith('0') ? '1' : '0';
  return { ...right, target_agent: { ...right.target_agent, prompt_hash: digit + prompt_hash.slice(1) } };
}

test('a wrong hash opens one incident that counts, is kept as a false claim, and switches nobody off', async () => {
  const dir = await registered();
  const locked = String((asked(dir).target_agent as JsonObject).prompt_hash);
  const first = await judged(dir, wrongHash(dir));
  expect(first).toMatchObject({ code: 'HASH_MISMATCH', details: { security_flag: true } });
  expect(JSON.stringify(first)).not.toContain(locked);
  expect(await codeOf(dir, wrongHash(dir))).toBe('QUARANTINED');
  expect(await blocked(dir)).toMatchObject([{ key: expect.stringMatching(/^answers@[0-9a-f]{64}$/), times: 2 }]);
  const [kept] = await log(dir, 'handoff.judged');
  expect(kept?.details).toMatchObject({ false_claims: ['target_agent_verified'] });
  expect(await codeOf(dir, asked(dir))).toBe('OK');
});

test('one byte more blocks an agent until the bytes agree and a person has said so', async () => {
  const dir = await registered();
  const text = read(dir, ANSWERS);
  put(dir, { [ANSWERS]: `${text} ` });
  expect(await codeOf(dir, asked(dir))).toBe('PROMPT_BYTES_MISMATCH');
  const release = ['release', 'answers', '--reason', 'looked at it'];
  expect(await registry(dir, ...release)).toBe('PROMPT_BYTES_MISMATCH');
  expect(await blocked(dir)).toMatchObject([{ key: 'answers' }]);
  put(dir, { [ANSWERS]: text });
  expect(await codeOf(dir, asked(dir))).toBe('QUARANTINED');
  expect(await registry(dir, ...release, '--outcome', 'legitimate_change')).toBe('VERSION_MISMATCH');
  expect(await blocked(dir)).toMatchObject([{ key: 'answers' }]);
  expect(await registry(dir, ...release)).toBe('OK');
  expect(await codeOf(dir, asked(dir))).toBe('OK');
  put(dir, { [ANSWERS]: `${text}\n` });
  expect(await codeOf(dir, asked(dir))).toBe('PROMPT_BYTES_MISMATCH');
  expect(await blocked(dir)).toMatchObject([{ key: 'answers', times: 1 }]);
});

test('an id is used up by the first verdict that looks at it, and by no earlier one', async () => {
  const dir = await registered();
  const { timestamp: _left, ...incomplete } = asked(dir);
  const whole = { ...incomplete, timestamp: new Date().toISOString() };
  expect(await codeOf(dir, incomplete)).toBe('SCHEMA_MISSING');
  expect(await codeOf(dir, whole)).toBe('OK');
  const misdirected = between(dir, 'answers', 'asks');
  expect(await codeOf(dir, misdirected)).toBe('BOUNDARY_NOT_ALLOWED');
  const { handoff_id } = misdirected;
  expect(await judged(dir, asked(dir, { handoff_id: handoff_id ?? null }))).toMatchObject({
    code: 'REPLAY',
    details: { executed: false, prior: { status: 'rejected', same_digest: false } },
  });
});

/** An entry of the log by somebody who had another clock. */
async function written(dir: string, append: Omit<Append, 'by'>): Promise<void> {
  const state = join(dir, '.baton', 'state');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const kept = new SqliteLog(logFileIn(state));
  await kept.commit((await kept.head()).seq, { decide: () => [{ by: 'user:ann', ...append }] });
  await kept.close();
}

const paused = { kind: 'cast.paused', cast: 'c', reason: 'x' } as const;

test('an id that was used a year ago is used', async () => {
  const dir = project();
  const id = randomUUID();
  const fact: Fact = {
    kind: 'handoff.judged',
    handoff: id,
    usesId: true,
    source: 'asks',
    target: 'answers',
    parent: null,
    allow: true,
    code: 'OK',
    reason: '',
    details: {},
    envelopeDigest: 'e',
    requestDigest: 'r',
    registryDigest: null,
    envelope: '{}',
  };
  await written(dir, { fact, at: Date.now() - YEAR_MS, once: [`handoff:${id}`] });
  const other = await registered();
  for (const name of [MANIFEST, LOCK, ...Object.keys(AGENTS).map((agent) => `.baton/prompts/${agent}.md`)])
    put(dir, { [name]: read(other, name) });
  expect(await judged(dir, asked(dir, { handoff_id: id.toUpperCase() }))).toMatchObject({
    code: 'REPLAY',
    details: { prior: { status: 'accepted' } },
  });
  expect(await codeOf(dir, asked(dir))).toBe('OK');
});

test('when a clock steps back the log does not, and a handoff is judged by the clock as it is', async () => {
  const dir = await registered();
  await written(dir, { fact: paused, at: Date.now() + HOUR_MS });
  expect(await codeOf(dir, asked(dir))).toBe('OK');
  const times = (await log(dir)).map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  expect(Date.parse(times.at(-1) ?? '')).toBeGreaterThan(Date.now() + HOUR_MS / 2);
});

const BODIES: readonly (readonly [string, string])[] = [
  ['[]', 'SCHEMA_TYPE'],
  ['"x"', 'SCHEMA_TYPE'],
  ['null', 'SCHEMA_TYPE'],
  ['', 'PARSE'],
];

test('a body that is no envelope at all is refused, and kept without an id', async () => {
  const dir = await registered();
  for (const [text, code] of BODIES) expect([text, await codeOf(dir, text)]).toEqual([text, code]);
  const kept = BODIES.map(([, code]) => ({ handoff: null, usesId: false, allow: false, code }));
  expect(await log(dir, 'handoff.')).toMatchObject(kept);
});

test('both hops of a mediated handoff are shown by the id of the first', async () => {
  const dir = await registered();
  const first = between(dir, 'asks', 'router');
  const links = { parent_handoff_id: String(first.handoff_id) };
  const second = between(dir, 'router', 'stranger', { links });
  expect(await codeOf(dir, between(dir, 'asks', 'stranger'))).toBe('BOUNDARY_NOT_ALLOWED');
  expect([await codeOf(dir, first), await codeOf(dir, second)]).toEqual(['OK', 'OK']);
  expect(json<JsonObject[]>(await baton(dir, ['trace', String(first.handoff_id), '--json']))).toMatchObject([
    { handoff: first.handoff_id, source: 'asks', target: 'router', parent: null, code: 'OK' },
    { handoff: second.handoff_id, source: 'router', target: 'stranger', parent: first.handoff_id, code: 'OK' },
  ]);
});

test('on a full disk nothing is accepted, nothing is used up, and the same handoff passes later', async () => {
  const dir = await registered();
  const value = asked(dir);
  put(dir, { 'handoff.json': value });
  const limited = ['bash', '-c', `ulimit -f 4; trap "" XFSZ; exec "$0" "$@"`, BATON];
  const full: Ran = await baton(dir, ['handoff', 'verify', 'handoff.json'], { program: limited });
  expect([full.code, json<Answer>(full)]).toMatchObject([
    1,
    { code: 'AUDIT_UNAVAILABLE', details: { executed: false } },
  ]);
  expect(await log(dir, 'handoff.')).toEqual([]);
  expect(await codeOf(dir, value)).toBe('OK');
});

test('a text that was erased is told as that, with who erased it, and the log is whole', async () => {
  const dir = await registered();
  expect(await codeOf(dir, asked(dir, { audit_note: 'n'.repeat(400) }))).toBe('OK');
  const [kept] = await log(dir, 'handoff.');
  expect(kept?.envelope).toContain('nnn');
  expect(json<Answer>(await baton(dir, ['gc', '--older-than', '0m', '--json'])).code).toBe('OK');
  const [after] = await log(dir, 'handoff.');
  expect(after?.envelope).toBe('[erased]');
  expect(await log(dir, 'blob.erased')).toMatchObject([{ from: [kept?.seq], by: expect.stringMatching(/^user:/) }]);
  expect(json<Answer>(await baton(dir, ['audit', 'verify', '--json']))).toMatchObject({
    code: 'OK',
    details: { erased: 1 },
  });
});

test('a write that was cut off in its middle is gone, what was answered before it is there, and work goes on', async () => {
  const dir = await registered();
  const state = join(dir, '.baton', 'state');
  const writer = new SqliteLog(logFileIn(state));
  const append = async (reason: string) =>
    writer.commit((await writer.head()).seq, {
      decide: () => [{ fact: { ...paused, reason }, by: 'user:ann', at: Date.now() }],
    });
  await append('whole');
  const before = statSync(`${logFileIn(state)}-wal`).size;
  await append('torn');
  const torn = project();
  mkdirSync(join(torn, '.baton', 'state'), { recursive: true, mode: 0o700 });
  for (const end of ['', '-wal'])
    copyFileSync(`${logFileIn(state)}${end}`, `${logFileIn(join(torn, '.baton', 'state'))}${end}`);
  await writer.close();
  truncateSync(`${logFileIn(join(torn, '.baton', 'state'))}-wal`, before + 100);
  const reasons = async () => (await log(torn, 'cast.paused')).map(({ reason }) => reason);
  expect(await reasons()).toEqual(['whole']);
  expect(json<Answer>(await baton(torn, ['audit', 'verify', '--json'])).code).toBe('OK');
  await written(torn, { fact: { ...paused, reason: 'later' }, at: Date.now() });
  expect(await reasons()).toEqual(['whole', 'later']);
});

test('a new workspace keeps its prompts from being converted by a checkout', async () => {
  const dir = project();
  expect((await baton(dir, ['init'])).code).toBe(0);
  expect(read(dir, '.baton/.gitattributes').split('\n')).toContain('prompts/** -text');
});
