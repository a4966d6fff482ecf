// How answers about casts, their work and their approvals are shown.

import type { Swept } from '../../app/leftovers.ts';
import type { Shown } from '../../app/operations/cast-list.ts';
import type { Status } from '../../app/operations/status.ts';
import type { Why } from '../../app/views/why/why.ts';
import { type ApprovalView, linesOf } from '../../approvals/approval-view.ts';
import type { Usage } from '../../kernel/cast/state.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { again, type Call } from '../command.ts';
import { costText, resultLines } from '../result-lines.ts';
import { oneLine } from '../safe-text.ts';
import { type Form, type Forms, rowsIn } from './form.ts';

const REASON: Form = { lines: (_details, _call, _given, { reason }) => [reason], refusal: 'fault' };

export const forms: Forms = {
  'approvals.list': { value: 'approvals', lines: approvalLines },
  'cast.merge': REASON,
  'cast.undo': REASON,
  gc: { lines: (details, _call, _given, verdict) => cleared(details, verdict), refusal: 'lines' },
  'cast.list': { refusal: 'fault', value: 'casts', lines: listLines },
  'cast.why': { refusal: 'fault', value: (details) => details, lines: whyLines },
  status: { refusal: 'fault', value: (details) => details, lines: statusLines },
  'cast.abort': REASON,
  'cast.budget': {
    refusal: 'fault',
    value: ({ cast, budget, usage }) => (budget === undefined ? undefined : { cast, budget, usage }),
    lines: (details, call, { cast }, { reason }) => {
      if (details.budget !== undefined) return budgetLines(details);
      return [`${reason}; \`${again(call)} continue ${String(cast ?? 'latest')}\` carries a stopped cast on`];
    },
  },
};

function budgetLines({ cast, budget, usage, elapsedMs }: JsonObject): string[] {
  const { maxTokens, maxCost, maxDurationMs } = budget as Record<string, number | null>;
  const { input = 0, output = 0, cost = 0 } = usage as Record<string, number>;
  const of = (limit: number | null | undefined) => (limit === null || limit === undefined ? 'no limit' : `of ${limit}`);
  const minutes = (ms: number) => Math.round(ms / 6_000) / 10;
  return [
    `cast     ${String(cast)}`,
    `tokens   ${input + output}  ${of(maxTokens)}`,
    `cost     ${cost}  ${of(maxCost)}`,
    `minutes  ${minutes(Number(elapsedMs))}  ${of(typeof maxDurationMs === 'number' ? minutes(maxDurationMs) : null)}`,
  ];
}

function listLines({ casts }: JsonObject, call: Call): readonly string[] {
  const rows = casts as unknown as readonly Shown[];
  if (rows.length === 0) return [`No cast was run here yet. Start one with: ${again(call)} cast "…"`];
  return rows.map(({ cast, status, driven, loadout, request, worktree }) => {
    const where = worktree ? `  [${worktree.branch}${worktree.state === 'ready' ? '' : `: ${worktree.state}`}]` : '';
    return `${cast}  ${(driven === false ? 'crashed' : status).padEnd(9)}  ${loadout}  ${oneLine(request, 80)}${where}`;
  });
}

function whyLines(details: JsonObject, call: Call): readonly string[] {
  const why = details as unknown as Why;
  const { sentences, commands } = why;
  const results = resultLines(why, again(call), false);
  return [
    ...sentences,
    ...(results.length > 0 ? ['', ...results] : []),
    ...commands.flatMap(({ does, command }) => ['', `To ${does}:`, `  ${command}`]),
  ];
}

function statusLines(details: JsonObject, call: Call): readonly string[] {
  const status = details as unknown as Status;
  if (status.head > 0) return openLines(status, again(call));
  return [`${status.workspace}: no cast was run here yet. Start one with: ${again(call)} cast "…"`];
}

function openLines({ workspace, hold, trust, down, open, ended, cutOff }: Status, baton: string): string[] {
  return [
    // Whether a cast is trusted is said with the cast: a bundled loadout brings a registry of its own.
    `${workspace}  (${trust === 'on' ? 'its registry is in force' : 'no registry of its own'})`,
    ...(hold ? [`  HELD by ${hold.by}: ${oneLine(hold.reason)}; nothing new starts until \`${baton} unhold\``] : []),
    ...down.map(
      ({ runner, reason, since, askAt }) =>
        `  ${oneLine(runner, 80)} is down since ${since}; its turns wait, and it is asked again at ${askAt}: ${oneLine(reason, 200)}`,
    ),
    ...open.map(
      ({ cast, status, request, reason, driver, usage, since, holds }) =>
        `  ${cast}  ${doing(status, driver, reason, baton)}${keeping(cast, since, holds, baton)}${used(usage)}  ${oneLine(request, 60)}`,
    ),
    ...(open.length === 0 ? ['  nothing runs or waits'] : []),
    ...ended.map(
      ({ cast, status, code, request }) => `  ${cast}  ${status}${code ? ` (${code})` : ''}  ${oneLine(request, 60)}`,
    ),
    ...cutOff.map(({ approval }) => `  ${approval} began, and nobody knows how it ended: ${baton} approvals`),
  ];
}

/** What others cannot have because the cast stands, since when, and where it is said how to free it. */
function keeping(cast: string, since: string | null, holds: readonly string[], baton: string): string {
  if (holds.length === 0) return '';
  const when = since === null ? '' : ` since ${since}`;
  return `  keeps ${oneLine(holds.join(', '), 80)}${when} (\`${baton} why ${cast}\` says how to free it)`;
}

function used({ input, output, ...cost }: Usage): string {
  if (input + output === 0) return '';
  return `  ${input + output} tokens${cost.cost > 0 ? ` for ${costText(cost)}` : ''}`;
}

function doing(status: string, driver: number | null, reason: string, baton: string): string {
  if (status !== 'running') return reason ? `${status} (${oneLine(reason, 300)})` : status;
  return driver === null ? `crashed: carry on with \`${baton} resume\`` : `running in process ${driver}`;
}

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

function approvalLines({ approvals }: JsonObject, call: Call): readonly string[] {
  const views = rowsIn(approvals) as unknown as readonly ApprovalView[];
  if (views.length === 0) return ['Nothing waits for a person, and nothing that was approved is left.'];
  return views.flatMap((view) => linesOf(view, again(call)));
}
