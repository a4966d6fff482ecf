// Server-sent events, wherever the pieces of their stream are cut.
import { expect, test } from 'vitest';
import { eventReader } from '../../src/client/wire.ts';

const TEXT =
  ': hello\r\n\r\nid: 7\nevent: entry\ndata: {"a":\ndata: 1}\n\ndata:x\n\nretry: 5\n\nevent: head\r\ndata: {}\r\n\r\n';

test.each([1, 2, 3, 5, 1_000])('in pieces of %i', (size) => {
  const read = eventReader();
  const pieces = TEXT.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
  expect(pieces.flatMap((piece) => read(piece))).toEqual([
    { event: 'entry', id: '7', data: '{"a":\n1}' },
    { event: 'message', id: null, data: 'x' },
    { event: 'head', id: null, data: '{}' },
  ]);
});
