// However often somebody is turned away, he is noted once a minute for each code, with how often it was.
import { expect, test } from 'vitest';
import { deny } from '../kernel/verdict.ts';
import { RefusalCount, type TurnedAway } from './refusals.ts';

const revoked = deny('TOKEN_REVOKED', 'it was taken back');
const tooLow = deny('ROLE_TOO_LOW', 'an operator decides nothing');

function counting(isNoted = () => true) {
  const noted: (readonly [string, TurnedAway])[] = [];
  const count = new RefusalCount(async (verdict, turned) => {
    if (!isNoted()) return false;
    noted.push([verdict.code, turned]);
    return true;
  });
  return { count, noted };
}

test('one note for each of them and minute, and the next one counts what came between', async () => {
  const { count, noted } = counting();
  for (let index = 0; index < 1_000; index++) await count.add(revoked, { who: 'token:ci' }, index);
  await count.add(revoked, { who: 'token:unknown' }, 2_000);
  expect(noted).toEqual([
    ['TOKEN_REVOKED', { who: 'token:ci', times: 1 }],
    ['TOKEN_REVOKED', { who: 'token:unknown', times: 1 }],
  ]);
  await count.add(revoked, { who: 'token:ci' }, 60_000);
  await count.add(revoked, { who: 'token:ci' }, 60_001);
  expect(noted.at(-1)).toEqual(['TOKEN_REVOKED', { who: 'token:ci', times: 1_000 }]);
});

test('one refusal does not hide another one of the same minute, nor what else an agent tries', async () => {
  const { count, noted } = counting();
  await count.add(tooLow, { who: 'token:ci' }, 0);
  await count.add(revoked, { who: 'token:ci' }, 1);
  await count.add(tooLow, { who: 'agent:A', what: 'cast_start' }, 2);
  await count.add(tooLow, { who: 'agent:A', what: 'cast_answer' }, 3);
  expect(noted.map(([code, { what }]) => `${code} ${what ?? ''}`.trim())).toEqual([
    'ROLE_TOO_LOW',
    'TOKEN_REVOKED',
    'ROLE_TOO_LOW cast_start',
    'ROLE_TOO_LOW cast_answer',
  ]);
});

test('a server that ends tells what it still had counted, apart from the minute', async () => {
  const { count, noted } = counting();
  for (const at of [0, 1, 2]) await count.add(revoked, { who: 'token:ci' }, at);
  await count.close(5);
  expect(noted.slice(1)).toEqual([['TOKEN_REVOKED', { who: 'token:ci', times: 2, ended: '1970-01-01T00:00:00.005Z' }]]);
});

test('what another process has noted for the minute, or what could not be written, is not lost', async () => {
  let isFree = false;
  const { count, noted } = counting(() => isFree);
  await count.add(revoked, { who: 'token:ci' }, 0);
  await count.add(revoked, { who: 'token:ci' }, 1);
  isFree = true;
  await count.add(revoked, { who: 'token:ci' }, 60_000);
  expect(noted).toEqual([['TOKEN_REVOKED', { who: 'token:ci', times: 3 }]]);
});
