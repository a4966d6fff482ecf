// How answers about casts, their work and their approvals are shown.

import type { Shown } from '../../app/operations/cast-list.ts';
import type { Swept } from '../../app/operations/gc.ts';
import type { ShownQuest, ShownSchedule } from '../../app/operations/quest-board.ts';
import type { Status } from '../../app/operations/status.ts';
import type { InboxRow } from '../../app/views/cast-page.ts';
import { costText, durationText, tokensText, wholeNumber, withSocketNames } from '../../app/views/in-words.ts';
import type { Why } from '../../app/views/why/why.ts';
import { linesOf } from '../../approvals/approval-view.ts';
import type { ApprovalView } from '../../kernel/approval/state.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { again, type Call } from '../command.ts';
import { type Paint, paintFor, Ready, type ShownLine, statusColour, table } from '../paint.ts';
import { resultLines } from '../result-lines.ts';
import { oneLine, safe } from '../terminal-text.ts';
import { ageOf, type Form, type Forms, rowsIn, spanOf } from './form.ts';

const REASON: Form = { lines: (_details, _call, _given, { reason }) => [reason], refusal: 'fault' };

export const CAST_FORMS: Forms = {
  'approvals.list': { value: 'approvals', lines: approvalLines },
  'cast.merge': REASON,
  'cast.undo': REASON,
  gc: { lines: (details, _call, _given, verdict) => cleared(details, verdict), refusal: 'lines' },
  'cast.list': { refusal: 'fault', value: 'casts', lines: listLines },
  inbox: { value: 'inbox', lines: inboxLines, refusal: 'fault' },
  'cast.pause': REASON,
  'cast.say': REASON,
  'cast.why': { refusal: 'fault', value: (details) => details, lines: whyLines },
  status: { refusal: 'fault', value: (details) => details, lines: statusLines },
  'cast.abort': REASON,
  'quest.add': REASON,
  'quest.list': { lines: questLines, refusal: 'fault', value: (details) => details },
  'quest.reorder': REASON,
  'quest.requeue': REASON,
  'quest.remove': REASON,
  'quest.stop': REASON,
  'cast.budget': {
    refusal: 'fault',
    value: ({ cast, budget, usage }) => (budget === undefined ? undefined : { cast, budget, usage }),
    lines: (details, call, { cast }, { reason }) => {
      if (details.budget !== undefined) return budgetLines(details);
      return [`${reason}; \`${again(call)} continue ${String(cast ?? 'latest')}\` carries a stopped cast on`];
    },
  },
};

function budgetLines({ cast, budget, usage, elapsedMs }: JsonObject): readonly ShownLine[] {
  const { maxTokens, maxCost, maxDurationMs } = budget as Record<string, number | null>;
  const { input = 0, output = 0, cost = 0 } = usage as Record<string, number>;
  const limit = (value: number | null | undefined, shown: (value: number) => string) =>
    value === null || value === undefined ? 'no limit' : shown(value);
  const dollars = (value: number) => costText({ cost: value });
  const rows = [
    ['tokens', wholeNumber(input + output), limit(maxTokens, wholeNumber)],
    ['cost', dollars(cost), limit(maxCost, dollars)],
    ['time', durationText(Number(elapsedMs)), limit(maxDurationMs, durationText)],
  ];
  return [`Cast ${String(cast)}`, ...table(rows, ['', 'used', 'at most'])];
}

function listLines({ casts }: JsonObject, call: Call): readonly ShownLine[] {
  const rows = casts as unknown as readonly Shown[];
  if (rows.length === 0) return [`No casts yet. Start one with: ${again(call)} cast "…"`];
  const cells = rows.map(({ cast, status, code, driven, loadout, request, startedAt, elapsedMs, worktree, quest }) => {
    const what = quest === undefined ? request : `${quest}: ${request}`;
    const where = worktree ? (worktree.state === 'ready' ? 'branch' : worktree.state) : '';
    const state = driven === false ? 'crashed' : status;
    const why = code === null || status === 'aborted' ? '' : code;
    return [cast, state, why, ageOf(startedAt), durationText(elapsedMs), loadout, what, where];
  });
  const head = ['cast', 'status', 'code', 'started', 'took', 'loadout', 'request', 'work'];
  return tableWith(cells, head, ['code', 'work'], ['took', 'loadout', 'code']);
}

