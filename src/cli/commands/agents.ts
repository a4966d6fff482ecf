// `baton agents`: which agents are on this machine, in which version, and whether somebody is signed in; with `test`,
// whether they answer.
import { type Detected, detectAgents, PROGRAMS } from '../../agents/detect.ts';
import { keyVariableOf, runnersThat } from '../../kernel/capabilities.ts';
import { deny } from '../../kernel/verdict.ts';
import { SELF_TEST_MS, type SelfTest, selfTest } from '../agent-self-test.ts';
import { again, type Call, EXIT, note, out, outJson, Refused, text, UsageError } from '../command.ts';
import { oneLine } from '../safe-text.ts';
import { table } from '../table.ts';

/** Models asked directly: they need a key and nothing installed. */
const MODELS = runnersThat('isModelApi')
  .map((name) => ({ name, variable: keyVariableOf(name) ?? '' }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

export async function run(call: Call): Promise<number> {
  const [word, name] = call.words;
  if (word === undefined) return list(call);
  if (word !== 'test') throw new UsageError(`say: ${again(call)} agents, or ${again(call)} agents test [NAME]`);
  return test(call, name);
}

async function list(call: Call): Promise<number> {
  const found = await detectAgents(call.env);
  const models = MODELS.map(({ name, variable }) => ({ name, keySet: isSet(call, variable), variable }));
  if (call.json) {
    const agents = found.map((one) => ({ ...one, installed: one.path !== null, signedIn: one.signedInBy !== null }));
    outJson({ agents, models });
    return EXIT.ok;
  }
  const rows = found.map(({ name, path, version, fault, signedInBy, hint }) => [
    name,
    path === null ? 'not installed' : fault === null ? (version ?? 'unknown version') : 'does not start',
    path === null ? '' : signedInBy === null ? 'not signed in' : 'signed in',
    hint ?? path ?? '',
  ]);
  const keys = models.map(({ name, keySet, variable }) => [
    name,
    'model, no tools',
    keySet ? 'key is set' : 'no key',
    keySet ? variable : `set ${variable}`,
  ]);
  for (const line of table([...rows, ...keys], ['runner', 'version', 'sign-in', 'program, or what to do'])) out(line);
  out(`\nTry them with: ${again(call)} agents test`);
  return EXIT.ok;
}

async function test(call: Call, name: string | undefined): Promise<number> {
  const names = name === undefined ? installed(await detectAgents(call.env)) : [known(name)];
  if (names.length === 0) {
    const reason = `no agent is installed; \`${again(call)} agents\` says how to get one`;
    throw new Refused(deny('AGENT_UNAVAILABLE', reason));
  }
  const model = text(call.values, 'model') ?? null;
  const baseUrl = text(call.values, 'base-url');
  const results: SelfTest[] = [];
  // A program that was started outlives us unless it is told to end.
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  for (const one of names) {
    note(`asking ${one}, which has ${SELF_TEST_MS / 1000} s to answer …`);
    const options = { model, ...(baseUrl === undefined ? {} : { baseUrl }) };
    const result = await selfTest(one, options, stop.signal);
    results.push(result);
    if (!call.json) out(lineOf(result));
  }
  if (call.json) outJson({ ok: results.every(({ ok }) => ok), results });
  return results.every(({ ok }) => ok) ? EXIT.ok : EXIT.denied;
}

function known(name: string): string {
  const names = [...PROGRAMS, ...MODELS.map((one) => one.name)] as readonly string[];
  if (names.includes(name)) return name;
  throw new UsageError(`there is no agent ${name}; use one of: ${names.join(', ')}`);
}

function installed(found: readonly Detected[]): readonly string[] {
  return found.filter(({ path }) => path !== null).map(({ name }) => name);
}

function isSet(call: Call, variable: string): boolean {
  return (call.env[variable] ?? '').trim() !== '';
}

function lineOf({ name, ok, said, code, model, tokens, ms }: SelfTest): string {
  const seconds = (ms / 1000).toFixed(1);
  if (!ok) return `✗ ${name}: ${oneLine(said.startsWith(`${code}: `) ? said : `${code}: ${said}`, 300)}`;
  const by = model === null ? '' : ` (${model})`;
  return `✓ ${name}${by} answered in ${seconds} s with ${tokens} tokens: ${oneLine(said, 60)}`;
}
