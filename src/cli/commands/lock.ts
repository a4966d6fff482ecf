// `baton lock`: who holds which paths, who held them, and who would be in the way.
import type { Subject } from '../../dialects/operator/intake.ts';
import type { Entry } from '../../kernel/fact.ts';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { namingCast } from '../../kernel/ledger/holder.ts';
import { keyIn } from '../../kernel/ledger/lock-tree.ts';
import { overlaps } from '../../kernel/ledger/overlap.ts';
import { normalPath, PATH_FAULTS } from '../../kernel/ledger/path.ts';
import { spokenPath } from '../../kernel/ledger/spoken-path.ts';
import type { Ledger } from '../../kernel/ledger/state.ts';
import { heldLocks } from '../../kernel/ledger/wire.ts';
import { holderOf, mayWrite } from '../../kernel/ledger/write.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { again, type Call, EXIT, flag, out, outJson, text, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { insideRoot, realInRoot } from '../inside-root.ts';
import {
  answering,
  folderOf,
  integer,
  type LedgerSession,
  ledgerFor,
  rootNamed,
  withLedger,
} from '../ledger-session.ts';
import { refuseAtDoor } from '../refused-payload.ts';
import { hasLog } from '../state-folder.ts';
import { table } from '../table.ts';

export async function run(call: Call): Promise<number> {
  const [word, ...paths] = call.words;
  if (word === 'list' && paths.length === 0) return list(call);
  if (word === 'check' && paths.length > 0) return answering(() => check(call, paths));
  throw new UsageError(`say: ${again(call)} lock list, or ${again(call)} lock check PATH…`);
}

async function list(call: Call): Promise<number> {
  const rows = hasLog(workspaceOf(call)) ? await read(call) : [];
  if (call.json) outJson(rows);
  else if (rows.length === 0) out('No path is locked.');
  else
    for (const line of table(rows.map(cells), ['path', 'mode', 'task', 'owner', 'fence', 'since', 'until'])) out(line);
  return EXIT.ok;
}

function read(call: Call): Promise<readonly JsonObject[]> {
  return withLedger(call, async (session) => {
    const { ledger, run } = await ledgerFor(session);
    const held = heldLocks(ledger, run).map((lock) => ({
      ...lock,
      since: lock.since === null ? null : new Date(lock.since).toISOString(),
      active: true,
    }));
    if (!flag(call.values, 'history')) return held;
    const facts = await session.log.read({
      after: 0,
      kindPrefix: 'task.',
      ...(run === undefined ? {} : { cast: run }),
    });
    return [...releasedIn(facts), ...held];
  });
}

/** The locks that were given back, in the order in which they were. */
function releasedIn(facts: readonly Entry[]): readonly JsonObject[] {
  const open = new Map<
    number,
    { readonly at: string; readonly fact: Extract<Entry['fact'], { kind: 'task.claimed' }> }
  >();
  const released: JsonObject[] = [];
  const release = (fence: number | undefined, until: string) => {
    const claim = fence === undefined ? undefined : open.get(fence);
    if (!claim || fence === undefined) return;
    open.delete(fence);
    const { run, task, owner, locks } = claim.fact;
    for (const lock of locks)
      released.push({ run, task, owner, fence, ...lock, since: claim.at, until, active: false });
  };
  for (const { at, fact } of facts) {
    if (fact.kind === 'task.moved') release(fact.fence, at);
    if (fact.kind !== 'task.claimed') continue;
    release(fact.replaces, at);
    open.set(fact.fence, { at, fact });
  }
  return released;
}

async function check(call: Call, paths: readonly string[]): Promise<Verdict> {
  const fence = integer(call, 'fence');
  if (!hasLog(workspaceOf(call)) && fence === undefined) return allow('nobody is in the way', { paths });
  return withLedger(call, async (session) => {
    const { door, workspace } = session;
    const ledger = await door.ledger();
    const root = rootNamed(call, workspace, text(call.values, 'root'));
    const folder = folderOf({ root }, workspace);
    const inside = paths.map((path) => realInRoot(folder, insideRoot(folder, path) ?? path));
    const found = fence === undefined ? inTheWay(ledger, root, inside) : mayWrite(ledger, fence, inside);
    if (found.allow) return found;
    const verdict = await namingCastOf(session, found);
    const subject = fence === undefined ? NOBODY : await subjectOf(session, ledger, fence);
    return refuseAtDoor(session, 'write', { ok: false, refusal: verdict, subject });
  });
}

/** Whoever is in the way may be a cast of which nothing runs; then it is said what frees its paths. */
async function namingCastOf({ door }: LedgerSession, refusal: Denied): Promise<Denied> {
  const { holder } = refusal.details;
  const run = isObject(holder) && isString(holder.run) ? holder.run : null;
  const cast = run === null ? null : await door.cast(run);
  if (!cast || cast.status === 'running') return refusal;
  return namingCast(refusal, () => ({ status: cast.status, since: cast.since ?? null }));
}

/** The task that has the fence, or had it before it was claimed again or came to its end. */
async function subjectOf({ log }: LedgerSession, ledger: Ledger, fence: number): Promise<Subject> {
  const holder = holderOf(ledger, fence);
  if (holder) return { run: holder.run, task: holder.id };
  for (const { fact } of await log.read({ after: 0, kindPrefix: 'task.claimed' })) {
    if (fact.kind === 'task.claimed' && fact.fence === fence) return { run: fact.run, task: fact.task };
  }
  return NOBODY;
}

/** Whoever only asks speaks for no task. */
const NOBODY: Subject = { run: '', task: '' };

/** Every lock that a writer of these paths would have to wait for. */
function inTheWay(ledger: Ledger, root: string, paths: readonly string[]): Verdict {
  const locks = heldLocks(ledger).filter((lock) => lock.root === root);
  const key = keyIn(ledger.locks, root);
  const conflicts: JsonObject[] = [];
  const wanted: string[] = [];
  for (const path of paths) {
    const normal = normalPath(path);
    if (!normal.ok) return deny('SCHEMA_INVALID', `${JSON.stringify(path)} ${PATH_FAULTS[normal.fault]}.`, { path });
    wanted.push(normal.path);
    for (const { run, task, owner, fence, path: held, mode } of locks) {
      if (!overlaps(key(normal.path), key(held))) continue;
      conflicts.push({ path: normal.path, holder: { run, task, owner, fence, path: held, mode } });
    }
  }
  const [first] = conflicts;
  if (!first) return allow('nobody is in the way', { paths: wanted });
  const { task, owner, path } = first.holder as { task: string; owner: string; path: string };
  const more = conflicts.length === 1 ? '' : ` (and ${conflicts.length - 1} more)`;
  return deny('LOCK_CONFLICT', `${task} (${owner}) holds ${spokenPath(path)}${more}.`, {
    ...{ paths: wanted, conflicts, holder: first.holder ?? null },
  });
}

function cells({ path, mode, task, owner, fence, since, until }: JsonObject): readonly string[] {
  return [path, mode, task, owner, fence, since, until ?? ''].map(String);
}
