import { expect, test } from 'vitest';
import { SITUATIONS } from '../../../../test/situations.ts';
import { CODES, type Code } from '../../../kernel/codes.ts';
import { moment } from './situation.ts';
import { whyOf } from './why.ts';

test.each(SITUATIONS)('$what', async ({ situation, code, says, commands }) => {
  const why = await whyOf(situation);
  expect(why).toMatchObject({ cast: situation.cast.id, status: situation.cast.status, code });
  expect(why.means).toBe(code === null ? null : CODES[code as Code].means);
  const told = why.sentences.join('\n');
  let from = 0;
  for (const part of says) {
    expect(told.slice(from)).toContain(part);
    from = told.indexOf(part, from) + part.length;
  }
  expect(why.commands.map(({ command }) => command)).toEqual(commands.map((line) => `baton -C x ${line}`));
});

test.each(SITUATIONS)('$what: every sentence is one, on one line', async ({ situation }) => {
  const { sentences, commands, since } = await whyOf(situation);
  for (const line of sentences) expect(line).toMatch(/^[^\n]+[.!?…]$/);
  for (const { does, command } of commands) expect(`${does}${command}`).not.toMatch(/\n|undefined|null/);
  expect(Number.isNaN(Date.parse(since))).toBe(false);
});

test('every status is among the rows', () => {
  const statuses = new Set(SITUATIONS.map(({ situation }) => situation.cast.status));
  expect([...statuses].sort()).toEqual(['aborted', 'completed', 'failed', 'paused', 'running', 'waiting']);
});

test.each([
  [0, 'just now'],
  [119_000, '119 s ago'],
  [120_000, '2 min ago'],
  [7_200_000, '2 h ago'],
  [172_800_000, '2 days ago'],
  [-60_000, 'in 60 s'],
])('a moment %s ms ago', (ms, says) => {
  expect(moment(1e12, 1e12 + ms)).toBe(`2001-09-09T01:46:40Z (${says})`);
});