/** Without those of the `optional` columns in which nothing is; only loadouts and requests are cut. */
function tableWith(
  rows: readonly (readonly string[])[],
  head: readonly string[],
  optional: readonly string[],
  spare: readonly string[],
): readonly ShownLine[] {
  const isShown = head.map((name, at) => !optional.includes(name) || rows.some((row) => row[at] !== ''));
  const kept = (row: readonly string[]) => row.filter((_, at) => isShown[at]);
  const whole = head.filter((name) => !['loadout', 'request'].includes(name));
  return table(rows.map(kept), kept(head), whole, process.stdout.columns, spare);
}

function questLines({ quests, schedules }: JsonObject, call: Call): readonly ShownLine[] {
  const rows = quests as unknown as readonly ShownQuest[];
  const due = schedules as unknown as readonly ShownSchedule[];
  if (rows.length + due.length === 0) return [`The queue is empty. Add a quest with: ${again(call)} quest add "…"`];
  const cells = rows.map(({ id, status, code, since, priority, title, loadout, how = {}, cast, waitsFor }) => {
    const state = code === null || status === 'pending' ? status : `${status} (${code})`;
    const what = waitsFor === '' ? title : `${title} (waits for ${oneLine(waitsFor, 80)})`;
    const team = loadout ?? how.materia ?? how.link ?? '';
    return [id, state, ageOf(since), priority, what, String(team), cast ?? ''];
  });
  const lines =
    rows.length === 0
      ? []
      : table(
          cells,
          ['quest', 'status', 'since', 'priority', 'what', 'loadout', 'cast'],
          ['quest', 'status', 'since'],
          process.stdout.columns,
          ['loadout', 'priority', 'cast'],
        );
  if (due.length === 0) return lines;
  const times = due.map(({ id, cron, zone, dueAt, title }) => [
    id,
    cron,
    zone,
    dueAt.slice(0, 16).replace('T', ' '),
    title,
  ]);
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    ...table(times, ['schedule', 'cron', 'zone', 'next (UTC)', 'what']),
  ];
}

function inboxLines({ inbox }: JsonObject, call: Call): readonly ShownLine[] {
  const rows = inbox as unknown as readonly InboxRow[];
  if (rows.length === 0) return ['Nothing waits for you.'];
  return rows.flatMap(({ kind, title, since, cast, stops, id }) => [
    `${since.slice(0, 16).replace('T', ' ')}  ${kind.padEnd(10)}  ${oneLine(title, 90)}`,
    `    ${stops ? 'stops' : 'does not stop'} ${cast === null ? 'the work' : `cast ${cast}`}; ${wayOn(kind, cast, id, again(call))}`,
  ]);
}

function wayOn(kind: InboxRow['kind'], cast: string | null, id: string, baton: string): string {
  if (kind === 'approval') return `look: ${baton} approvals, then: ${baton} approve ${id}`;
  if (kind === 'memory') return `${baton} memory accept ${id}`;
  return kind === 'quarantine' ? `${baton} registry quarantine` : `${baton} why ${cast ?? 'latest'}`;
}

function whyLines(details: JsonObject, call: Call): readonly ShownLine[] {
  const why = details as unknown as Why;
  const paint = paintFor(process.stdout, call.env);
  const { sentences, commands } = why;
  const results = resultLines(why, again(call), false);
  return [
    ...sentences,
    ...(results.length > 0 ? ['', ...results] : []),
    ...commands.flatMap(({ does, command }) => ['', `To ${does}:`, new Ready(`  ${paint.bold(safe(command))}`)]),
  ];
}

