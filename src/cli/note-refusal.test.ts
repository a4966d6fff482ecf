// However often somebody is turned away, he is noted once a minute, with how often it was.
import { expect, test } from 'vitest';
import { deny } from '../kernel/verdict.ts';
import { RefusalCount } from './note-refusal.ts';

test('one note for each of them and minute, and the next one counts what came between', async () => {
  const noted: [string, number][] = [];
  const count = new RefusalCount(async (_, who, times) => void noted.push([who, times]));
  const refusal = deny('TOKEN_REVOKED', 'it was taken back');
  for (let index = 0; index < 1_000; index++) await count.add(refusal, 'token:ci', index);
  await count.add(refusal, 'token:unknown', 2_000);
  expect(noted).toEqual([
    ['token:ci', 1],
    ['token:unknown', 1],
  ]);
  await count.add(refusal, 'token:ci', 60_000);
  await count.add(refusal, 'token:ci', 60_001);
  expect(noted.at(-1)).toEqual(['token:ci', 1_000]);
  await count.close();
  expect(noted.slice(3)).toEqual([['token:ci', 1]]);
});
