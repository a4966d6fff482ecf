import { expect, test } from 'vitest';
import { table } from './safe-text.ts';

test('a long cell is cut, but not one that a person has to give back as it is', () => {
  const id = `context:${'c'.repeat(64)}`;
  const [, row = ''] = table([[id, 'x'.repeat(100)]], ['id', 'reason'], ['id']);
  expect(row).toContain(id);
  expect(row).toContain('…');
  expect(table([[id]], ['id'])[1]).toContain('…');
});
