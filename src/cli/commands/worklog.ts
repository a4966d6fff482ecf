// `baton worklog`: entries are added to a task's worklog, and shown.
import { isInsideAttempt } from '../../agents/inside-attempt.ts';
import { takeWorklogEntry } from '../../dialects/operator/intake.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { findTask, runOf, type Task } from '../../kernel/ledger/state.ts';
import { allow } from '../../kernel/verdict.ts';
import { worklogLines } from '../../workspace/worklog-file.ts';
import { again, type Call, EXIT, out, outJson, Refused, UsageError } from '../command.ts';
import { answering, integer, type LedgerSession, ledgerFor, runCalled, withLedger } from '../ledger-session.ts';
import { readInput } from '../read-input.ts';
import { refuseAtDoor } from '../refused-payload.ts';
import { person } from '../session.ts';
import { factsOf, writeWorklog } from '../worklog.ts';

export async function run(call: Call): Promise<number> {
  const [word, task = '', file] = call.words;
  if (word === 'add' && task !== '') return add(call, task, file ?? '-');
  if (word === 'show' && task !== '' && file === undefined) return show(call, task);
  throw new UsageError(`say: ${again(call)} worklog add TASK FILE, or ${again(call)} worklog show TASK`);
}

async function add(call: Call, id: string, file: string): Promise<number> {
  const given = await readInput(call, file);
  const fence = integer(call, 'fence') ?? ownFence(call, id);
  return answering(() =>
    withLedger(call, async (session) => {
      const taken = takeWorklogEntry(given);
      if (!taken.ok) return refuseAtDoor(session, 'worklog', { ...taken, subject: { ...taken.subject, task: id } });
      const { payload: entry } = taken;
      const run = await runOfEntry(session, String(entry.run_id));
      const claim = fence === undefined ? {} : { fence };
      const actor = isInsideAttempt(call.env) ? ({ actor: 'agent' } as const) : {};
      const request = { kind: 'worklog.add', run, task: id, entry, ...claim, ...actor } as const;
      const verdict = await session.door.submit(request, person());
      if (!verdict.allow) return verdict;
      const { task, runId } = await taskNamed(session, id, run);
      const written = await writeWorklog(session, task, runId);
      // An entry with which Baton itself closed the worklog is one of them, too.
      const entries = written?.entries ?? verdict.details.entries ?? 0;
      return allow(`entry ${String(entries)} of ${id}`, { ...verdict.details, entries, file: written?.file ?? null });
    }),
  );
}

/** An agent of a cast is told its task and the token of its claim; it need not say them again. */
function ownFence({ env }: Call, task: string): number | undefined {
  const { BATON_TASK, BATON_FENCE = '' } = env;
  return BATON_TASK === task && /^[0-9]{1,15}$/.test(BATON_FENCE) ? Number(BATON_FENCE) : undefined;
}

/** The lines of the worklog as its facts tell them, whatever has become of the file. */
async function show(call: Call, id: string): Promise<number> {
  const lines = await withLedger(call, async (session) => {
    const { task, runId } = await taskNamed(session, id);
    return worklogLines(await factsOf(session.log, task), runId);
  });
  if (call.json) outJson(lines.map((line) => JSON.parse(line)));
  else for (const line of lines) out(shown(JSON.parse(line)));
  return EXIT.ok;
}

function shown(entry: JsonObject): string {
  if (!isObject(entry)) return '';
  const { timestamp, actor, action, result, code, next_step: next } = entry;
  const why = code === undefined ? '' : ` (${String(code)})`;
  return `${String(timestamp)}  ${String(actor)}  ${String(action)}: ${String(result)}${why}. Next: ${String(next)}`;
}

async function runOfEntry(session: LedgerSession, id: string): Promise<string> {
  const { ledger, run } = await ledgerFor(session);
  return run ?? runCalled(ledger, id, session.call.env) ?? id;
}

type Named = { readonly task: Task; readonly runId: string };

async function taskNamed(session: LedgerSession, id: string, run?: string): Promise<Named> {
  const named = await ledgerFor(session);
  const which = named.run ?? run;
  const ledger = which === undefined ? named.ledger : await session.door.ledger(which);
  const found = findTask(ledger, { task: id, ...(which === undefined ? {} : { run: which }) });
  if (!found.ok) throw new Refused(found.refusal);
  const { task } = found;
  return { task, runId: runOf(ledger, task.run)?.runId ?? task.run };
}
