// Uses an approval. First the log is asked whether the command may run: everything that the approval binds is read again, and the log
// records the use, or the refusal, before anything runs. Then the command runs in place of the caller: without a shell, with the
// caller's output and signals. Its input was not approved, so it gets none unless a person uses the terminal.

import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { type Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisDriver } from '../engine/lease.ts';
import type { Store, Submitter } from '../engine/store.ts';
import { nearestCommand } from '../kernel/approval/difference.ts';
import type { ApprovalPolicy, Difference, Presented } from '../kernel/approval/request.ts';
import type { Approval, Approvals } from '../kernel/approval/state.ts';
import { knownValues, ValueFilter, type Variables } from '../kernel/credential.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { digestsFor, marksOf, placesFor, programsFor } from './bound-parts.ts';
import { approvalNamed, goneExecutors } from './open-approvals.ts';
import { versionOf } from './risk.ts';
import { type SealKey, sealedGrant } from './seal.ts';
import { clearArgv, marksOfArgv, sealOfCommand } from './seal-request.ts';

type Attempted = { readonly verdict: Verdict; readonly approval: Approval | null };

export async function useApproval(
  store: Pick<Store, 'submit' | 'view'>,
  word: string,
  argv: readonly string[],
  context: ExecContext,
  { actor, dry }: { readonly actor: Submitter; readonly dry: boolean },
): Promise<Attempted> {
  const found = approvalNamed(await store.view('approvals'), word);
  const approval = 'allow' in found ? null : found;
  const verdict = await store.submit(
    {
      kind: 'approval.use',
      id: approval?.id ?? word.slice(0, 64),
      requester: context.requester,
      presented: approval ? presentedAs(approval, argv, context) : null,
      executor: thisDriver(),
      gone: approval ? goneExecutors([approval]) : [],
      ...(dry ? { dry } : {}),
    },
    actor,
  );
  // The log knows only ids. So the search gives the better reason.
  const isVague = verdict.code === 'UNKNOWN_APPROVAL' && 'allow' in found;
  return { verdict: isVague ? found : verdict, approval };
}

/** A line with thousands of ids must not take longer than a hook may. */
const NAMED_MAX = 8;

/** Records for each named approval how the line differs from it, and answers with the first refusal. Open approvals come first. */
export async function refuseChanged(
  store: Pick<Store, 'submit' | 'view'>,
  words: readonly string[],
  differencesTo: (approval: Approval) => readonly Difference[],
  { requester, actor }: { readonly requester: string; readonly actor: Submitter },
): Promise<Verdict> {
  const approvals = await store.view('approvals');
  const verdicts: Verdict[] = [];
  for (const [id, approval] of namedIn(approvals, words)) {
    const around = approval ? differencesTo(approval) : [];
    const use = { kind: 'approval.use', id, requester, presented: null, around, executor: thisDriver() } as const;
    verdicts.push(await store.submit({ ...use, dry: true }, actor));
  }
  return verdicts[0] ?? deny('INTERNAL', 'no approval is named');
}

function namedIn(approvals: Approvals, words: readonly string[]): readonly (readonly [string, Approval | null])[] {
  const named = new Map<string, Approval | null>();
  for (const word of words) {
    const found = approvalNamed(approvals, word);
    if ('allow' in found) named.set(word.slice(0, 64), null);
    else named.set(found.id, found);
  }
  return [...named].toSorted(([, a], [, b]) => Number(a === null) - Number(b === null)).slice(0, NAMED_MAX);
}

/** Whether everything is still as it was at the decision. */
export function isUnchanged(approval: Approval, argv: readonly string[], context: ExecContext, index: number): boolean {
  return presentedAs(approval, argv, context).seal === approval.sealed.commands[index]?.seal;
}

type ExecContext = {
  readonly cwd: string;
  readonly env: Variables;
  readonly policy: ApprovalPolicy;
  readonly key: SealKey;
  readonly requester: string;
  /** Tells this log from its copies. */
  readonly log: string;
};

