// A person as a runner, for the suite of promises. There is none in Baton: nothing is dispatched, the cast waits and is told
// what the person says. So a whole cast with one such turn is driven in memory, and the person thinks by asking a model.
import { dialects } from '../../src/dialects/index.ts';
import { Decider } from '../../src/engine/decider.ts';
import { Engine } from '../../src/engine/drive.ts';
import { LocalStore } from '../../src/engine/local-store.ts';
import type { Runner } from '../../src/engine/ports.ts';
import type { Cast } from '../../src/kernel/cast/state.ts';
import { resolve } from '../../src/kernel/graph/resolve.ts';
import type { Request } from '../../src/kernel/input.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Verdict } from '../../src/kernel/verdict.ts';
import { MemoryLog } from '../../src/log/memory.ts';

const NOBODY = {
  runnerFor(): never {
    throw new Error('something was dispatched for a person');
  },
};

export type Asked = {
  /** What the person was shown. */
  readonly brief: string;
  answer(text: string): Promise<Verdict>;
  cast(): Promise<Cast>;
  /** The words of the accepted turn. */
  accepted(): Promise<string | undefined>;
};

/** A cast that waits for a person. */
export async function asked(dir: string, prompt: string, socket: JsonObject = {}): Promise<Asked> {
  const log = new MemoryLog();
  const store = new LocalStore(await Decider.open(log, dialects));
  const config = {
    materia: { P: { tools: 'none', runner: 'person', prompt } },
    loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'P', parse: 'text', ...socket } } } },
  };
  const engine = new Engine({ store, runners: NOBODY, cwd: dir, configDir: dir, stateDir: dir });
  const submit = async (request: Request) => {
    const { promise, resolve: settle } = Promise.withResolvers<Verdict>();
    await engine.drive('c', async () => settle(await store.submit(request, { name: 'test' })));
    return promise;
  };
  const start = { kind: 'cast.start', cast: 'c', request: 'do it', loadout: 'L', rules: resolve(config, 'L') } as const;
  await submit({ ...start, script: null });
  const cast = async () => {
    const found = await store.view('cast', 'c');
    if (!found) throw new Error('the cast was not started');
    return found;
  };
  const facts = async () => (await store.read({ after: 0, cast: 'c' })).map(({ fact }) => fact);
  const [brief = ''] = (await facts()).flatMap((fact) => ('brief' in fact ? [String(fact.brief)] : []));
  return {
    brief,
    cast,
    answer: (output) => submit({ kind: 'turn.answer', cast: 'c', output }),
    accepted: async () => (await facts()).flatMap((f) => (f.kind === 'turn.accepted' ? [f.output] : [])).at(0),
  };
}

export function personRunner(url: string): Runner {
  return {
    async run({ brief }, { cwd }) {
      const turn = await asked(cwd, brief);
      if ((await turn.cast()).status !== 'waiting') throw new Error('the cast does not wait for the person');
      const verdict = await turn.answer(await thought(url, turn.brief));
      if (!verdict.allow) return { kind: 'fault', fault: 'refused', reason: verdict.reason };
      return { kind: 'output', output: (await turn.accepted()) ?? '' };
    },
    recover: async () => ({ kind: 'lost', mayHaveRun: false, reason: 'the cast waits as before' }),
  };
}

async function thought(url: string, content: string): Promise<string> {
  const body = JSON.stringify({ model: 'some-model', messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer key' };
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  const said = (await response.json()) as { choices: readonly { message: { content: string } }[] };
  return said.choices[0]?.message.content ?? '';
}
