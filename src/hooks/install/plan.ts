// What an installation changes and what an undo restores, shown as a diff and written only where no link leads elsewhere. The earlier
// text of each file is kept. An untouched file is restored byte for byte. From any other file only our part is removed. The last part
// verifies an installation: the real Claude Code is asked to write a file into `.baton/`, which no agent may do. Only the file and the
// reported tool calls count, not the words of the model.

import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { type HookOptions, type Host, isDenied } from './host.ts';

type FileChange = { readonly file: string; readonly before: string | null; readonly after: string | null };

/** A file before the first installation, and the digest of what it became. */
type Kept = { readonly before: string | null; readonly digest: string };
export type InstallRecord = Readonly<Record<string, Kept>>;

export type InstallPlan = { readonly changes: readonly FileChange[]; readonly record: InstallRecord };
type SettingsReader = (file: string) => string | null;

export function planInstall(
  host: Host,
  read: SettingsReader,
  record: InstallRecord,
  how: HookOptions,
): InstallPlan | Denied {
  const changes: FileChange[] = [];
  const kept: Record<string, Kept> = {};
  for (const file of host.files) {
    const before = read(file);
    const own = before === null ? null : host.remove(file, before);
    if (isDenied(own)) return own;
    const after = host.add(file, own, how);
    if (isDenied(after)) return after;
    if (after !== before) changes.push({ file, before, after });
    // Only for an untouched file is the earlier text still known.
    const isUntouched = before !== null && record[file]?.digest === digestOf(before);
    kept[file] = { before: isUntouched ? (record[file]?.before ?? null) : own, digest: digestOf(after) };
  }
  return { changes, record: kept };
}

export function planUndo(host: Host, read: SettingsReader, record: InstallRecord): InstallPlan | Denied {
  const changes: FileChange[] = [];
  for (const file of host.files) {
    const before = read(file);
    if (before === null) continue;
    const kept = record[file];
    const after = kept && kept.digest === digestOf(before) ? kept.before : host.remove(file, before);
    if (isDenied(after)) return after;
    if (after !== before) changes.push({ file, before, after });
  }
  return { changes, record: {} };
}

/** An unreadable record counts as none. Then an undo removes only our part. */
export function recordIn(text: string | null): InstallRecord {
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    const files = isObject(value) && isObject(value.files) ? value.files : {};
    const pairs = Object.entries(files).filter((pair): pair is [string, JsonObject & Kept] => isKept(pair[1]));
    return Object.fromEntries(pairs.map(([file, { before, digest }]) => [file, { before, digest }]));
  } catch {
    return {};
  }
}

export function recordText(record: InstallRecord): string {
  return `${JSON.stringify({ files: record }, null, 2)}\n`;
}

function isKept(value: Json): value is JsonObject & Kept {
  return isObject(value) && (value.before === null || isString(value.before)) && isString(value.digest);
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}

const CONTEXT = 3;

/** The changed lines and a few around them, as one block. */
export function changedLines(file: string, before: string | null, after: string | null): readonly string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const around = (lines: readonly string[]) => lines.map((line) => `  ${line}`);
  return [
    before === null ? `${file} (new)` : after === null ? `${file} (removed)` : file,
    ...around(old.slice(Math.max(0, start - CONTEXT), start)),
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
    ...around(old.slice(old.length - end, Math.min(old.length, old.length - end + CONTEXT))),
  ];
}

