import { expect, test } from 'vitest';
import { verificationOf } from './plan.ts';

const result = (content: string) =>
  JSON.stringify({ type: 'user', message: { content: [{ type: 'tool_result', is_error: true, content }] } });

test.each<[string, string, boolean, string | null, boolean, RegExp]>([
  ['the hook refused', result('baton: SCOPE_VIOLATION: …'), false, null, true, /the hook refused it/],
  ['the file is there', result('SCOPE_VIOLATION'), true, null, false, /did not refuse/],
  ['something else refused', result('permission denied'), false, null, false, /not by the hook: .*permission denied/],
  ['the model did nothing', '{"type":"result"}\nno JSON', false, null, false, /did not call the tool/],
  ['the program is missing', '', false, 'claude cannot be started: ENOENT', false, /cannot be started/],
  [
    'only the model mentions the code',
    '{"type":"assistant","text":"SCOPE_VIOLATION"}',
    false,
    null,
    false,
    /nothing was tried/,
  ],
])('%s', (_name, stdout, isWritten, fault, isRefused, reason) => {
  expect(verificationOf({ fault, stdout, stderr: '' }, isWritten)).toEqual({
    isRefused,
    reason: expect.stringMatching(reason),
  });
});
