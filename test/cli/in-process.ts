// The command line as a call of this process. What a command sees of the process (its environment, folder, streams, exit and
// signals) belongs to the call it is made in, so that calls at the same time do not mix.
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { dialects } from '../../src/dialects/index.ts';
import { Decider } from '../../src/engine/decider.ts';
import { LocalStore } from '../../src/engine/local-store.ts';
import type { Store, Submitter } from '../../src/engine/store.ts';
import { WorkerStore } from '../../src/engine/worker-store.ts';
import type { Request } from '../../src/kernel/input.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { findLinksBelow } from '../../src/workspace/find-links.ts';

export type Place = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: string | Buffer;
};
export type Said = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** What one call sees of the process. */
type Seen = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly events: EventEmitter;
  exit(code: number): void;
};

const calls = new AsyncLocalStorage<Seen>();

/** A command that runs, such as a server. */
export type OpenCall = {
  send(input: string | Buffer): void;
  /** Ends its standard input. */
  end(): void;
  signal(name: NodeJS.Signals): void;
  onOutput(listener: (text: string) => void): void;
  stderr(): string;
  readonly ended: Promise<Said>;
};

/** Starts a command line, as its own process would run it. */
export function openCall(argv: readonly string[], { cwd, env }: Omit<Place, 'input'>): OpenCall {
  const [stdout, stderr] = [new Captured(), new Captured()];
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
  const stdin = new Readable({ read: () => undefined });
  const events = new EventEmitter().setMaxListeners(0);
  const { promise, resolve: exit, reject } = Promise.withResolvers<number>();
  const seen: Seen = { cwd, env: given, stdin, stdout, stderr, events, exit };
  calls.run(seen, () => {
    import('../../src/cli/main.ts').then(({ carryOut }) => carryOut(argv)).then(exit, reject);
  });
  const ended = promise.then((code) => {
    events.emit('exit', code);
    return { code, stdout: stdout.close(), stderr: stderr.close() };
  });
  const outside = AsyncLocalStorage.snapshot();
  return {
    send: (input) => calls.run(seen, () => void stdin.push(input)),
    end: () => calls.run(seen, () => void stdin.push(null)),
    signal: (name) => calls.run(seen, () => void events.emit(name, name)),
    onOutput: (listener) => void stdout.on('text', (text: string) => outside(listener, text)),
    stderr: () => stderr.text(),
    ended,
  };
}

/** Runs a command line to its end, as its own process would. */
export function callBaton(argv: readonly string[], { input, ...place }: Place): Promise<Said> {
  const call = openCall(argv, place);
  if (input.length > 0) call.send(input);
  call.end();
  return call.ended;
}

/** What is written after the end of the call is lost, as it is when a process has ended. */
class Captured extends Writable {
  readonly #chunks: Buffer[] = [];
  #isOver = false;

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    if (!this.#isOver) {
      this.#chunks.push(chunk);
      this.emit('text', chunk.toString('utf8'));
    }
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  close(): string {
    this.#isOver = true;
    return this.text();
  }
}

/** Thrown where a process would be gone. */
class Exited extends Error {}

for (const name of ['env', 'stdin', 'stdout', 'stderr'] as const) {
  const own = Object.getOwnPropertyDescriptor(process, name);
  const outside = own?.get ? () => own.get?.call(process) : () => own?.value;
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get: () => calls.getStore()?.[name] ?? outside(),
    // Elsewhere a test may set it; within a call nobody does.
    set: (value) => own?.set?.call(process, value),
  });
}

const { cwd, exit } = process;
// A library that is loaded later may put another one in its place, such as one that remembers its first answer.
let cwdOutside: () => string = () => cwd.call(process);
Object.defineProperty(process, 'cwd', {
  configurable: true,
  enumerable: true,
  get: () => {
    const seen = calls.getStore();
    return seen === undefined ? cwdOutside : () => seen.cwd;
  },
  set: (value: () => string) => {
    cwdOutside = value;
  },
});
process.exit = (code) => {
  const seen = calls.getStore();
  if (seen === undefined) return exit.call(process, code);
  seen.exit(Number(code ?? 0));
  throw new Exited('the command has ended');
};

for (const name of ['on', 'once', 'off', 'addListener', 'removeListener'] as const) {
  const outside = process[name] as (...args: unknown[]) => unknown;
  const within = (event: string, listener: () => void) => {
    const events = calls.getStore()?.events;
    return events === undefined ? outside.call(process, event, listener) : events[name](event, listener);
  };
  Object.assign(process, { [name]: within });
}

// The folders of the system are read from the environment below JavaScript.
const os = createRequire(import.meta.url)('node:os') as typeof import('node:os');
const { tmpdir, homedir } = os;
os.tmpdir = () => calls.getStore()?.env.TMPDIR ?? tmpdir();
os.homedir = () => calls.getStore()?.env.HOME ?? homedir();
syncBuiltinESMExports();

// The thread of a decider takes longer to start than most commands run. Here the decider sits in this thread; what crosses is copied
// as it is between threads.
const { open } = WorkerStore;
WorkerStore.open = async (logFile, dir = null) => {
  const seen = calls.getStore();
  if (seen === undefined) return open.call(WorkerStore, logFile, dir);
  const onBlocked = (why: string) => void seen.stderr.write(`${why}\n`);
  const findLinks = dir === null ? undefined : findLinksBelow(dir);
  const store = new LocalStore(await Decider.open(new SqliteLog(logFile, { onBlocked }), dialects, { findLinks }));
  return copying(store) as WorkerStore;
};

function copying(store: Store): Store {
  const watchCast: Store['watchCast'] = (cast, withEntries, listener) =>
    store.watchCast(cast, withEntries, (change) => listener(structuredClone(change)));
  return new Proxy(store, {
    get(_, name) {
      const method: unknown = Reflect.get(store, name, store);
      if (name === 'watchCast') return watchCast;
      // Of an actor only the name crosses.
      if (name === 'submit')
        return (request: Request, by: Submitter) => store.submit(structuredClone(request), { name: by.name });
      if (typeof method !== 'function') return method;
      // A stream is made of readings, and is the same on both sides.
      if (name === 'follow') return method.bind(store);
      return async (...args: unknown[]) => structuredClone(await method.apply(store, structuredClone(args)));
    },
  });
}