function statusLines(details: JsonObject, call: Call): readonly ShownLine[] {
  const status = details as unknown as Status;
  if (status.head > 0) return openLines(status, call);
  return [`${status.workspace}: no casts yet. Start one with: ${again(call)} cast "…"`];
}

function openLines(
  { workspace, hold, trust, quests, down, open, ended, cutOff }: Status,
  call: Call,
): readonly ShownLine[] {
  const baton = again(call);
  const paint = paintFor(process.stdout, call.env);
  return [
    // The cast itself says whether it is trusted: a bundled loadout brings a registry of its own.
    `${workspace}${trust === 'on' ? '  (its prompts are pinned)' : ''}`,
    ...(hold ? [`  PAUSED by ${hold.by}: ${oneLine(hold.reason)}; nothing new starts until \`${baton} unhold\``] : []),
    ...down.map(({ runner, reason, since, askAt }) => {
      const next = `its turns wait, and it is asked again ${ageOf(askAt)}`;
      return `  ${oneLine(runner, 80)} has been down ${spanOf(since)}; ${next}: ${oneLine(reason, 200)}`;
    }),
    ...(Object.keys(quests).length === 0
      ? []
      : [
          `  quests: ${Object.entries(quests)
            .map(([status, count]) => `${count} ${status}`)
            .join(', ')} (${baton} quest)`,
        ]),
    ...open.flatMap((cast) => ['', ...openCast(cast, baton, paint)]),
    ...(open.length === 0 ? ['  nothing runs or waits'] : []),
    ...(ended.length === 0 ? [] : ['', ...endedTable(ended)]),
    ...cutOff.map(({ approval }) => `  ${approval} began, and its outcome is unknown: ${baton} approvals`),
  ];
}

function openCast(row: Status['open'][number], baton: string, paint: Paint): readonly ShownLine[] {
  const { cast, status, code, request, reason, names, driver, usage, since, holds, changedAt, elapsedMs } = row;
  const isCrashed = status === 'running' && driver === null;
  const state = isCrashed ? 'crashed' : status;
  const used = [
    `${durationText(elapsedMs)} of work`,
    ...(usage.input + usage.output > 0 ? [tokensText(usage.input + usage.output)] : []),
    ...(usage.cost > 0 ? [costText(usage)] : []),
  ].join(', ');
  const where = status === 'running' && driver !== null ? ` in process ${driver}` : '';
  const age = status === 'running' ? '' : ` ${spanOf(changedAt)}`;
  const why = code === null ? '' : ` (${code})`;
  return [
    new Ready(`${safe(cast)}  ${statusColour(state, paint)}${where}${why}${age}  ${paint.dim(used)}`),
    `  ${oneLine(request, 200)}`,
    ...(isCrashed ? ['  Its process is gone; nothing that was accepted is lost.'] : []),
    ...(reason === '' || status === 'running' ? [] : [`  ${withSocketNames(oneLine(reason, 300), names)}`]),
    ...keeping(since, holds),
    new Ready(`  ${paint.dim('next')}  ${safe(`${baton} ${NEXT[state] ?? 'why'} ${cast}`)}`),
  ];
}

const NEXT: Readonly<Record<string, string>> = { running: 'watch', crashed: 'resume', paused: 'continue' };

/** What others cannot have because the cast does not go on, and since when. */
function keeping(since: string | null, holds: readonly string[]): readonly string[] {
  if (holds.length === 0) return [];
  const when = since === null ? '' : ` ${spanOf(since)}`;
  return [`  It has kept ${oneLine(holds.join(', '), 80)} locked${when}; \`why\` says how to release it.`];
}

function endedTable(ended: Status['ended']): readonly ShownLine[] {
  const rows = ended.toReversed().map(({ cast, status, code, changedAt, elapsedMs, request }) => {
    const why = code === null || status === 'aborted' ? '' : code;
    return [cast, status, why, ageOf(changedAt), durationText(elapsedMs), request];
  });
  const head = ['last casts', 'status', 'code', 'ended', 'took', 'request'];
  return tableWith(rows, head, ['code'], ['took', 'code']);
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
