// How the answers about the history are shown.
import type { Traced } from '../../app/operations/audit.ts';
import type { ShownSink } from '../../app/operations/events.ts';
import type { UsageRow } from '../../app/operations/log.ts';
import { flat, type SocketNames } from '../../app/views/in-words.ts';
import type { AuditFault } from '../../audit/fault.ts';
import type { TracedHandoff, TracedTurn } from '../../audit/trace.ts';
import type { OutEvent } from '../../kernel/event.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { type ShownLine, table } from '../paint.ts';
import { codeIn, storyteller } from '../story.ts';
import { oneLine } from '../terminal-text.ts';
import type { Form, Forms } from './form.ts';
import { reasonLine } from './form.ts';

const PROOF: Form = { lines: (details) => [JSON.stringify(details, null, 2)], refusal: 'lines' };

export const HISTORY_FORMS: Forms = {
  log: {
    value: (details) => entriesIn(details).map((entry) => flat(entry, entry.leaf ?? undefined)),
    lines: story,
  },
  'event.list': { value: 'events', lines: eventLines, refusal: 'fault' },
  'event.sinks': { value: 'sinks', lines: sinkLines, refusal: 'fault' },
  'event.deliver': { lines: reasonLine, refusal: 'lines' },
  'event.skip': { lines: reasonLine, refusal: 'lines' },
  'usage.days': { value: 'rows', lines: usageLines, refusal: 'fault' },
  'audit.verify': { lines: (details, _call, _given, verdict) => summary(details, verdict), refusal: 'lines' },
  'audit.prove': PROOF,
  'audit.checkpoint': {
    lines: ({ note }, _call, _given, { reason }) => [reason, ...(typeof note === 'string' ? ['', note.trimEnd()] : [])],
    refusal: 'lines',
  },
  'audit.key': { lines: ({ key }) => [String(key)], refusal: 'lines' },
  'audit.outside': { lines: ({ file }) => [String(file)], refusal: 'lines' },
  'cast.trace': {
    value: (details) => [...tracedIn(details).turns, ...tracedIn(details).handoffs],
    lines: (details) => [...turnLines(tracedIn(details).turns), ...handoffLines(tracedIn(details).handoffs)],
  },
  export: {
    lines: ({ bundle }, _call, _given, { reason }) => [typeof bundle === 'string' ? bundle.trimEnd() : reason],
    refusal: 'lines',
  },
  verify: {
    lines: ({ texts, redacted, withheld }, _call, _given, { reason }) => [
      reason,
      `texts         ${texts} shown, ${redacted} redacted; ${withheld} facts withheld`,
    ],
    refusal: 'lines',
  },
};

type Shown = Entry & { readonly leaf: string | null };

function entriesIn({ entries }: JsonObject): readonly Shown[] {
  return entries as unknown as readonly Shown[];
}

function story(details: JsonObject): readonly string[] {
  const tell = storyteller(details.names as Record<string, SocketNames> | undefined);
  return entriesIn(details).map((entry) => {
    const { seq, at, by, fact } = entry;
    const what = [fact.kind, ...[codeIn(fact) ?? []].flat(), tell(entry)].join('  ');
    return `${String(seq).padStart(6)}  ${at}  ${oneLine(by, 40)}  ${what}`;
  });
}

function summary(details: JsonObject, { reason }: Verdict): readonly string[] {
  const { head, root, texts, erased, checkpoints, decisions, warnings } = details as Record<string, unknown>;
  const { checked = 0 } = (decisions ?? {}) as Record<string, number>;
  const { inside, outside, unsigned } = checkpoints as Record<string, number>;
  return [
    reason,
    `texts         ${texts} as their digests say, ${erased} erased`,
    `checkpoints   ${inside} next to the log, ${outside} outside; ${unsigned} facts came after the last one`,
    ...(checked === 0 ? [] : [`decisions     ${checked} sealed with the key of this user`]),
    `head          ${head}`,
    `root          ${root}`,
    ...(warnings as readonly AuditFault[]).map(({ kind, reason: why }) => `warning       ${kind}: ${why}`),
  ];
}

