import { expect, test } from 'vitest';
import { proseBoundaries } from './boundary.ts';

const IDS = ['domain-01-content', 'domain-02-analysis', 'domain-03-data', 'domain-07-legal', 'router'];

function allowed(text: string): string[] | null {
  const found = proseBoundaries(text, IDS);
  return found?.allow.map(({ target, mode }) => `${mode} ${target}`) ?? null;
}

test.each([
  ['### Collaboration Boundaries\n- **With Domain 02 (Analysis):** ask.', ['collaborate domain-02-analysis']],
  ['## collaboration with other domains\n* With Domain 1: ask.', ['collaborate domain-01-content']],
  [
    '#### Collaboration Boundaries\r\n- **With Domain 07 (Legal):** Distinguish advice from law.',
    ['demarcate domain-07-legal'],
  ],
  ['### Collaboration Boundaries\n- **With Domain 03:** facts vs. opinions.', ['demarcate domain-03-data']],
  ['### Collaboration Boundaries\n- **With Domain 03:** Keep numbers separate.', ['demarcate domain-03-data']],
  ['### Collaboration Boundaries\n- **With Domain 03:** This is not their work.', ['demarcate domain-03-data']],
  ['### Collaboration Boundaries\n- **With Domain 03:** Note what they noted.', ['collaborate domain-03-data']],
  ['### Collaboration Boundaries\n- **With Domain 99 (None):** ask.\n- Be kind.', []],
  ['### Collaboration Boundaries\n\n### Next\n- **With Domain 02:** ask.', []],
  ['# Collaboration Boundaries\n- **With Domain 02:** ask.', null],
  ['## Out of Scope\n- Data pipelines → Domain 03\n- Poems', ['collaborate domain-03-data']],
  ['## Out of Scope\n- Poems', null],
  ['A prompt about nothing.', null],
  ['', null],
])('%j declares %j', (text, expected) => {
  expect(allowed(text)).toEqual(expected);
});

test('what is out of scope redirects, and allows nothing beside declared boundaries', () => {
  const text = '## Out of Scope\n- Data pipelines -> domain-03\n## Collaboration Boundaries\n- With Domain 02: ask.';
  const found = proseBoundaries(text, IDS);
  expect(found?.redirect).toEqual([{ scope: 'data-pipelines', target: 'domain-03-data' }]);
  expect(found?.allow.map(({ target }) => target)).toEqual(['domain-02-analysis']);
});

test('a number that fits two ids fits none', () => {
  expect(proseBoundaries('## Out of Scope\n- x → Domain 02', ['domain-02-a', 'domain-02-b'])).toBeNull();
});
