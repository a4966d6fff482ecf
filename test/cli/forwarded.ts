// `baton` for a shell script of a test: a small shell program that hands its call to the process of the test and prints what came
// back. A start of Node takes ten times as long as most commands. What stays, such as a server, starts for itself.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { BATON } from './baton.ts';
import { callBaton } from './in-process.ts';

/** Commands that run on, or that ask who their parents are. */
const FOR_ITSELF = 'serve|ui|mcp|watch|exec|demo|hook|completion';

const CLIENT = (port: number, calls: string) => `#!/bin/bash
for word; do
  case $word in
    -C) after=1 ;;
    -*) ;;
    ${FOR_ITSELF}) [ -n "$after" ] || exec '${BATON}' "$@"; after= ;;
    *) [ -n "$after" ] || break; after= ;;
  esac
done
call='${calls}'/$BASHPID
mkdir "$call" || exit 70
printf '%s\\0' "$PWD" "$@" > "$call/words"
env -0 > "$call/env"
[ -t 0 ] || cat > "$call/stdin"
exec 3<>/dev/tcp/127.0.0.1/${port}
echo "$call" >&3
read -r code <&3
cat "$call/stdout"
cat "$call/stderr" >&2
rm -r "$call"
exit "\${code:-70}"
`;

/** Puts `baton` into the folder `bin`; answers how the calls are ended. */
export async function forwardBaton(root: string): Promise<{ readonly bin: string; close(): Promise<void> }> {
  const [bin, calls] = [join(root, 'forwarded'), join(root, 'calls')];
  for (const folder of [bin, calls]) mkdirSync(folder);
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  writeFileSync(join(bin, 'baton'), CLIENT(port, calls));
  chmodSync(join(bin, 'baton'), 0o755);
  return { bin, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** One call for each connection: the folder of the call comes, its exit code goes back. */
function serve(socket: Socket): void {
  let line = '';
  socket.setEncoding('utf8').on('error', () => undefined);
  socket.on('data', (text: string) => {
    line += text;
    if (!line.endsWith('\n')) return;
    carryOut(line.trim()).then(
      (code) => socket.end(`${code}\n`),
      () => socket.end('70\n'),
    );
  });
}

async function carryOut(call: string): Promise<number> {
  const partsOf = (name: string) => readFileSync(join(call, name), 'utf8').split('\0').slice(0, -1);
  const [cwd = '', ...words] = partsOf('words');
  const env = Object.fromEntries(
    partsOf('env').map((row) => [row.slice(0, row.indexOf('=')), row.slice(row.indexOf('=') + 1)]),
  );
  const { code, stdout, stderr } = await callBaton(words, { cwd, env, input: readFileSync(join(call, 'stdin')) });
  writeFileSync(join(call, 'stdout'), stdout);
  writeFileSync(join(call, 'stderr'), stderr);
  return code;
}
