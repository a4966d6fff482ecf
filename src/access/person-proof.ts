// Whether a decision comes from a person: from a terminal that was there before the agents of the cast, and not from a
// process that one of them has left behind. A token is the other way, for scripts; see who-acts.ts.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FirstAttempt, firstAttemptOf, readRecord, recordOf } from '../agents/process/first-attempt.ts';
import { ownIdentity, processNamespace } from '../agents/process/process-identity.ts';
import { type Capabilities, runnerCan } from '../kernel/capabilities.ts';
import type { Rules } from '../kernel/graph/config.ts';
import { castLines } from '../log/sqlite/cast-index.ts';
import { logFileIn } from '../log/sqlite/log.ts';
import { isFromOlderTerminal, processView } from './terminal-origin.ts';
import { userFolder } from './user-folder.ts';

export type Decision = {
  readonly stateDir: string;
  /** The cast that is decided about; null for what concerns the whole workspace. */
  readonly cast: string | null;
  /** The user's folder, for what concerns all workspaces of the user; null for anything else. */
  readonly user: string | null;
  /** Whether an older session without a terminal is not enough. */
  readonly needsTerminal: boolean;
};

export function isFromPerson({ stateDir, cast, user, needsTerminal }: Decision, pid = process.pid): boolean {
  const first = firstAttemptOf(stateDir, cast) ?? (cast === null ? null : firstInLog(stateDir, cast));
  const driver = user === null ? null : firstDriverOf(user);
  const known = [first, driver].filter((one) => one !== null);
  const before = Math.min(Number.POSITIVE_INFINITY, ...known.map(({ start }) => start));
  const here = processNamespace();
  const isSameNamespace = here !== null && known.every(({ namespace }) => namespace === here);
  return isFromOlderTerminal({ pid, before, needsTerminal, isSameNamespace }, processView());
}

/** For people: what to do instead, word for word. */
export function howPeopleDecide(baton: string): string {
  return (
    'decide in a terminal that was open before the first agent of the cast started (a new tab or pane of it is fine), ' +
    'in a new login (`ssh localhost`, or `su - $USER`), ' +
    `or with a token of yours: \`export BATON_TOKEN=$(${baton} token create --role approver)\`, made in such a terminal`
  );
}

type Entry = {
  readonly at?: string;
  /** What the clock said, where the log did not take it. */
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
 * The first attempt by the clock of the log, where the record of it is missing. A scripted attempt has no process, and a
 * person's has none. The clock is turned into the time since boot, in which the starts of processes are counted.
 */
function firstInLog(stateDir: string, cast: string): FirstAttempt | null {
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
    return null; // The log cannot be read now; the command that writes to it says why.
  }
}

function isPersonAt(socket: string, rules: Pick<Rules, 'graph' | 'materia' | 'capabilities'>): boolean {
  const { graph, materia } = rules;
  const found = materia[graph.sockets[socket]?.materia ?? ''];
  return found?.type === 'agent' && runnerCan(rules, found.runner, 'isPerson') && (found.fallbacks ?? []).length === 0;
}

/** When the machine was booted, in milliseconds since 1970 by the clock of now; null where the system does not tell. */
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
 * Records when this user first drove a cast since the machine was booted. Tokens belong to no workspace, so the attempts of one
 * workspace do not show which processes are too young to make one. A cast never fails because of this.
 */
export function noteDriver(env: NodeJS.ProcessEnv): void {
  const folder = userFolder(env);
  if (firstDriverOf(folder) !== null) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, FILE), recordOf(ownIdentity()), { mode: 0o600 });
  } catch {
    // A folder that cannot be written takes no token either.
  }
}

/** The first driver of this boot, in the form of a first attempt; null for none. */
export function firstDriverOf(user: string): FirstAttempt | null {
  return readRecord(user, FILE);
}
