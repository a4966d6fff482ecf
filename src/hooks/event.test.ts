import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastIn, lastMessage } from './last-message.ts';
import { EVENTS, type HookDecision, hookAnswer, readHookInput } from './protocol.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const use = { session_id: 's', cwd: '/w', tool_name: 'Bash', tool_input: { command: 'ls' } };

test.each<[string, string, unknown, boolean]>([
  ['an event that is none', 'BeforeTool', use, false],
  ['a text', 'PreToolUse', 'ls', false],
  ['a list', 'PreToolUse', [], false],
  ['another event than it is set up for', 'PreToolUse', { ...use, hook_event_name: 'Stop' }, false],
  ['no tool', 'PreToolUse', { session_id: 's' }, false],
  ['a tool without an input', 'PostToolUse', { tool_name: 'Bash' }, false],
  ['a tool use', 'PreToolUse', { ...use, hook_event_name: 'PreToolUse' }, true],
  ['a tool use without the name of the event', 'PreToolUse', use, true],
  ['a stop', 'Stop', {}, true],
  ['an event that nothing hangs on', 'Notification', { message: 'x' }, true],
])('%s', (_, event, value, ok) => {
  expect(readHookInput(event, JSON.stringify(value)).ok).toBe(ok);
});

test.each([
  ['PreToolUse', { ...use }, ['s']],
  ['PreToolUse', { ...use, agent_id: 'a' }, ['a', 's']],
  ['Stop', { session_id: 's' }, ['s']],
  ['SubagentStop', { session_id: 's', agent_id: 'a' }, ['a']],
])('at %s of %j a claim may stand under %j', (event, value, names) => {
  expect(readHookInput(event, JSON.stringify(value))).toMatchObject({ input: { names } });
});

test('whatever comes in, the answer is an input or a refusal', () => {
  const value = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ tool_name: fc.jsonValue(), tool_input: fc.jsonValue(), session_id: fc.jsonValue() })
      .map((one) => JSON.stringify(one)),
  );
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...EVENTS), fc.string()), value, (event, text) => {
      const reading = readHookInput(event, text);
      if (reading.ok) expect(reading.input.names.every((name) => typeof name === 'string')).toBe(true);
      else expect(reading.refusal).toMatchObject({ allow: false, code: 'BAD_USAGE' });
    }),
    { numRuns: RUNS },
  );
});

const verdict = { allow: false, code: 'LOCK_CONFLICT', reason: 'held', details: {} } as const;
const deny: HookDecision = { kind: 'deny', verdict };

test.each<[string, HookDecision, number, object | null]>([
  ['PreToolUse', { kind: 'allow' }, 0, null],
  ['SessionStart', { kind: 'allow', context: 'hi' }, 0, { hookSpecificOutput: { additionalContext: 'hi' } }],
  ['PreToolUse', deny, 2, { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }],
  ['PostToolUse', deny, 2, { decision: 'block' }],
  ['UserPromptSubmit', deny, 2, { decision: 'block' }],
  ['Stop', deny, 2, { decision: 'block', reason: 'baton: LOCK_CONFLICT: held' }],
  ['SubagentStop', deny, 2, { decision: 'block' }],
  ['SessionStart', deny, 2, null],
  ['Nonsense', deny, 2, null],
  ['PreToolUse', { kind: 'ask', verdict }, 0, { hookSpecificOutput: { permissionDecision: 'ask' } }],
  ['Stop', { kind: 'end', verdict }, 0, { continue: false, stopReason: 'baton: LOCK_CONFLICT: held' }],
])('%s, %j: exit %i', (event, decision, exit, form) => {
  const said = hookAnswer(event, decision);
  expect(said.exit).toBe(exit);
  if (form === null) expect(said.stdout).toBe('');
  else expect(JSON.parse(said.stdout)).toMatchObject(form);
  expect(said.stderr).toBe(exit === 2 ? 'baton: LOCK_CONFLICT: held\n' : '');
});

const line = (type: string, content: unknown) => JSON.stringify({ type, message: { role: type, content } });
const said = (text: string) => line('assistant', [{ type: 'text', text }]);

test.each([
  ['nothing', '', null],
  ['no JSON', 'assistant\n"assistant"', null],
  ['words', `${said('one')}\n${said('two')}\n`, 'two'],
  [
    'a tool call after the words',
    `${said('one')}\n${line('assistant', [{ type: 'tool_use', name: 'Bash' }])}\n`,
    'one',
  ],
  ['what a tool said after them', `${said('one')}\n${line('user', [{ type: 'tool_result', content: 'x' }])}\n`, 'one'],
  ['words in one piece', line('assistant', 'whole'), 'whole'],
  [
    'words in two pieces',
    line('assistant', [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]),
    'a\nb',
  ],
])('a transcript with %s', (_, transcript, expected) => {
  expect(lastIn(transcript)).toBe(expected);
});

test('what comes with the event goes before the transcript, and a transcript may be missing', () => {
  const reading = readHookInput(
    'Stop',
    JSON.stringify({ last_assistant_message: 'told', transcript_path: '/nowhere' }),
  );
  const silent = readHookInput('Stop', JSON.stringify({ transcript_path: '/nowhere' }));
  if (!reading.ok || !silent.ok) throw new Error('not read');
  expect([lastMessage(reading.input), lastMessage(silent.input)]).toEqual(['told', null]);
});

test('whatever stands in a transcript, the answer is a text or null', () => {
  const piece = fc.oneof(fc.string(), fc.json(), fc.constant(said('x')), fc.constant('\n'));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const found = lastIn(pieces.join('\n'));
      expect(found === null || typeof found === 'string').toBe(true);
    }),
    { numRuns: RUNS },
  );
});
