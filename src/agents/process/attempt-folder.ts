// The folder of one attempt, which is all that the engine and the supervisor share: packet and input going in; the claim; output and
// exit record coming out. Each file appears whole or not at all. The folder's name says which attempt it is. Its secret is known only
// to the child of the supervisor; the folder keeps a digest.

import { readFileSync, writeFileSync } from 'node:fs';
import { type FileHandle, link, open, readFile, rename, rm } from 'node:fs/promises';
import path, { basename, dirname, join } from 'node:path';
import { ownIdentity, type ProcessIdentity } from './process-identity.ts';

/** What to run, and within which bounds. The environment may hold keys, so the packet is removed once it is read. */
export type SupervisorPacket = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Secrets of the environment, which are taken out of everything that is kept of the output. */
  readonly hides?: readonly string[];
  readonly timeoutMs: number;
  /** How long the child may neither write nor use the processor; null or absent where only the time limit counts. */
  readonly silentMs?: number | null;
  readonly graceMs: number;
  readonly maxStdoutBytes: number;
  readonly maxStderrBytes: number;
  /** Whether the child is ended as soon as it has written more to its standard output than is kept. */
  readonly endsWhenFull?: boolean;
};

/** Who claimed the attempt: the supervisor to run it, or an engine to prevent that it ever runs. */
export type AttemptClaim = ProcessIdentity & { readonly by: 'supervisor' | 'engine' };

export type ExitRecord = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** It ran out of time because it gave no sign of life, not because it took too long. */
  readonly silent?: boolean;
  /** What was seen of the child when its time was over, in words. */
  readonly signs?: string;
  readonly aborted: boolean;
  /** What the child wrote, including what was thrown away. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly error?: string;
};

/** The record of an attempt whose child never ran, as far as is known. */
export function unrun(why: { readonly error?: string; readonly aborted?: boolean }): ExitRecord {
  const bytes = { stdoutBytes: 0, stderrBytes: 0, stdoutTruncated: false, stderrTruncated: false };
  const now = Date.now();
  return { code: null, signal: null, timedOut: false, aborted: false, ...bytes, startedAt: now, endedAt: now, ...why };
}

/**
 * Claims the attempt for one process, forever. The claim is linked into place with its content, so that no process
 * reads half of one, and it is on disk before this answers, so that a power cut cannot make a run look unstarted.
 */
export async function takeClaim(dir: string, by: AttemptClaim['by']): Promise<boolean> {
  const claim: AttemptClaim = { by, ...ownIdentity() };
  const draft = path.join(dir, `claim.${process.pid}-${process.hrtime.bigint()}`);
  await writeSynced(draft, JSON.stringify(claim));
  try {
    await link(draft, path.join(dir, 'claim'));
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dir);
  return true;
}

/** Writes a file so that it is whole, and on disk, when this answers. */
export async function writeDurably(dir: string, name: string, content: string | Uint8Array): Promise<void> {
  const draft = path.join(dir, `${name}.draft`);
  await writeSynced(draft, content);
  await rename(draft, path.join(dir, name));
  await syncFolder(dir);
}

export async function syncFolder(dir: string): Promise<void> {
  await withFile(dir, 'r', (folder) => folder.sync());
}

