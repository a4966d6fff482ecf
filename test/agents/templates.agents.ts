// The recorded runs of the templates are what the real program does today.
import { expect, test } from 'vitest';
import { RECORDED, recorded, recordingOf } from './template-runs.ts';

test.each(RECORDED)('%s is run by claude as it was recorded', { timeout: 300_000 }, async (template) => {
  expect(await recorded(template)).toEqual(recordingOf(template));
});
