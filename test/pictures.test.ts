// The pictures of README and docs: each that a page shows is there, graphs are as `baton graph` draws them now, and a screen keeps
// its text and colours.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { GRAPHS, graphFile, graphPicture } from '../scripts/pictures.ts';
import { terminalPicture } from '../scripts/terminal-picture.ts';
import { drawSvg } from '../src/app/views/draw-graph.ts';
import { drawingOf } from '../src/app/views/graph-drawing.ts';
import { resolve } from '../src/kernel/graph/resolve.ts';
import type { JsonObject } from '../src/kernel/json.ts';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));

test.each(GRAPHS)(
  'the picture of %s is what `baton graph` draws: make it again with `npm run pictures`',
  (template) => {
    expect(readFileSync(graphFile(template), 'utf8')).toBe(graphPicture(template));
  },
);

test('pages show pictures that are there', () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: CHECKOUT })];
  const shown = pages.flatMap((page) => {
    const text = readFileSync(join(CHECKOUT, page), 'utf8');
    return Array.from(text.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g), ([, path = '']) => join(dirname(page), path));
  });
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.filter((path) => !existsSync(join(CHECKOUT, path)))).toEqual([]);
});

test('a screen keeps its columns, colours and weights, and no text acts', () => {
  const picture = terminalPicture('\x1b[32m✓\x1b[39m build \x1b[2m3 s\x1b[0m\nx < y & "z"\n\n', 20, 'a <title>');
  expect(picture).toContain('<tspan x="16" textLength="8" style="fill:#56d364">✓</tspan>');
  expect(picture).toContain('<tspan x="24" textLength="56"> build </tspan>');
  expect(picture).toContain('<tspan x="80" textLength="24" class="d">3 s</tspan>');
  expect(picture).toContain('x &#60; y &#38; &#34;z&#34;');
  expect(picture.match(/<text /g)).toHaveLength(2);
});

test('the words of several ways around the same steps stand below each other', () => {
  const judge = { type: 'agent', tools: 'readOnly', prompt: 'Judge.' };
  const config = {
    materia: { build: judge, review: judge },
    loadouts: {
      Team: {
        entry: 'Socket-1',
        sockets: {
          'Socket-1': { materia: 'build', parse: 'json', edges: [{ when: 'always', to: 'Socket-2' }] },
          'Socket-2': {
            ...{ materia: 'review', parse: 'json' },
            edges: [
              { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 3 },
              { when: 'satisfied', to: 'Socket-1', maxTraversals: 2 },
            ],
          },
        },
      },
    },
  } as unknown as JsonObject;
  const words = drawSvg(drawingOf(resolve(config, 'Team'))).matchAll(/ y="([\d.]+)" text-anchor="end">([^<]+)</g);
  const rows = [...words].map(([, y = '', text = '']) => [text, Number(y)] as const);
  expect(rows.map(([text]) => text)).toEqual(['not satisfied, at most 3', 'satisfied, at most 2']);
  expect(Math.abs((rows[0]?.[1] ?? 0) - (rows[1]?.[1] ?? 0))).toBeGreaterThanOrEqual(14);
});
