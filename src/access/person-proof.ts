// Whether a decision comes from a person: from a terminal older than the cast's agents, and not from an orphan of an agent. Scripts
// use a token instead (who-acts.ts).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FirstAttempt, firstAttemptOf, readStartRecord, startRecord } from '../agents/process/first-attempt.ts';
import { ownIdentity, processNamespace } from '../agents/process/process-identity.ts';
import { type Capabilities, runnerCan } from '../kernel/capabilities.ts';
import type { Rules } from '../kernel/graph/config.ts';
import { castLines, latestCasts, logFileIn } from '../log/sqlite/open.ts';
import { isFromOlderTerminal, processView } from './terminal-origin.ts';
import { userFolder } from './user-folder.ts';

type PersonDecision = {
  readonly stateDir: string;
  /** The cast in question, or null for the whole workspace. */
  readonly cast: string | null;
  /** The user's folder, for decisions about all workspaces of the user, else null. */
  readonly user: string | null;
  /** Whether an older session also needs a terminal. */
  readonly needsTerminal: boolean;
};

export function isFromPerson({ stateDir, cast, user, needsTerminal }: PersonDecision, pid = process.pid): boolean {
  const first = firstOf(stateDir, cast);
  const driver = user === null ? null : firstDriverOf(user);
  const known = [first, driver].filter((one) => one !== null);
  const before = Math.min(Number.POSITIVE_INFINITY, ...known.map(({ start }) => start));
  const here = processNamespace();
  const isSameNamespace = here !== null && known.every(({ namespace }) => namespace === here);
  return isFromOlderTerminal({ pid, before, needsTerminal, isSameNamespace }, processView());
}

/** The record lies where an agent can write, so the log counts as well: the earlier of the two. */
function firstOf(stateDir: string, cast: string | null): FirstAttempt | null {
  const kept = firstAttemptOf(stateDir, cast);
  const casts = cast === null ? castsOfThisBoot(stateDir) : [cast];
  const found = [kept, ...casts.map((one) => firstInLog(stateDir, one))].filter((one) => one !== null);
  if (found.length === 0) return null;
  return { start: Math.min(...found.map(({ start }) => start)), namespace: kept?.namespace ?? null };
}

/** The casts of which something was written since the machine was started. */
function castsOfThisBoot(stateDir: string): readonly string[] {
  const bootAt = bootTime() ?? Number.POSITIVE_INFINITY;
  const timeOf = ({ at, clock }: Entry) => Date.parse(clock ?? at ?? '');
  try {
    return latestCasts(logFileIn(stateDir), (line) => timeOf(JSON.parse(line)) < bootAt);
  } catch {
    return []; // The log cannot be read now. The command that writes to it reports why.
  }
}

/** The advice for people. */
export function howPeopleDecide(baton: string): string {
  return (
    'decide in a terminal that was open before the first agent of the cast started (a new tab or pane of it is fine), ' +
    'in a new login (`ssh localhost`, or `su - $USER`), ' +
    `or with your token: \`export BATON_TOKEN=$(${baton} token create --role approver)\`, made in such a terminal`
  );
}

type Entry = {
  readonly at?: string;
  /** The clock's time, if the log uses another. */
  readonly clock?: string;
  readonly kind?: string;
  readonly body?: {
    readonly script?: unknown;
    readonly turn?: number;
    readonly socket?: string;
    readonly rules?: Pick<Rules, 'graph' | 'materia'>;
    readonly capabilities?: Capabilities;
  };
};

const KINDS = /"kind":"(?:cast|turn|attempt)\.started"/;

/**
 * The first attempt by the log's clock. Scripted attempts and people's turns have no process. The clock is
 * converted to time since boot, as for process starts.
 */
export function firstInLog(stateDir: string, cast: string): FirstAttempt | null {
  const bootAt = bootTime();
  if (bootAt === null) return null;
  const sockets = new Map<number, string>();
  let isPerson: (socket: string) => boolean = () => false;
  try {
    for (const line of castLines(logFileIn(stateDir), cast)) {
      if (!KINDS.test(line)) continue;
      const { at, clock, kind, body = {} } = JSON.parse(line) as Entry;
      const { turn = 0, socket = '', rules, capabilities } = body;
      if (kind === 'cast.started' && rules)
        isPerson = (one) => isPersonAt(one, { ...rules, ...(capabilities ? { capabilities } : {}) });
      if (kind === 'turn.started') sockets.set(turn, socket);
      if (kind !== 'attempt.started' || body.script !== null || isPerson(sockets.get(turn) ?? '')) continue;
      const start = (Date.parse(clock ?? at ?? '') - bootAt) / 10;
      if (start > 0) return { start, namespace: null };
    }
    return null;
  } catch {
    return null; // The log cannot be read now. The command that writes to it reports why.
  }
}

function isPersonAt(socket: string, rules: Pick<Rules, 'graph' | 'materia' | 'capabilities'>): boolean {
  const { graph, materia } = rules;
  const found = materia[graph.sockets[socket]?.materia ?? ''];
  return found?.type === 'agent' && runnerCan(rules, found.runner, 'isPerson') && (found.fallbacks ?? []).length === 0;
}

/** The boot time in milliseconds since 1970, or null if unknown. */
function bootTime(): number | null {
  try {
    const seconds = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
    return Number.isFinite(seconds) ? Date.now() - seconds * 1000 : null;
  } catch {
    return null;
  }
}

const FILE = 'first-driver';

/**
 * Records this user's first driver since boot. Tokens belong to no workspace, so this shows which processes are too young to make
 * one. A cast never fails because of this.
 */
export function noteDriver(env: NodeJS.ProcessEnv): void {
  const folder = userFolder(env);
  if (firstDriverOf(folder) !== null) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, FILE), startRecord(ownIdentity()), { mode: 0o600 });
  } catch {
    // A folder that cannot be written holds no token either.
  }
}

/** The first driver since boot, as a first attempt, or null. */
export function firstDriverOf(user: string): FirstAttempt | null {
  return readStartRecord(user, FILE);
}
