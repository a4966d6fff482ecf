import { expect, test } from 'vitest';
import { insideRoot, placedIn } from './claims.ts';

test.each([
  ['/w/src/a.ts', 'src/a.ts'],
  ['/w', '.'],
  ['/w/../w/x', 'x'],
  ['src/a.ts', 'src/a.ts'],
  ['../x', '../x'],
  ['/wood/x', null],
  ['/', null],
  ['/etc/passwd', null],
])('%s is %s inside /w', (path, inside) => {
  expect(insideRoot('/w', path)).toBe(inside);
});

test('a packet gets its scopes inside the folder, or is refused with the place of the one that is not', () => {
  const packet = (lock_scope: string[]) => ({ task: { task_id: 'T-1', lock_scope, forbidden_scope: ['/w/legal'] } });
  expect(placedIn('/w', packet(['/w/src', 'docs']))).toEqual({
    ok: true,
    packet: { task: { task_id: 'T-1', lock_scope: ['src', 'docs'], forbidden_scope: ['legal'] } },
  });
  expect(placedIn('/w', packet(['src', '/etc']))).toMatchObject({
    ok: false,
    refusal: { code: 'SCOPE_VIOLATION', details: { path: 'task.lock_scope[1]', resource: '/etc' } },
  });
});
