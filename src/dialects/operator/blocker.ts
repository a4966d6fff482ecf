// Why a task stands still, as an entry of an envelope or a bundle.
import { isObject, isString, type Json } from '../../kernel/json.ts';
import { BLOCKER } from './contract.ts';
import { checkObjects, checkText } from './field.ts';
import type { Findings } from './findings.ts';
import { checkTaskId } from './identifiers.ts';

/** Checks a list of blockers; `codes` is the table from which their codes are taken. */
export function checkBlockers(found: Findings, value: Json | undefined, path: string, codes: object): void {
  const check = (blocker: { readonly [key: string]: Json }, place: string, index: number) => {
    checkTaskId(found, blocker.task_id, `${place}.task_id`, { index });
    if (!isString(blocker.code) || !Object.hasOwn(codes, blocker.code)) {
      found.add('SCHEMA_INVALID', `${place}.code`, 'must be one of the known codes, such as LOCK_CONFLICT', { index });
    }
    checkText(found, blocker.reason, `${place}.reason`, {}, { index });
    if (blocker.details !== undefined && !isObject(blocker.details)) {
      found.add('SCHEMA_INVALID', `${place}.details`, 'must be an object', { index });
    }
  };
  checkObjects(found, value, path, BLOCKER, check, 'MISSING_REQUIRED_INPUT');
}