function tracedIn(details: JsonObject): Traced {
  return details as unknown as Traced;
}

function handoffLines(handoffs: readonly TracedHandoff[]): readonly ShownLine[] {
  if (handoffs.length === 0) return [];
  const rows = handoffs.map(({ handoff, source, target, code, envelope, judged }) =>
    [handoff, source, target, code, envelope?.slice(0, 12), String(judged)].map((cell) => cell ?? '-'),
  );
  return table(rows, ['handoff', 'from', 'to', 'verdict', 'envelope', 'entry']);
}

function turnLines(turns: readonly TracedTurn[]): readonly ShownLine[] {
  if (turns.length === 0) return [];
  const files = turns.flatMap(({ cast, turn, touched, remark }) => {
    const whose = remark === null ? `by turn ${turn} of ${cast}` : `seen changed while turn ${turn} of ${cast} ran`;
    return Object.entries(touched).map(([path, digest]) => `  ${path}  ${digest ?? 'removed'}  ${whose}`);
  });
  const rows = turns.map((turn) => [
    turn.cast,
    `${turn.turn}${turn.after === null ? '' : ` after ${turn.after}`}`,
    `${turn.materia} (${turn.socket})`,
    [turn.runner, turn.model].filter((each) => each !== null).join(' ') || '-',
    short(turn.prompt),
    short(turn.brief),
    short(turn.output),
    turn.handoff?.slice(0, 8) ?? '-',
    turn.decisions.map(({ by, seq }) => `${by} (${seq})`).join(', ') || '-',
    String(turn.accepted ?? '-'),
  ]);
  const head = ['cast', 'turn', 'socket', 'model', 'prompt', 'brief', 'output', 'handoff', 'decided by', 'entry'];
  return [...table(rows, head), ...(files.length > 0 ? ['files', ...files] : [])];
}

/** Enough to tell them apart; --json has them whole. */
function short(digest: string | null): string {
  return digest === null ? '-' : digest.slice(0, 'sha256:'.length + 12);
}

function eventLines({ events }: JsonObject): readonly ShownLine[] {
  const rows = events as unknown as readonly OutEvent[];
  if (rows.length === 0) return ['No events.'];
  const cells = rows.map(({ seq, at, severity, type, message, cast }) => {
    return [String(seq), at.slice(0, 19).replace('T', ' '), severity, type, cast ?? '', oneLine(message ?? '', 200)];
  });
  return table(cells, ['entry', 'at (UTC)', 'severity', 'type', 'cast', 'message'], ['entry', 'at (UTC)', 'severity']);
}

function sinkLines({ sinks }: JsonObject): readonly ShownLine[] {
  const rows = sinks as unknown as readonly ShownSink[];
  if (rows.length === 0) return ['The configuration names no sink: events stay in the log.'];
  const cells = rows.map(({ name, to, waiting, tries, nextAt, why }) => {
    const next = nextAt === null ? '' : `, next try ${nextAt.slice(0, 19).replace('T', ' ')}`;
    const state = why === '' ? 'well' : `failed ${tries} times${next}: ${oneLine(why, 160)}`;
    return [name, oneLine(to, 80), String(waiting), state];
  });
  return table(cells, ['sink', 'to', 'waiting', 'state'], ['sink', 'waiting']);
}

function usageLines({ rows }: JsonObject): readonly ShownLine[] {
  const used = rows as unknown as readonly UsageRow[];
  if (used.length === 0) return ['No agent has used anything yet.'];
  const cells = used.map(({ day, agent, runner, model, input, output, cost, attempts }) => [
    ...[day, agent, [runner, model].filter(Boolean).join(' ') || '-'],
    ...[attempts, input, output, Math.round(cost * 10_000) / 10_000].map(String),
  ]);
  return table(cells, ['day', 'agent', 'model', 'attempts', 'input', 'output', 'cost']);
}
