import { expect, test } from 'vitest';
import { findBlock } from './read.ts';

const FENCE = '```';
const TAG = 'agent_contract_handoff';

const FOUND_ROWS: [string, string, string, number][] = [
  ['a plain block', `${FENCE}${TAG}\n{}\n${FENCE}`, '{}\n', 2],
  ['prose around it', `First.\n${FENCE}${TAG}\n{}\n${FENCE}\nLast.`, '{}\n', 3],
  ['blanks and empty lines behind the tag', `${FENCE}${TAG}  \n\n \n{}${FENCE}`, '{}', 4],
  ['a no-break space behind the tag', `${FENCE}${TAG}\u00a0\n{}${FENCE}`, '{}', 2],
  ['CRLF line ends', `${FENCE}${TAG}\r\n{}\r\n${FENCE}\r\n`, '{}\r\n', 2],
  ['four backticks', `${FENCE}\`${TAG}\n{}\n${FENCE}\``, '{}\n', 2],
  ['an indented fence', `  ${FENCE}${TAG}\n  {}\n  ${FENCE}`, '  {}\n  ', 2],
  ['a fence closed on the last line of the JSON', `${FENCE}${TAG}\n{}${FENCE}`, '{}', 2],
  ['the first of two', `${FENCE}${TAG}\n1\n${FENCE}\n${FENCE}${TAG}\n2\n${FENCE}`, '1\n', 2],
  ['backticks inside a string', `${FENCE}${TAG}\n{"a":"${FENCE}"}\n${FENCE}`, '{"a":"', 2],
  ['a tag glued to text before a good one', `${FENCE}${TAG}{}\n${FENCE}${TAG}\n2${FENCE}`, '2', 3],
  ['an empty body', `${FENCE}${TAG}\n${FENCE}`, '', 2],
];

test.each(FOUND_ROWS)('%s', (_name, reply, body, line) => {
  expect(findBlock(reply)).toMatchObject({ found: true, body, line });
});

const NONE_ROWS: [string, string, string][] = [
  ['an empty reply', ' \n', 'the reply is empty'],
  ['no fence', 'All done.', `the reply has no fenced block tagged ${TAG}`],
  ['a json fence', `${FENCE}json\n{}\n${FENCE}`, `the reply has no fenced block tagged ${TAG}`],
  [
    'the tag in capitals',
    `${FENCE}Agent_Contract_Handoff\n{}\n${FENCE}`,
    `${TAG} is named on line 1, but not directly`,
  ],
  ['the tag with hyphens', `${FENCE}agent-contract-handoff\n{}\n${FENCE}`, 'the reply has no fenced block'],
  ['a prefix', `x\n${FENCE}json:${TAG}\n{}\n${FENCE}`, `${TAG} is named on line 2, but not directly`],
  ['a blank before the tag', `${FENCE} ${TAG}\n{}\n${FENCE}`, `${TAG} is named on line 1, but not directly`],
  ['tildes', `~~~${TAG}\n{}\n~~~`, `${TAG} is named on line 1, but not directly`],
  ['a word behind the tag', `${FENCE}${TAG} v2\n{}\n${FENCE}`, `a line break must follow the tag ${TAG} on line 1`],
  ['the body on the line of the tag', `${FENCE}${TAG} {}\n${FENCE}`, 'a line break must follow the tag'],
  ['a byte order mark behind the tag', `${FENCE}${TAG}\ufeff\n{}\n${FENCE}`, 'a line break must follow the tag'],
  ['an unclosed block', `x\n\n${FENCE}${TAG}\n{}`, `the ${TAG} block that opens on line 3 is never closed`],
  ['two closing backticks', `${FENCE}${TAG}\n{}\n\`\``, `the ${TAG} block that opens on line 1 is never closed`],
];

test.each(NONE_ROWS)('no block: %s', (_name, reply, message) => {
  expect(findBlock(reply)).toMatchObject({ found: false, message: expect.stringContaining(message) });
});

const FLOODS: [string, string][] = [
  ['backticks', '`'.repeat(1_000_000)],
  ['tags without line break', `${FENCE}${TAG}`.repeat(40_000)],
  ['tags with blanks', `${FENCE}${TAG}   `.repeat(40_000)],
  ['line breaks', `${FENCE}${TAG}${'\n'.repeat(1_000_000)}`],
  ['nested fences', `${FENCE}x\n`.repeat(200_000)],
];

test.each(FLOODS)('a flood of %s is read in one pass', (_name, reply) => {
  const before = performance.now();
  findBlock(reply);
  expect(performance.now() - before).toBeLessThan(60_000);
});
