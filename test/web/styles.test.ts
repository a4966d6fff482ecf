// Every class is styled in one file. The views share one document, so what one view says about a class holds in all others.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const WEB = fileURLToPath(new URL('../../web/src', import.meta.url));
const files = globSync('**/*.css', { cwd: WEB }).map((name) => {
  return { name, text: readFileSync(join(WEB, name), 'utf8').replace(/\/\*.*?\*\//gs, '') };
});

test('no class is styled by two files', () => {
  const homes = new Map<string, Set<string>>();
  for (const { name, text } of files)
    for (const [, selectors = ''] of text.matchAll(/([^{}]+)\{/g))
      for (const selector of selectors.split(/,(?![^(]*\))/)) {
        // What is said of a class within another one belongs to that one.
        const [, own] = /^\s*\.([\w-]+)(?![\w-]|:has)/.exec(selector) ?? [];
        if (own) homes.set(own, (homes.get(own) ?? new Set()).add(name));
      }
  expect(homes.size).toBeGreaterThan(300);
  expect([...homes].filter(([, { size }]) => size > 1).map(([own, of]) => `${own}: ${[...of].join(', ')}`)).toEqual([]);
});

test('colours come from the tokens', () => {
  const named = files
    .filter(({ name }) => name !== 'tokens.css')
    .flatMap(({ name, text }) =>
      // The colours of materia are their own.
      [...text.matchAll(/\.([\w-]+)[^{}]*\{[^}]*(#[0-9a-f]{3,8}\b|\brgba?\()/gi)].map(([, own]) => `${name} .${own}`),
    );
  expect(named.filter((each) => !each.startsWith('cast/graph.css .materia-'))).toEqual([]);
});
