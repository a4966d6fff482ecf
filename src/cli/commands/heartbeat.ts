// `baton heartbeat`: the owner of a task is alive. It only changes the record of its claim; the ledger is looked at when
// there is no such record, to say why not.
import { beat } from '../../engine/heartbeat.ts';
import { type Beat, type BeatProcess, beatName, beatText, heardAt } from '../../kernel/ledger/beat.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { type Call, text, UsageError } from '../command.ts';
import {
  answering,
  integer,
  type LedgerSession,
  needed,
  neededInteger,
  runWanted,
  withLedger,
} from '../ledger-session.ts';

export async function run(call: Call): Promise<number> {
  const [task = ''] = call.words;
  const [owner, fence] = [needed(call, 'owner'), neededInteger(call, 'fence')];
  const run = text(call.values, 'run');
  const pid = integer(call, 'pid');
  const worker = pid === undefined ? {} : { worker: await identityOf(pid) };
  return answering(() =>
    withLedger(call, async (session) => {
      const named = { task, owner, fence, ...(run === undefined ? {} : { run }) };
      const heard =
        (await beat(session.log, { ...named, at: Date.now(), ...worker })) ?? (await asMeant(session, named, worker));
      if (!heard) return unheard(session, { ...named, ...(await runMeant(session)) });
      const at = new Date(heardAt(heard, Date.now())).toISOString();
      const until = { last_heartbeat_at: at, timeout_seconds: heard.timeoutS };
      return allow(`${task} is alive`, { run: heard.run, task, owner, fence, ...until });
    }),
  );
}

type Named = { readonly run?: string; readonly task: string; readonly owner: string; readonly fence: number };

/** The run may be named otherwise than by its id; to find that out costs a look at the ledger. */
async function asMeant(session: LedgerSession, named: Named, worker: { worker?: BeatProcess }): Promise<Beat | null> {
  const meant = await runMeant(session);
  if (meant.run === named.run) return null;
  return beat(session.log, { ...named, ...meant, at: Date.now(), ...worker });
}

async function runMeant(session: LedgerSession): Promise<{ run?: string }> {
  const run = await runWanted(session);
  return run === undefined ? {} : { run };
}

/** The ledger says what is wrong with the sign of life, and writes it down. If nothing is, the record is made anew. */
async function unheard({ door, log }: LedgerSession, named: Named): Promise<Verdict> {
  const { person } = await import('../session.ts');
  const verdict = await door.submit({ kind: 'task.heartbeat', ...named }, person());
  if (!verdict.allow) return verdict;
  const { run, timeoutS } = await claimOf({ door }, verdict, named);
  const made = beatText({ run, task: named.task, owner: named.owner, at: Date.now(), timeoutS });
  await log.lease(beatName(named.fence), (held) => held ?? made);
  return verdict;
}

async function claimOf({ door }: Pick<LedgerSession, 'door'>, { details }: Verdict, { task }: Named) {
  const run = String(details.run);
  const ledger = await door.ledger(run);
  return { run, timeoutS: ledger.tasks[`${run}/${task}`]?.timeoutS ?? 0 };
}

async function identityOf(pid: number) {
  const { driverWith } = await import('../../engine/driver.ts');
  const worker = driverWith(pid);
  if (worker === null) throw new UsageError(`there is no process ${pid}; --pid names the one that works on the task`);
  return worker;
}
