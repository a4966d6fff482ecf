// Whoever only looks at a cast can leave its long briefs, or all its long texts, where they are, in every log.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { foldAll } from '../../src/app/views/cast-view.ts';
import { shownCast } from '../../src/app/views/shown-cast.ts';
import { textDigest } from '../../src/log/line.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { always, graph } from '../loadouts.ts';
import { play } from '../play.ts';

const LONG = `Say it. ${'x'.repeat(5_000)}`;
const LINE = graph(
  { 'Socket-1': { materia: 'First', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Then' } },
  { materia: { First: { prompt: LONG, tools: 'none' }, Then: { prompt: 'Go on.', tools: 'none' } } },
);

test.each([
  ['SQLite', () => new SqliteLog(join(mkdtempSync(join(tmpdir(), 'briefs-')), 'log.sqlite'))],
  ['memory', () => new MemoryLog()],
])('%s gives a long brief by its digest where that is asked for, and the cast looks the same', async (_, open) => {
  const log = open();
  const { entries } = play({ config: LINE, agents: { First: ['one'], Then: ['two'] } });
  await log.commit(0, { decide: () => entries.map(({ fact, by, at }) => ({ fact, by, at: Date.parse(at) })) });
  const whole = foldAll(await log.read({ after: 0, cast: 'c' }));
  const short = foldAll(await log.read({ after: 0, cast: 'c', briefs: 'digest' }));
  const [brief] = whole.attempts.map((attempt) => String(attempt.brief));
  expect(brief).toContain(LONG);
  expect(short.attempts[0]?.brief).toEqual({
    digest: textDigest(brief ?? ''),
    seq: entries.find(({ fact }) => fact.kind === 'attempt.started')?.seq,
    bytes: Buffer.byteLength(brief ?? ''),
    preview: brief?.slice(0, 200),
  });
  const head = await log.head();
  expect(shownCast(short, head, false)).toEqual(shownCast(whole, head, false));
  await log.close();
});

test.each([
  ['SQLite', () => new SqliteLog(join(mkdtempSync(join(tmpdir(), 'texts-')), 'log.sqlite'))],
  ['memory', () => new MemoryLog()],
])('%s gives every long text by its digest where that is asked for, and an erased one says so', async (_, open) => {
  const log = open();
  const { entries } = play({ config: LINE, agents: { First: ['one'], Then: ['two'] } });
  await log.commit(0, { decide: () => entries.map(({ fact, by, at }) => ({ fact, by, at: Date.parse(at) })) });
  const started = { after: 0, kindPrefix: 'cast.started', texts: 'digest' } as const;
  const promptIn = async () => {
    const [entry] = await log.read(started);
    return JSON.parse(JSON.stringify(entry?.fact)).rules.materia.First.prompt;
  };
  const reference = { digest: textDigest(LONG), seq: 1, bytes: Buffer.byteLength(LONG) };
  expect(await promptIn()).toEqual({ ...reference, preview: LONG.slice(0, 200) });
  const erased = { kind: 'blob.erased', digest: textDigest(LONG), from: [1], reason: 'asked for' } as const;
  const head = (await log.head()).seq;
  await log.commit(head, { decide: () => [{ fact: erased, by: 'ann', at: Date.now() }] });
  expect(await promptIn()).toEqual({ ...reference, preview: '[erased]' });
  await log.close();
});
