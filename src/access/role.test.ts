import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMMANDS } from '../cli/commands.ts';
import { MCP_TOOLS } from '../mcp/server.ts';
import { actOfForm, isRole, mayDo, ROLES } from './rights.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each([
  ['read_context', 'look', [true, true, true, true]],
  ['task_list', 'look', [true, true, true, true]],
  ['lock_check', 'look', [true, true, true, true]],
  ['cast_wait', 'look', [true, true, true, true]],
  ['cast_show', 'look', [true, true, true, true]],
  ['cast_list', 'look', [true, true, true, true]],
  ['cast_start', 'steer', [false, true, true, true]],
  ['task_claim', 'steer', [false, true, true, true]],
  ['task_next', 'steer', [false, true, true, true]],
  ['task_finish', 'steer', [false, true, true, true]],
  ['task_create', 'steer', [false, true, true, true]],
  ['task_move', 'steer', [false, true, true, true]],
  ['task_apply', 'steer', [false, true, true, true]],
  ['heartbeat', 'steer', [false, true, true, true]],
  ['worklog_add', 'steer', [false, true, true, true]],
  ['cast_answer', 'decide', [false, false, true, true]],
] as const)('%s is to %s: viewer, operator, approver, admin may: %s', (name, act, may) => {
  expect(MCP_TOOLS.find((tool) => tool.name === name)?.act).toBe(act);
  expect(ROLES.map((role) => mayDo(role, act, name).allow)).toEqual([...may]);
});

test.each([
  ['look', 'verify', 'look'],
  [{ '': 'look', set: 'decide' }, 'set', 'decide'],
  [{ '': 'look', set: 'decide' }, 'show', 'look'],
  [{ '': 'look', set: 'decide' }, undefined, 'look'],
  [{ list: 'look' }, 'constructor', 'govern'],
  [{ list: 'look' }, undefined, 'govern'],
] as const)('of a command that is to %j the form %s is to %s', (acts, word, act) => {
  expect(actOfForm(acts, word)).toBe(act);
});

test.each([
  ['viewer', ['status', 'log', 'registry list', 'token list', 'gc'], [true, true, true, false, false]],
  ['operator', ['cast x', 'task claim', 'answer x', 'hold', 'registry lock'], [true, true, false, false, false]],
  ['approver', ['answer x', 'registry release', 'hold', 'registry lock', 'gc'], [true, true, true, false, false]],
] as const)('by the command line a %s may of %j: %j', (role, lines, may) => {
  const found = lines.map((line) => {
    const [name, word] = line.split(' ');
    const command = COMMANDS.find((one) => one.name === name);
    return command && mayDo(role, actOfForm(command.act, word), line).allow;
  });
  expect(found).toEqual([...may]);
});

test('a refusal names the role that is needed', () => {
  expect(mayDo('operator', 'decide', 'cast_answer')).toMatchObject({
    code: 'ROLE_TOO_LOW',
    details: { role: 'operator', needed: 'approver' },
  });
});

test('no word but a role is one', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'Admin')), (word) => {
      expect(isRole(word)).toBe((ROLES as readonly string[]).includes(word));
    }),
    { numRuns: RUNS },
  );
});
