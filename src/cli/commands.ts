// Every command, in the order of the help. A command's module is loaded when it is called, so that a short one starts fast.
import type { Command } from './command.ts';
import { CASTS_COMMANDS, EVERYDAY_COMMANDS } from './command-table/casts.ts';
import { CONTRACTS_COMMANDS } from './command-table/contracts.ts';
import { HISTORY_COMMANDS, LEDGER_COMMANDS } from './command-table/ledger.ts';

export const COMMANDS: readonly Command[] = [
  ...EVERYDAY_COMMANDS,
  ...CASTS_COMMANDS,
  ...LEDGER_COMMANDS,
  ...CONTRACTS_COMMANDS,
  ...HISTORY_COMMANDS,
];
