// Runs the official conformance suite of the protocol against a server. The suite knows nothing of tokens, so a small
// forwarder adds one and changes nothing else.
import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CHECKOUT, project, type Ran } from '../cli/baton.ts';

const SUITE = join(CHECKOUT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

export type Outcome = { readonly passed: number; readonly failed: number };

/** What every server scenario of the suite found out about the server, by its name. */
export async function runSuite(url: string): Promise<ReadonlyMap<string, Outcome>> {
  const { stdout, stderr } = await suite(['server', '--url', url, '--suite', 'all']);
  const rows = [...stdout.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)];
  if (rows.length === 0) throw new Error(`the suite found out nothing: ${stdout.slice(-2_000)}${stderr}`);
  return new Map(
    rows.map(([, name = '', passed, failed]) => [name, { passed: Number(passed), failed: Number(failed) }]),
  );
}

/** Whether the server passes this one scenario. */
export async function passes(url: string, scenario: string): Promise<boolean> {
  return (await suite(['server', '--url', url, '--scenario', scenario])).code === 0;
}

/** The server scenarios there are, as the suite lists them itself. */
export async function serverScenarios(): Promise<readonly string[]> {
  const { stdout } = await suite(['list', '--server']);
  return [...stdout.matchAll(/^\s+- (\S+)/gm)].map(([, name]) => name ?? '');
}

function suite(args: readonly string[]): Promise<Ran> {
  // The suite writes its results where it is run.
  const child = spawn(process.execPath, [SUITE, ...args], { cwd: project(), stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

/** The address of a forwarder that knows the token. */
export async function withToken(url: string, token: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const forwarder = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const { method, url: path } = incoming;
    const forwarded = request({ hostname, port, method, path, headers, setHost: false }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      answer.flushHeaders();
      response.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    answer.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    forwarder.closeAllConnections();
    forwarder.close();
  });
  return `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}/mcp`;
}
