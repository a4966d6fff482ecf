import { expect, test } from 'vitest';
import { resolve } from '../../kernel/graph/resolve.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { drawSvg } from './draw-graph.ts';
import { drawingOf } from './graph-drawing.ts';

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