/** Removes the folder. A supervisor in another process namespace may still write its last file into it. */
export async function clearAttempt(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

export async function readAttemptClaim(dir: string): Promise<AttemptClaim | null> {
  return parseClaim(await readText(path.join(dir, 'claim')));
}

export async function readChild(dir: string): Promise<ProcessIdentity | null> {
  return parseIdentity(parseObject(await readText(path.join(dir, 'child.json'))));
}

export async function readExit(dir: string): Promise<ExitRecord | null> {
  return parseExit(await readText(path.join(dir, 'exit.json')));
}

/** Null for anything that is not a claim. */
export function parseClaim(text: string): AttemptClaim | null {
  const value = parseObject(text);
  const identity = parseIdentity(value);
  const by = value?.by;
  return identity !== null && (by === 'supervisor' || by === 'engine') ? { by, ...identity } : null;
}

/** Null for anything that is not an exit record. */
export function parseExit(text: string): ExitRecord | null {
  const value = parseObject(text);
  if (value === null) return null;
  const { code, signal, error } = value;
  const flags = [value.timedOut, value.aborted, value.stdoutTruncated, value.stderrTruncated];
  const numbers = [value.stdoutBytes, value.stderrBytes, value.startedAt, value.endedAt];
  const whole =
    (code === null || Number.isSafeInteger(code)) &&
    (signal === null || typeof signal === 'string') &&
    (error === undefined || typeof error === 'string') &&
    (value.signs === undefined || typeof value.signs === 'string') &&
    (value.silent === undefined || typeof value.silent === 'boolean') &&
    flags.every((flag) => typeof flag === 'boolean') &&
    numbers.every(Number.isFinite);
  return whole ? (value as ExitRecord) : null;
}

/** Null for anything that is not a packet. */
export function parsePacket(text: string): SupervisorPacket | null {
  const value = parseObject(text);
  if (value === null) return null;
  const { argv, cwd, env } = value;
  const numbers = [value.timeoutMs, value.graceMs, value.maxStdoutBytes, value.maxStderrBytes];
  const whole =
    isTexts(argv) &&
    argv.length > 0 &&
    typeof cwd === 'string' &&
    (value.endsWhenFull === undefined || typeof value.endsWhenFull === 'boolean') &&
    (value.hides === undefined || isTexts(value.hides)) &&
    isPlainObject(env) &&
    Object.values(env).every((one) => typeof one === 'string') &&
    numbers.every((one) => typeof one === 'number' && Number.isFinite(one) && one >= 0);
  return whole ? (value as SupervisorPacket) : null;
}

export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

function parseIdentity(value: Record<string, unknown> | null): ProcessIdentity | null {
  const { pid, startTime } = value ?? {};
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1 || typeof startTime !== 'string') return null;
  return { pid, startTime };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

// Only the owner may read the input and output of an agent.
async function writeSynced(file: string, content: string | Uint8Array): Promise<void> {
  await withFile(file, 'w', async (handle) => {
    await handle.writeFile(content);
    await handle.sync();
  });
}

async function withFile(file: string, flags: string, use: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(file, flags, 0o600);
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}

export type AttemptName = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  /** The state folder of the workspace whose attempt it is. */
  readonly stateDir: string;
};

const FOLDER_NAME = /^(.{1,200})-([1-9][0-9]{0,8})\.([1-9][0-9]{0,8})(?:\.again-[0-9]{1,9})?$/;

/** Null for a folder that is no attempt's. An attempt that waited for its provider has several folders. */
export function attemptNamed(folder: string): AttemptName | null {
  const [, cast, turn, attempt] = FOLDER_NAME.exec(basename(folder)) ?? [];
  if (cast === undefined || basename(dirname(folder)) !== 'attempts') return null;
  return { cast, turn: Number(turn), attempt: Number(attempt), stateDir: dirname(dirname(folder)) };
}

/** Loaded when it is used: it takes as long to load as the rest of a short command. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** The variable in which everything that an attempt starts inherits its secret. */
export const KEY_VARIABLE = 'BATON_ATTEMPT_KEY';

const KEY_FILE = 'key';
const BYTES = 32;
const KEY_CHARS_MAX = 200;

/** What the secret of an attempt begins with, and no other token. */
export const AGENT_TOKEN = 'baton_agent-';

/**
 * A new secret for the attempt in this folder, bound to the fence that the attempt works under. It looks like our tokens, which are
 * taken out of every text that is kept. It is the token of its agent, too.
 */
export function makeKey(folder: string, fence = ''): string {
  const key = `${AGENT_TOKEN}${crypto().randomBytes(BYTES).toString('base64url')}`;
  writeFileSync(join(folder, KEY_FILE), `${digestOf(key)} ${fence}`, { mode: 0o600 });
  return key;
}

/** Whether this is the secret of the attempt in this folder. */
export function isKeyOf(folder: string, key: string): boolean {
  if (key === '' || key.length > KEY_CHARS_MAX) return false;
  const kept = Buffer.from(readKept(folder).digest);
  const given = Buffer.from(digestOf(key));
  return kept.length === given.length && crypto().timingSafeEqual(kept, given);
}

/** The fence that the secret of this folder is bound to; null for an attempt without a task. */
export function fenceOfKey(folder: string): number | null {
  const { fence } = readKept(folder);
  return /^[0-9]{1,15}$/.test(fence) ? Number(fence) : null;
}

function digestOf(key: string): string {
  return crypto().hash('sha256', key, 'hex');
}

function readKept(folder: string): { readonly digest: string; readonly fence: string } {
  try {
    const [digest = '', fence = ''] = readFileSync(join(folder, KEY_FILE), 'utf8').split(' ');
    return { digest, fence };
  } catch {
    return { digest: '', fence: '' }; // It has none yet, or was cleared away.
  }
}
