import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../kernel/json.ts';
import { patchedYaml, yamlText } from './yaml-text.ts';

const TEXT = `# Our team.
description: Plan, build, review.

steps:
  # It makes the list.
  - plan: { makes: items, tools: read } # cheap
  - each: plan
    do:
      - build: { tools: write, lock: ["."] }
      # A second pair of eyes.
      - review: { tools: run, reject: { to: build, max: 3 } }
  - summary
`;

type Steps = { steps: [JsonObject, { each: string; do: JsonObject[] }, Json]; [key: string]: Json };

test.each<[string, (value: Steps) => unknown, string, string]>([
  ['nothing', (value) => value, '', ''],
  [
    'an option of one step',
    ({ steps: [plan, loop, end], ...rest }) => ({
      ...rest,
      steps: [plan, { ...loop, do: [loop.do[0], { review: { tools: 'run', reject: { to: 'build', max: 5 } } }] }, end],
    }),
    'max: 3',
    'max: 5',
  ],
  [
    'a step more',
    ({ steps: [plan, loop, end], ...rest }) => ({
      ...rest,
      steps: [plan, { ...loop, do: [loop.do[0], { lint: { run: ['npm', 'run', 'lint'] } }, loop.do[1]] }, end],
    }),
    'lock: ["."] }\n',
    'lock: ["."] }\n      - lint: { run: [npm, run, lint] }\n',
  ],
  ['a step less', ({ steps: [plan, loop], ...rest }) => ({ ...rest, steps: [plan, loop] }), '  - summary\n', ''],
  [
    'a step with a new name',
    ({ steps: [plan, loop, end], ...rest }) => ({
      ...rest,
      steps: [{ split: plan.plan }, { ...loop, each: 'split' }, end],
    }),
    '',
    '',
  ],
  [
    'options where there were none',
    ({ steps: [plan, loop], ...rest }) => ({
      ...rest,
      steps: [plan, loop, { summary: { prompt: 'Sum up.\nBriefly.' } }],
    }),
    '  - summary\n',
    '  - summary:\n      prompt: |-\n        Sum up.\n        Briefly.\n',
  ],
])('only what differs is written: %s', (_, change, before, written) => {
  const next = change(parse(TEXT)) as JsonObject;
  const patched = patchedYaml(TEXT, next);
  expect(parse(patched)).toEqual(next);
  expect(patched).toContain('# Our team.');
  expect(patched).toContain('# cheap');
  if (before !== '') expect(patched).toBe(TEXT.replace(before, written));
});

test('a new file is written as people write it', () => {
  const value = { ...parse(TEXT), agents: { shared: { prompt: 'a: b', tools: 'none' } } };
  expect(yamlText(value)).toBe(`description: Plan, build, review.
steps:
  - plan: { makes: items, tools: read }
  - each: plan
    do:
      - build: { tools: write, lock: ["."] }
      - review: { tools: run, reject: { to: build, max: 3 } }
  - summary
agents: { shared: { prompt: "a: b", tools: none } }
`);
});

describe('any value', () => {
  const key = fc.oneof(fc.constantFrom('a', 'steps', 'do', 'each', 'no', '- x', '#'), fc.string({ maxLength: 5 }));
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('a\nb', 'a\n b\n', 'true', '1', ' x', 'x: y', '|', 'a #b', '\u0085', 'é\nü'),
  );
  const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.constantFrom(true, false, null, 0, 3, -1.5),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        key.filter((each) => each !== '__proto__'),
        tie('value'),
        { maxKeys: 4 },
      ),
    ) as fc.Arbitrary<Json>,
  }));
  const object = fc.dictionary(
    key.filter((each) => each !== '__proto__' && each !== ''),
    json,
    { maxKeys: 4 },
  ) as fc.Arbitrary<JsonObject>;

  test('is what its text holds, and what a changed text holds', () => {
    fc.assert(
      fc.property(object, object, (before, next) => {
        const written = yamlText(before);
        expect(JSON.stringify(parse(written, { schema: 'core' }))).toBe(JSON.stringify(before));
        const patched = patchedYaml(`# kept\n${written}`, next);
        expect(JSON.stringify(parse(patched, { schema: 'core' }))).toBe(JSON.stringify(next));
      }),
      { numRuns: 1_500 },
    );
  });
});
