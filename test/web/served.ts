// A workspace with its server, for all tests of a file: a real process, killed and started as a person would.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '../../src/access/rights.ts';
import { createToken } from '../../src/access/tokens.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Verdict } from '../../src/kernel/verdict.ts';
import { BATON, baton, batonProcess, environment, json, personToken, type Ran, removeProject } from '../cli/baton.ts';

export type SceneCast = { readonly request: string; readonly loadout: string; readonly agents: JsonObject | null };

export class Served {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-web-')));
  readonly #env: NodeJS.ProcessEnv;
  #server: ChildProcess | null = null;
  #url = '';

  /** `make` fills the folder of the workspace. Programs in its folder `bin` come before those of the machine. */
  constructor(make: (dir: string) => void) {
    make(this.dir);
    const PATH = `${join(this.dir, 'bin')}:${process.env.PATH}`;
    this.#env = environment(this.dir, { BATON_TOKEN: personToken(), PATH });
  }

  /** Starts the server, after the first time on the port that it had. */
  async start(): Promise<void> {
    const port = this.#url === '' ? '0' : new URL(this.#url).port;
    const args = ['-C', this.dir, 'ui', '--json', '--no-open', '--port', port];
    const server = spawn(BATON, args, { cwd: this.dir, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#server = server;
    let [said, wrong] = ['', ''];
    server.stderr.on('data', (text: Buffer) => {
      wrong += text;
    });
    for await (const text of server.stdout) {
      said += text;
      if (said.includes('\n')) break;
    }
    if (said === '') throw new Error(`the server did not start: ${wrong}`);
    this.#url = (JSON.parse(said) as { url: string }).url;
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server || server.exitCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  }

  async close(): Promise<void> {
    await this.kill();
    removeProject(this.dir);
  }

  /** The address that opens the page for the person who runs the tests. */
  link(path = '/', token = personToken()): string {
    return `${this.#url}${path}#token=${encodeURIComponent(token)}`;
  }

  /** The token of somebody with another role. */
  tokenOf(role: Role, name: string): string {
    const made = createToken(this.#env, { role, name, expires: null }, Date.now());
    if (!made.ok) throw new Error('no token');
    return made.value.secret;
  }

  /** Asks the server as a page does. */
  async ask(name: string, input: JsonObject = {}, token = personToken()): Promise<Verdict> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${this.#url}/api/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
    return (await answer.json()) as Verdict;
  }

  /** A command of the person at a terminal. */
  baton(args: readonly string[]): Promise<Ran> {
    return batonProcess(this.dir, args);
  }

  /** Runs a cast until it ends or waits, and answers its id. */
  async ran({ request, loadout }: SceneCast, agents: string | null): Promise<string> {
    const script = agents === null ? [] : ['--agents', agents];
    return String(json(await baton(this.dir, ['cast', '--json', '-l', loadout, ...script, request])).cast);
  }

  /** Starts a cast that goes on by itself, and answers its id. */
  async started({ request, loadout }: SceneCast, agents: string): Promise<string> {
    const { details } = await this.ask('cast.start', { request, loadout, agents });
    return String(details.cast);
  }
}
