// Every operation, as plain data. `perform.ts` says in which file the function of each one is.

import type { OperationRun } from '../operation.ts';
import { CAST_ROWS, WORK_ROWS } from './casts.ts';
import { CONFIGURING_ROWS } from './configuring.ts';
import { CONTRACT_ROWS, REGISTRY_ROWS } from './contracts.ts';
import { DRIVING_ROWS } from './driving.ts';
import { HISTORY_ROWS } from './history.ts';
import { LEDGER_ROWS } from './ledger.ts';
import { ACCESS_ROWS, APPROVAL_ROWS, KNOWLEDGE_ROWS } from './people.ts';
import { PROJECT_ROWS } from './project.ts';
import { QUEST_ROWS } from './quests.ts';

export const OPERATIONS = {
  ...CAST_ROWS,
  ...DRIVING_ROWS,
  ...QUEST_ROWS,
  ...LEDGER_ROWS,
  ...CONTRACT_ROWS,
  ...REGISTRY_ROWS,
  ...KNOWLEDGE_ROWS,
  ...ACCESS_ROWS,
  ...HISTORY_ROWS,
  ...APPROVAL_ROWS,
  ...WORK_ROWS,
  ...PROJECT_ROWS,
  ...CONFIGURING_ROWS,
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type FieldsOf<N extends OperationName> = (typeof OPERATIONS)[N]['fields'];
/** The function of an operation. */
export type Operation<N extends OperationName> = OperationRun<FieldsOf<N>>;
