import { expect, test } from 'vitest';
import type { Contract } from '../../kernel/dialect.ts';
import { deny } from '../../kernel/verdict.ts';
import { textDialect } from '../index.ts';

const contract: Contract = {
  dialect: 'text',
  generator: false,
  utility: false,
  requires: [],
  assign: {},
  schema: null,
};

test.each(['', 'All done.', '{"satisfied":false}', '\ud800'])('%j is handed on as it is, and steers nothing', (raw) => {
  expect(textDialect.read(raw, contract)).toEqual({
    ok: true,
    handoff: { outcome: 'done', satisfied: null, payload: raw },
  });
});

test('the brief asks for plain text, and a repair says why first', () => {
  expect(textDialect.brief(contract)).toBe('Return a concise plain-text result.');
  const repair = textDialect.repair(deny('OUTPUT_TOO_LARGE', 'the result is too long'), 'x', contract);
  expect(repair).toContain('the result is too long');
  expect(repair).toContain(textDialect.brief(contract));
});
