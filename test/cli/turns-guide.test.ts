// The guide to turns does what it says: its files are written, its commands are run in order, and what it shows of their
// output is there.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isObject, type Json } from '../../src/kernel/json.ts';
import { baton, CHECKOUT, project, put, read } from './baton.ts';

const GUIDE = read(CHECKOUT, join('docs', 'turns.md'));
const BLOCKS = [...GUIDE.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', name = '', text = '']) => ({ language, name, text }),
);

/** What a command came to, in one word or two. */
function outcomeOf(value: Json): string {
  if (Array.isArray(value)) return `${value.length} open`;
  if (!isObject(value)) return String(value);
  if (value.written === true) return 'written';
  return String(value.code ?? value.status ?? `turn ${value.turn}`);
}

test('every example of the guide answers what it says', async () => {
  const dir = project();
  let last: readonly string[] = [];
  let commands = 0;
  for (const { language, name, text } of BLOCKS) {
    if (name !== '') put(dir, { [name]: text });
    if (language === 'text') {
      const { stdout } = await baton(dir, last);
      for (const line of text.trimEnd().split('\n')) expect(stdout).toMatch(asPattern(line));
    }
    for (const [, line = '', outcome = ''] of language === 'console'
      ? text.matchAll(/^\$ baton (.*?) +# (.+)$/gm)
      : []) {
      last = Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, inner]) => inner ?? word);
      const { stdout, stderr } = await baton(dir, [...last, '--json']);
      expect(`${line}: ${stdout ? outcomeOf(JSON.parse(stdout)) : stderr}`).toBe(`${line}: ${outcome}`);
      commands += 1;
    }
  }
  expect(commands).toBe([...GUIDE.matchAll(/^\$ baton/gm)].length);
});

/** A line of the guide; … stands for what differs from cast to cast. */
function asPattern(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'm');
}
