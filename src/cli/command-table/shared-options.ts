// What several commands have in common: how many words, which options, which exit codes.
import type { Options } from '../command.ts';

export const MANY = Number.POSITIVE_INFINITY;
export const TURNS: Options = { turns: { type: 'boolean' } };
export const TURNS_HELP = '--turns         with --json: add every attempt with its brief, output and verdict';
export const EXITS = 'Exit: 0 completed, 1 failed, aborted or paused, 4 waiting for a person.';
