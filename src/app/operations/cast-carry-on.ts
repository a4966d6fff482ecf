// The verbs that carry a cast on.
import { carryOn } from '../driving/carry-on.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const resume: Run<FieldsOf<'cast.resume'>> = (workspace, input, context) =>
  carryOn(workspace, 'resume', input, context);
export const recast: Run<FieldsOf<'cast.recast'>> = (workspace, input, context) =>
  carryOn(workspace, 'recast', input, context);
export const revive: Run<FieldsOf<'cast.revive'>> = (workspace, input, context) =>
  carryOn(workspace, 'revive', input, context);
export const goOn: Run<FieldsOf<'cast.continue'>> = (workspace, input, context) =>
  carryOn(workspace, 'continue', input, context);
