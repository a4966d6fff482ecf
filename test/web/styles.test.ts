// Every class is styled in one file. The views share one document, so what one view says about a class holds in all others.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
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
  expect(named.filter((each) => !each.startsWith('graph/graph.css .materia-'))).toEqual([]);
});

/** What a file brings along when it is loaded: its own imports and theirs, without what is fetched later. */
function broughtBy(entry: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(entry)) return found;
  found.add(entry);
  if (entry.endsWith('.css')) return found;
  for (const [, name = ''] of readFileSync(entry, 'utf8').matchAll(/(?:^|\n)(?:import|export)\b[^;]*?'(\.[^']+)'/g))
    if (/\.(?:tsx?|css)$/.test(name)) broughtBy(resolve(dirname(entry), name), found);
  return found;
}

const classesIn = (text: string) => new Set([...text.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = '']) => name));

test('a view that is fetched later brings the styles of all that it shows', () => {
  const homes = new Map(files.map(({ name, text }) => [join(WEB, name), classesIn(text)]));
  const styled = new Set([...homes.values()].flatMap((names) => [...names]));
  const always = broughtBy(join(WEB, 'main.tsx'));
  // An entry of a view: what a file outside of it fetches.
  const views = globSync('**/*.tsx', { cwd: WEB }).flatMap((name) => {
    const text = readFileSync(join(WEB, name), 'utf8');
    return [...text.matchAll(/import\('(\.[^']+)'\)/g)].map(([, to = '']) => ({
      by: join(WEB, name),
      view: resolve(dirname(join(WEB, name)), to),
    }));
  });
  expect(views.length).toBeGreaterThan(5);
  const bare = views.flatMap(({ by, view }) => {
    const brought = [...broughtBy(view)];
    const there = new Set([...brought, ...always, ...broughtBy(by)].flatMap((file) => [...(homes.get(file) ?? [])]));
    return brought
      .filter((file) => file.startsWith(WEB) && file.endsWith('.tsx') && !always.has(file))
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/className=(?:"([^"]*)"|\{`([^`]*)`\})/g)].flatMap(([, plain, made]) =>
          (plain ?? made ?? '')
            .replace(/\$\{[^}]*\}/g, ' ')
            .split(/\s+/)
            .filter((name) => styled.has(name) && !there.has(name))
            .map((name) => `${relative(WEB, view)}: .${name} of ${relative(WEB, file)}`),
        ),
      );
  });
  expect([...new Set(bare)]).toEqual([]);
});
