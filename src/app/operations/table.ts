// Every operation, as plain data. `load.ts` says in which file the function of each one is; it is loaded when it is called.

import type { OperationRun } from '../operation.ts';
import { ACCESS } from './access.ts';
import { APPROVALS } from './approvals.ts';
import { CASTS } from './casts.ts';
import { CONTRACTS } from './contracts.ts';
import { DRIVING } from './driving.ts';
import { HISTORY } from './history.ts';
import { KNOWLEDGE } from './knowledge.ts';
import { LEDGER } from './ledger.ts';
import { PROJECT } from './project.ts';
import { REGISTRY } from './registry.ts';
import { WORK } from './work.ts';

export const OPERATIONS = {
  ...CASTS,
  ...DRIVING,
  ...LEDGER,
  ...CONTRACTS,
  ...REGISTRY,
  ...KNOWLEDGE,
  ...ACCESS,
  ...HISTORY,
  ...APPROVALS,
  ...WORK,
  ...PROJECT,
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type FieldsOf<N extends OperationName> = (typeof OPERATIONS)[N]['fields'];
/** The function of an operation. */
export type Operation<N extends OperationName> = OperationRun<FieldsOf<N>>;
