// What `init` offers was run once by a real agent program; without it, the same comes out.
import { expect, test, vi } from 'vitest';
import { TEMPLATES } from '../../src/app/operations/project.ts';
import { played, RECORDED, recordingOf } from './template-runs.ts';

vi.setConfig({ testTimeout: 120_000 });

test('every template has a recording, but the one that `init` writes where none is named', () => {
  expect(TEMPLATES.filter((name) => !RECORDED.includes(name))).toEqual(['software']);
});

test.each(RECORDED)('the recorded run of %s comes out the same', async (template) => {
  const recording = recordingOf(template);
  expect(recording.outcome.status).toBe('completed');
  expect(await played(recording)).toEqual(recording.outcome);
});
