// A yes that no person gave: a script appends it to the file of the log, well chained. Nothing runs under it, and the audit
// of whoever has the key finds it. A yes from before decisions were sealed is asked for again.
import { hash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { canonicalJson } from '../../src/kernel/json.ts';
import { BATON, baton, json, project } from './baton.ts';

const leafOf = (line: string) => hash('sha256', `\0${line}`, 'hex');

/** The last line, as an entry. */
function lastOf(db: DatabaseSync): { readonly line: string; readonly entry: JsonObject & { seq: number } } {
  const { line } = db.prepare('SELECT line FROM facts ORDER BY seq DESC LIMIT 1').get() as { line: string };
  return { line, entry: JSON.parse(line) };
}

/** Appends an entry as baton would; answers its number. */
function append(dir: string, kind: string, body: JsonObject): number {
  const db = new DatabaseSync(join(dir, '.baton/state/log.sqlite'));
  try {
    const { line, entry } = lastOf(db);
    const seq = entry.seq + 1;
    const next = canonicalJson({ ...entry, once: undefined, seq, prev: leafOf(line), kind, body } as never);
    const bare = canonicalJson(
      Object.fromEntries(Object.entries(JSON.parse(next)).filter(([, v]) => v !== null)) as never,
    );
    db.prepare('INSERT INTO facts (seq, kind, line) VALUES (?, ?, ?)').run(seq, kind, bare);
    return seq;
  } finally {
    db.close();
  }
}

/** Takes the seal out of the last entry, which is what an older version wrote. */
function unseal(dir: string): void {
  const db = new DatabaseSync(join(dir, '.baton/state/log.sqlite'));
  const { entry } = lastOf(db);
  const { mac: _mac, ...body } = entry.body as JsonObject;
  db.prepare('UPDATE facts SET line = ? WHERE seq = ?').run(canonicalJson({ ...entry, body }), entry.seq);
  db.close();
}

async function ask(dir: string, line: string): Promise<string> {
  const input = JSON.stringify({ operation: 'does it', exact_content: line, rollback: 'none', verification: 'look' });
  const asked = json<{ details: { approval: string } }>(await baton(dir, ['approvals', 'request', '-'], { input }));
  return asked.details.approval;
}

const exec = (dir: string, id: string, name: string) =>
  baton(dir, ['exec', '--json', '--approval', id, '--', 'touch', name]);
const audit = async (dir: string, env = {}) =>
  json<{ code: string; details: JsonObject }>(await baton(dir, ['audit', 'verify', '--json'], { env }));

test('a yes that a script appends runs nothing, and the audit says where it is', async () => {
  const dir = project({ '.baton/config.json': { materia: {}, loadouts: {}, approvals: { hook: 'deny' } } });
  const first = await ask(dir, 'touch first');
  expect((await baton(dir, ['approve', first])).code).toBe(0);
  expect((await exec(dir, first, 'first')).code).toBe(0);
  const whole = await audit(dir);
  expect(whole).toMatchObject({ code: 'OK', details: { decisions: { checked: 1 }, warnings: [] } });

  const id = await ask(dir, 'touch made');
  const seq = append(dir, 'approval.approved', { id, by: 'user:ann', reason: '', until: Date.now() + 3_600_000 });
  const done = await exec(dir, id, 'made');
  expect([done.code, json(done).code]).toEqual([1, 'DECISION_UNSEALED']);
  const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', cwd: dir };
  const command = `${BATON} exec --approval ${id} -- touch made`;
  const held = await baton(dir, ['hook', 'PreToolUse'], {
    input: JSON.stringify({ ...event, tool_input: { command } }),
  });
  expect([held.code, held.stderr]).toEqual([2, expect.stringContaining('DECISION_UNSEALED')]);
  expect(existsSync(join(dir, 'made'))).toBe(false);
  expect(await audit(dir)).toMatchObject({ code: 'TAMPERED', details: { kind: 'DECISION_FORGED', seq } });

  // Whoever does not have the key cannot tell, says so, and calls nothing forged.
  const stranger = { BATON_CONFIG: join(dir, 'stranger') };
  expect(await audit(dir, stranger)).toMatchObject({
    ...{ code: 'OK', details: { warnings: [{ kind: 'DECISION_UNCHECKED' }] } },
  });
  expect(existsSync(join(dir, 'stranger/approval-key'))).toBe(false);
});

/** Numbers of texts that the log keeps for each entry. */
const TEXTS_EACH = 2 ** 20;

/** Appends the first entry of each kind once more, with everything that is kept about it; answers the number of the first. */
function repeat(dir: string, ...kinds: string[]): number {
  const db = new DatabaseSync(join(dir, '.baton/state/log.sqlite'));
  const head = lastOf(db).entry.seq;
  for (const kind of kinds) {
    const row = db.prepare('SELECT * FROM facts WHERE kind = ? ORDER BY seq LIMIT 1').get(kind) ?? {};
    const { line, entry } = lastOf(db);
    const { once: _once, ...first } = JSON.parse(String(row.line)) as JsonObject;
    const [seq, { at = null }] = [entry.seq + 1, entry];
    const copy = { ...row, seq, line: canonicalJson({ ...first, seq, at, prev: leafOf(line) }) };
    const names = Object.keys(copy);
    const insert = `INSERT INTO facts (${names.join()}) VALUES (${names.map(() => '?').join()})`;
    db.prepare(insert).run(...Object.values(copy));
    const texts = 'INSERT INTO texts SELECT id + ?, digest, body FROM texts WHERE id BETWEEN ? AND ?';
    const [from, to] = [Number(row.seq) * TEXTS_EACH, (Number(row.seq) + 1) * TEXTS_EACH - 1];
    db.prepare(texts).run((seq - Number(row.seq)) * TEXTS_EACH, from, to);
  }
  db.close();
  return head + 1;
}

test('a yes that a person took back does not come back when request and yes are appended again', async () => {
  const dir = project();
  const id = await ask(dir, 'touch made');
  for (const word of ['approve', 'reject']) expect((await baton(dir, [word, id])).code).toBe(0);
  const seq = repeat(dir, 'approval.requested', 'approval.approved');
  const done = await exec(dir, id, 'made');
  expect([done.code, json(done).code, existsSync(join(dir, 'made'))]).toEqual([1, 'APPROVAL_REJECTED', false]);
  expect(await audit(dir)).toMatchObject({ code: 'TAMPERED', details: { kind: 'DECISION_FORGED', seq } });
});

test.each([
  ['request and yes', ['approval.requested', 'approval.approved']],
  ['request, yes and use', ['approval.requested', 'approval.approved', 'approval.used']],
])('a used approval does not run again when its %s are appended again', async (_, kinds) => {
  const dir = project();
  const id = await ask(dir, 'touch made');
  expect((await baton(dir, ['approve', id])).code).toBe(0);
  expect((await exec(dir, id, 'made')).code).toBe(0);
  rmSync(join(dir, 'made'));
  const seq = repeat(dir, ...kinds);
  const done = await exec(dir, id, 'made');
  expect([done.code, json(done).code]).toEqual([1, expect.stringMatching(/^(?:APPROVAL_USED|OUTCOME_UNKNOWN)$/)]);
  expect(existsSync(join(dir, 'made'))).toBe(false);
  expect(await audit(dir)).toMatchObject({ code: 'TAMPERED', details: { kind: 'DECISION_FORGED', seq } });
});

test('an approval that ended and is appended again can be ended again', async () => {
  const dir = project();
  const id = await ask(dir, 'touch made');
  expect((await baton(dir, ['reject', id])).code).toBe(0);
  repeat(dir, 'approval.requested');
  const again = await baton(dir, ['reject', '--json', id]);
  expect([again.code, json(again).code]).toEqual([0, 'OK']);
});

test('a yes from before decisions were sealed is asked for again in plain words, and then runs', async () => {
  const dir = project();
  const id = await ask(dir, 'touch made');
  expect((await baton(dir, ['approve', id])).code).toBe(0);
  unseal(dir);
  const done = await exec(dir, id, 'made');
  expect([done.code, json(done).code]).toEqual([1, 'DECISION_UNSEALED']);
  expect(done.stderr).toContain(`\`baton approve ${id}\` again`);
  expect((await baton(dir, ['approve', id])).code).toBe(0);
  expect((await exec(dir, id, 'made')).code).toBe(0);
  expect(existsSync(join(dir, 'made'))).toBe(true);
});

test('a yes under another key is not taken, and a no is', async () => {
  const dir = project();
  const id = await ask(dir, 'touch made');
  const env = { BATON_CONFIG: join(dir, 'other-user') };
  const refused = await baton(dir, ['approve', '--json', id], { env });
  expect([refused.code, json(refused).code]).toEqual([1, 'DECISION_UNSEALED']);
  expect((await baton(dir, ['reject', id], { env })).code).toBe(0);
});
