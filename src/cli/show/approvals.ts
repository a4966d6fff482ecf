// How what waits for a person is shown.
import { type ApprovalView, linesOf } from '../../approvals/approval-view.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { again, type Call } from '../command.ts';
import { type Forms, rowsIn } from './form.ts';

export const forms: Forms = { 'approvals.list': { value: 'approvals', lines: approvalLines } };

function approvalLines({ approvals }: JsonObject, call: Call): readonly string[] {
  const views = rowsIn(approvals) as unknown as readonly ApprovalView[];
  if (views.length === 0) return ['Nothing waits for a person, and nothing that was approved is left.'];
  return views.flatMap((view) => linesOf(view, again(call)));
}
