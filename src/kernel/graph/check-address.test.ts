import { expect, test } from 'vitest';
import { checkAddresses, holdsCredential } from './check-materia.ts';

test.each([
  ['https://ann:hunter2@host/v1', true],
  ['HTTP://ann@host', true],
  ['https://@host', true],
  ['https://ann:p@ss@host:8080/v1', true],
  ['https://host/v1', false],
  ['https://host/v1/@ann', false],
  ['https://host?to=ann@host', false],
  ['https://host#ann@host', false],
  ['ann@host', false],
  [undefined, false],
  [7, false],
])('%s holds a credential: %s', (address, holds) => {
  expect(holdsCredential(address)).toBe(holds);
});

test('what is found says where the credential belongs, and does not repeat it', () => {
  const [issue] = checkAddresses({ baseUrl: 'https://ann:hunter2@host' }, 'materia.M');
  expect(issue).toMatchObject({ level: 'error', code: 'INVALID_MATERIA', path: 'materia.M.baseUrl' });
  expect(issue?.message).toContain('keyVariable');
  expect(JSON.stringify(issue)).not.toContain('hunter2');
});

test('a long address is read in one go', () => {
  const begun = performance.now();
  expect(holdsCredential(`https://${'a:'.repeat(200_000)}`)).toBe(false);
  expect(performance.now() - begun).toBeLessThan(500);
});
