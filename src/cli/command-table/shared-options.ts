// What several commands have in common: how many words, which options, which exit codes.
import type { OperationName } from '../../app/operations/table.ts';
import type { Call, Options } from '../command.ts';
import type { Giving } from '../operation-command.ts';

export const MANY = Number.POSITIVE_INFINITY;
export const TURNS: Options = { turns: { type: 'boolean' } };
export const TURNS_HELP = '--turns         with --json: add every attempt with its brief, output and verdict';
export const EXITS = 'Exit: 0 completed, 1 failed, aborted or paused, 4 waiting for a person.';
/** Shows an operation that may drive a cast. */
export function driveBy(name: OperationName) {
  return async () => {
    const { drive } = await import('../drive-operation.ts');
    return { run: async (call: Call, given: Giving) => drive(call, name, await given()) };
  };
}
