// How the answers about the work of casts are shown.
import type { Swept } from '../../app/sweep-worktrees.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import type { Form, Forms } from './form.ts';

const REASON: Form = { lines: (_details, _call, _given, { reason }) => [reason], refusal: 'fault' };

export const forms: Forms = {
  'cast.merge': REASON,
  'cast.undo': REASON,
  gc: { lines: (details, _call, _given, verdict) => cleared(details, verdict), refusal: 'lines' },
};

function cleared({ worktrees }: JsonObject, { reason }: Verdict): readonly string[] {
  const trees = Array.isArray(worktrees) ? (worktrees as unknown as Swept[]) : [];
  const lines = trees.map(({ branch, tip, removed, why }) => {
    const what = removed
      ? `gone   ${branch}${tip === null ? '' : `, last at ${tip.slice(0, 12)}`}`
      : `stays  ${branch}`;
    return `  ${what}${why === null ? '' : `: ${why}`}`;
  });
  return [reason, ...lines];
}