function linesOf(text: string | null): readonly string[] {
  if (text === null || text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** Why the file may not be written, or null. No folder on the way to it may be a link. */
export function refusalOfLink(dir: string, file: string): Denied | null {
  const parts = file.split('/');
  for (let count = 1; count <= parts.length; count += 1) {
    const name = parts.slice(0, count).join('/');
    const stat = lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (!stat) return null;
    if (stat.isSymbolicLink()) {
      return deny('LINK_REFUSED', `${name} is a link; put a real file or folder there first`, { path: name });
    }
    const isRight = count === parts.length ? stat.isFile() : stat.isDirectory();
    if (!isRight) return deny('LINK_REFUSED', `${name} is not a plain file or folder as expected`, { path: name });
  }
  return null;
}

export function readPlain(dir: string, file: string): string | null {
  try {
    return readFileSync(join(dir, file), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes the whole file or nothing and keeps its permissions. Null removes it and the folders that become empty. */
export function writePlain(dir: string, file: string, text: string | null): void {
  const target = join(dir, file);
  if (text === null) {
    rmSync(target, { force: true });
    removeEmpty(dir, dirname(file));
    return;
  }
  mkdirSync(dirname(target), { recursive: true });
  const mode = lstatSync(target, { throwIfNoEntry: false })?.mode ?? 0o644;
  const draft = `${target}.baton-${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: mode & 0o777, flag: 'wx' });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeEmpty(dir: string, folder: string): void {
  for (let at = folder; at !== '.' && at !== ''; at = dirname(at)) {
    try {
      rmdirSync(join(dir, at));
    } catch {
      return; // The folder is not empty.
    }
  }
}

export type Verification = { readonly isRefused: boolean; readonly reason: string };

const TIMEOUT_MS = 120_000;
const OUTPUT_BYTES_MAX = 8 * 1_048_576;

export async function verifyClaude(dir: string, env: NodeJS.ProcessEnv): Promise<Verification> {
  const target = join(dir, '.baton', `hook-test-${randomBytes(6).toString('hex')}.txt`);
  const ran = await claude(dir, env, promptFor(target));
  const isWritten = existsSync(target);
  rmSync(target, { force: true });
  return verificationOf(ran, isWritten);
}

type Ran = { readonly fault: string | null; readonly stdout: string; readonly stderr: string };

/** The outcome, from what was seen. */
export function verificationOf({ fault, stdout, stderr }: Ran, isWritten: boolean): Verification {
  const results = toolResults(stdout);
  const refusal = results.find((text) => text.includes('SCOPE_VIOLATION'));
  if (isWritten)
    return { isRefused: false, reason: 'Claude Code wrote a file into .baton/: the hook did not refuse it' };
  if (refusal) return { isRefused: true, reason: 'Claude Code tried to write into .baton/, and the hook refused it' };
  if (results.length > 0) {
    return { isRefused: false, reason: `the write failed, but not by the hook: ${clipped(results.join('; '))}` };
  }
  const why = fault ?? (clipped(stderr) || 'the model did not call the tool');
  return { isRefused: false, reason: `nothing was tried (${why}); run it again` };
}

function promptFor(target: string): string {
  return `This is a test of the safety hooks of this project. Call the Write tool exactly once, with file_path ${target} and the content "test". It is expected to be refused. Try nothing else. Then answer with the word done.`;
}

function claude(dir: string, env: NodeJS.ProcessEnv, prompt: string): Promise<Ran> {
  const args = ['-p', '--output-format', 'stream-json', '--verbose', '--strict-mcp-config'];
  const child = spawn('claude', [...args, '--tools', 'Write', '--allowedTools', 'Write'], {
    cwd: dir,
    env,
    timeout: TIMEOUT_MS,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [collected(child.stdout), collected(child.stderr)];
  child.stdin.on('error', () => {});
  child.stdin.end(prompt);
  return new Promise((resolve) => {
    const ended = (fault: string | null) => resolve({ fault, stdout: stdout(), stderr: stderr() });
    child.once('error', (error) => ended(`claude cannot be started: ${error.message}`));
    child.once('close', (code, signal) =>
      ended(
        signal
          ? `claude was stopped after ${TIMEOUT_MS / 1_000} s`
          : code === 0
            ? null
            : `claude ended with exit ${code}`,
      ),
    );
  });
}

function collected(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= OUTPUT_BYTES_MAX) chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** The texts that came back from tools, from the stream of events. */
function toolResults(stdout: string): readonly string[] {
  return stdout
    .split('\n')
    .flatMap(eventIn)
    .filter(({ type }) => type === 'user')
    .flatMap(({ message }) => (isObject(message) && Array.isArray(message.content) ? message.content : []))
    .filter((part) => isObject(part) && part.type === 'tool_result')
    .map((part) => JSON.stringify(part));
}

function eventIn(line: string): readonly JsonObject[] {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && isString(value.type) ? [value] : [];
  } catch {
    return [];
  }
}

function clipped(text: string): string {
  return text.trim().slice(0, 300);
}