export function presentedAs(approval: Approval, argv: readonly string[], context: ExecContext): Presented {
  const { sealed } = approval;
  const { env, policy, key, requester } = context;
  const cwd = realFolder(context.cwd);
  const marks = marksOfArgv(argv, key);
  const command = sealed.commands[nearestCommand(sealed, { marks })];
  // Programs are looked up with today's search path. The approved path is what runs.
  const programs = programsFor(Object.keys(command?.programs ?? {}), cwd, env.PATH ?? '');
  const places = placesFor(Object.keys(command?.places ?? {}));
  const files = digestsFor(Object.keys(command?.files ?? {}));
  const envMarks = marksOf(Object.keys(sealed.envMarks), env, key);
  const log = key.mark('log', context.log);
  const version = versionOf(policy);
  const bound = {
    id: sealed.id,
    cwd,
    envMarks,
    ...(sealed.plainEnv ? { plainEnv: sealed.plainEnv } : {}),
    path: sealed.path,
    policy: version,
    requester,
    expiresAt: sealed.expiresAt,
    log,
  };
  return {
    argv: clearArgv(argv),
    marks,
    seal: sealOfCommand({ argv, programs, places, files }, bound, key),
    cwd,
    programs,
    places,
    files,
    envMarks,
    policy: version,
    log,
    keyId: key.id,
    decision: sealedGrant(approval, key),
  };
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const PASSED = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
/** The terminal sends these to the command too. */
const SHARED = ['SIGINT', 'SIGQUIT'] as const;
const NOT_STARTED = 127;
const PIPES_OPEN_MS_MAX = 2_000;

type CommandRun = {
  /** The real path of the program. */
  readonly file: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
};

/** Its input and output. */
export type CommandStreams = {
  readonly stdin: 'inherit' | 'ignore';
  readonly stdout: Writable & Terminal;
  readonly stderr: Writable & Terminal;
  /** Whether this process passes its signals on. */
  readonly passesSignals: boolean;
};

/** A stream of this process has a number and may be a terminal. */
type Terminal = { readonly fd?: number; readonly isTTY?: boolean };

/** The streams of this process. */
export function ownStreams(): CommandStreams {
  const { stdin, stdout, stderr } = process;
  return { stdin: stdin.isTTY ? 'inherit' : 'ignore', stdout, stderr, passesSignals: true };
}

/** How much of its output is kept. */
const KEPT_CHARS_MAX = 16_384;

/** Streams that keep the end of the output. */
export function keptStreams(): CommandStreams & { printed(): { readonly stdout: string; readonly stderr: string } } {
  const kept = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const keeping = (name: keyof typeof kept) =>
    new Writable({
      decodeStrings: true,
      write(chunk: Buffer, _encoding, done) {
        kept[name] = Buffer.concat([kept[name], chunk]).subarray(-4 * KEPT_CHARS_MAX);
        done();
      },
    });
  const end = (bytes: Buffer) => bytes.toString('utf8').slice(-KEPT_CHARS_MAX);
  return {
    stdin: 'ignore',
    stdout: keeping('stdout'),
    stderr: keeping('stderr'),
    passesSignals: false,
    printed: () => ({ stdout: end(kept.stdout), stderr: end(kept.stderr) }),
  };
}

export type CommandEnd = {
  /** The exit code for the caller. */
  readonly code: number;
  /** Null if a signal ended it or it never began. */
  readonly exit: number | null;
  readonly note?: string;
  /** A signal ended it early, so its effect is unknown. */
  readonly isCut?: true;
};

export function runApproved({ file, argv, cwd, env }: CommandRun, streams: CommandStreams): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const [name = file, ...args] = argv;
    const { stdin, stdout, stderr, passesSignals } = streams;
    let isCut = false;
    const pass = (signal: NodeJS.Signals) => {
      isCut = true;
      child.kill(signal);
    };
    const shared = (signal: NodeJS.Signals) => {
      isCut = true;
      if (stdin === 'ignore') child.kill(signal);
    };
    // Set before the start: otherwise an early signal would end this process and orphan the command.
    for (const signal of passesSignals ? PASSED : []) process.on(signal, pass);
    for (const signal of passesSignals ? SHARED : []) process.on(signal, shared);
    const values = knownValues(env);
    // A terminal shows the output as it is. Any other stream may store it, so known secrets are removed.
    const how = ({ fd, isTTY }: Terminal) => (fd !== undefined && (isTTY || values.length === 0) ? fd : 'pipe');
    const child = spawn(file, args, { argv0: name, cwd, env, stdio: [stdin, how(stdout), how(stderr)] });
    const printed = Promise.all([passOn(child.stdout, stdout, values), passOn(child.stderr, stderr, values)]);
    const end = (ended: CommandEnd) => {
      for (const signal of PASSED) process.off(signal, pass);
      for (const signal of SHARED) process.off(signal, shared);
      resolve(ended);
    };
    child.once('error', ({ message }) =>
      end({ code: NOT_STARTED, exit: null, note: `it could not start: ${message}` }),
    );
    child.once('exit', async (code, signal) => {
      // A background program may keep the output open.
      await Promise.race([printed, sleep(PIPES_OPEN_MS_MAX, undefined, { ref: false })]);
      if (code !== null) end({ code, exit: code });
      else {
        const ended = {
          code: 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0),
          exit: null,
          note: `ended by ${signal}`,
        };
        end({ ...ended, ...(isCut ? { isCut } : {}) });
      }
    });
  });
}

/** Copies every byte except known secrets. Resolves at the end of the stream. */
async function passOn(from: Readable | null, to: Writable, values: readonly string[]): Promise<void> {
  if (!from) return;
  // One character per byte, so that a character split over two chunks stays intact.
  const filter = new ValueFilter(values.map((value) => Buffer.from(value).toString('latin1')));
  const write = async (text: string) => {
    if (text !== '' && !to.write(text, 'latin1')) await new Promise((resolve) => to.once('drain', resolve));
  };
  try {
    for await (const chunk of from) await write(filter.take((chunk as Buffer).toString('latin1')));
  } catch {
    // The pipe broke with the program. Earlier output is kept.
  }
  await write(filter.end());
}
