// How a trace is shown: a table of turns with the files they changed, and one of handoffs.
import type { Traced } from '../../app/operations/cast-trace.ts';
import type { TracedHandoff, TracedTurn } from '../../audit/trace.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { table } from '../table.ts';
import type { Form } from './form.ts';

export const traceForm: Form = {
  value: (details) => [...tracedIn(details).turns, ...tracedIn(details).handoffs],
  lines: (details) => [...turnLines(tracedIn(details).turns), ...handoffLines(tracedIn(details).handoffs)],
};

function tracedIn(details: JsonObject): Traced {
  return details as unknown as Traced;
}

function handoffLines(handoffs: readonly TracedHandoff[]): readonly string[] {
  if (handoffs.length === 0) return [];
  const rows = handoffs.map(({ handoff, source, target, code, envelope, judged }) =>
    [handoff, source, target, code, envelope?.slice(0, 12), String(judged)].map((cell) => cell ?? '-'),
  );
  return table(rows, ['handoff', 'from', 'to', 'verdict', 'envelope', 'entry']);
}

function turnLines(turns: readonly TracedTurn[]): readonly string[] {
  if (turns.length === 0) return [];
  const files = turns.flatMap(({ cast, turn, touched, remark }) => {
    const whose = remark === null ? `by turn ${turn} of ${cast}` : `seen changed while turn ${turn} of ${cast} ran`;
    return Object.entries(touched).map(([path, digest]) => `  ${path}  ${digest ?? 'removed'}  ${whose}`);
  });
  const rows = turns.map((turn) => [
    turn.cast,
    `${turn.turn}${turn.after === null ? '' : ` after ${turn.after}`}`,
    `${turn.socket} ${turn.materia}`,
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
