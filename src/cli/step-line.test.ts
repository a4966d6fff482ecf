import { expect, test } from 'vitest';
import { paintFor } from './paint.ts';
import { movingLine } from './step-line.ts';

const paint = paintFor({ isTTY: false } as never, {});
const line = (doing: string, columns: number) =>
  movingLine({ name: 'build', item: '1/4 Parse the header', mark: '▸', doing, figures: '3 s' }, columns, paint);

test.each([
  ['Edit src/mailbox/header-parser.test.ts', 60],
  ['$ npm run test -- --grep crash', 60],
  ['Read src/a.ts', 80],
  ['', 40],
])('%j fills %d columns but one', (doing, columns) => {
  expect(line(doing, columns)).toMatch(/^▸ build · 1\/4 Parse .* 3 s$/);
  expect(line(doing, columns)).toHaveLength(columns - 1);
});

test('of a long path its end is shown, of a long command its beginning', () => {
  expect(line('Edit src/mailbox/header-parser.test.ts', 60)).toMatch(/ Edit …\S*test\.ts +3 s$/);
  expect(line('$ npm run test -- --grep "a long word"', 60)).toMatch(/ \$ npm run test.*… +3 s$/);
  expect(line('Edit src/mailbox/header-parser.test.ts', 120)).toContain(' Edit src/mailbox/header-parser.test.ts ');
});
