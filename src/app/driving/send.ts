// Hands one text to a program that a person configured, for notifications and for sinks of events, and signs what goes to a webhook.
// Words of agents go along as data only.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { TOKEN_VARIABLE } from '../../access/actor.ts';
import { collapse } from '../../kernel/text.ts';

export const TIMEOUT_MS = 10_000;
const SAID_CHARS_MAX = 200;

export const NOT_FOUND = 'is not found';

type Signed = { readonly id: string; readonly secret: string; readonly now: number };

/** As Standard Webhooks has it: the id, the time and the body are signed together, so none can be changed or sent again later. */
export function signatureOf({ id, secret, now }: Signed, body: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000));
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

type Run = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
};

/** A program without a shell; a relative name is looked up in the folder of the workspace. */
export function run(
  argv: readonly string[],
  input: string,
  { cwd, env, timeoutMs = TIMEOUT_MS }: Run,
): Promise<string | null> {
  const [file = '', ...args] = argv;
  const { [TOKEN_VARIABLE]: _own, ...others } = env;
  return new Promise((done) => {
    const child = spawn(file, args, { cwd, env: others, stdio: ['pipe', 'ignore', 'pipe'], timeout: timeoutMs });
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => {
      printed = `${printed}${chunk.toString('utf8')}`.slice(-SAID_CHARS_MAX);
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.on('error', ({ code, message }: NodeJS.ErrnoException) =>
      done(code === 'ENOENT' ? `${file} ${NOT_FOUND}` : code === 'EACCES' ? `${file} may not be run` : message),
    );
    child.on('close', (code, signal) => {
      const end =
        signal === 'SIGTERM' ? `it did not end within ${timeoutMs / 1_000} s` : `it ended with ${code ?? signal}`;
      done(code === 0 ? null : [end, collapse(printed)].filter(Boolean).join(': '));
    });
  });
}
