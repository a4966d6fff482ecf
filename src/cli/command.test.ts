// Which exit goes with which verdict: that a call was wrong is 2, whoever finds it out; any other refusal is 1.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CODES, type Code } from '../kernel/codes.ts';
import { allow, deny } from '../kernel/verdict.ts';
import { EXIT_CODE, exitOf } from './command.ts';

test('every code of the table has its exit', () => {
  expect(exitOf(allow())).toBe(EXIT_CODE.ok);
  const wrong = (Object.keys(CODES) as Code[]).filter((code) => exitOf(deny(code, 'x')) === EXIT_CODE.usage);
  expect(wrong).toEqual(['BAD_USAGE']);
  expect(new Set((Object.keys(CODES) as Code[]).map((code) => exitOf(deny(code, 'x'))))).toEqual(
    new Set([EXIT_CODE.denied, EXIT_CODE.usage]),
  );
});

test('no command makes up an exit for a verdict of its own', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const files = globSync('**/*.ts', { cwd: folder }).filter((name) => !name.endsWith('.test.ts'));
  const odd = files.filter((name) => /allow \? EXIT\.ok : EXIT\./.test(readFileSync(`${folder}${name}`, 'utf8')));
  expect(odd).toEqual([]);
});
