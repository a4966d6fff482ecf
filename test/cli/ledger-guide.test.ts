// The guide to the ledger does what it says: its files are written, and its commands are run in order.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baton, CHECKOUT, project, put, read } from './baton.ts';

const GUIDE = read(CHECKOUT, join('docs', 'ledger.md'));
const BLOCKS = [...GUIDE.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', name = '', text = '']) => ({ language, name, text }),
);

test('every example of the guide answers what it says', async () => {
  const dir = project();
  let commands = 0;
  // JSON files are there from the start; a program appears where the guide comes to it.
  for (const { language, name, text } of BLOCKS) if (language === 'json') put(dir, { [name]: text });
  for (const { language, name, text } of BLOCKS) {
    if (language === 'js') put(dir, { [name]: text });
    if (language !== 'console') continue;
    for (const [, line = '', code = ''] of text.matchAll(/^\$ baton (.*?) +# (\S+)$/gm)) {
      const args = Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, inner]) => inner ?? word);
      const { stdout, stderr } = await baton(dir, args);
      expect(`${line}: ${stdout ? JSON.parse(stdout).code : stderr}`).toBe(`${line}: ${code}`);
      commands += 1;
    }
  }
  expect(commands).toBe([...GUIDE.matchAll(/^\$ baton/gm)].length);
  expect(commands).toBeGreaterThan(10);
});
