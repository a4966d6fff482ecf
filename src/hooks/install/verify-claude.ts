// Whether the installed hooks work: the real Claude Code is asked to write a file into `.baton/`, which no agent may do.
// What counts is the file and what the program reports about its tool calls, not what the model says.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';

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
