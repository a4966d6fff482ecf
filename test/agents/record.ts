// Records what the real programs print, for the tests that run without them: `node test/agents/record.ts [NAME…]`. Everything that
// differs from one run to the next is replaced, so that a new recording shows only what the programs do differently.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type Json } from '../../src/kernel/json.ts';
import { type Answers, modelServer } from '../../src/testing/index.ts';
import { assertInstalled, type Contender, type Ground, ground, IMPATIENT, PROGRAMS, packet } from './contenders.ts';

const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url));
/** OpenCode’s own names for conversations, messages and their parts. */
const OWN_ID = /\b(ses|msg|prt)_\w+/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

type Case = { readonly tools: 'none' | 'readOnly' | 'coding'; answers(contender: Contender, at: Ground): Answers };

const usage = { input: 120, output: 30 };
const writing = ({ write }: Contender, at: Ground): Answers => [
  { text: 'I write.', toolCalls: write ? [write(at, 'made.txt', 'by the agent')] : [], usage },
  { text: 'written', usage },
];

const CASES: Readonly<Record<string, Case>> = {
  said: { tools: 'none', answers: () => [{ text: '{"satisfied":true}', usage }] },
  wrote: { tools: 'coding', answers: writing },
  refused: { tools: 'readOnly', answers: writing },
  limited: {
    tools: 'none',
    answers: () => [
      { status: 429, retryAfterSeconds: 1 },
      { text: 'after the wait', usage },
    ],
  },
  unauthorized: { tools: 'none', answers: () => () => ({ status: 401, message: 'invalid api key' }) },
  overflow: {
    tools: 'none',
    answers: () => () => ({ status: 400, message: 'prompt is too long: 9 tokens > 8 maximum' }),
  },
  empty: { tools: 'none', answers: () => () => '' },
};

assertInstalled();
const named = process.argv.slice(2);
for (const contender of PROGRAMS.filter(({ name }) => named.length === 0 || named.includes(name))) {
  mkdirSync(join(FIXTURES, contender.name), { recursive: true });
  for (const [name, { tools, answers }] of Object.entries(CASES)) {
    const at = ground();
    const server = await modelServer({ answers: answers(contender, at) });
    const place = at.place();
    const runner = contender.runner(server.url, at, { retry: IMPATIENT });
    await runner.run(packet(contender, {}, tools), place, new AbortController().signal);
    const printed = readFileSync(join(place.attemptDir, 'stdout'), 'utf8').replaceAll(server.url, 'http://model');
    const lines = printed.replaceAll(at.cwd, '/project').replaceAll(at.home, '/home').trim().split('\n');
    const kept = lines.map((line) => JSON.stringify(plain(JSON.parse(line))));
    writeFileSync(join(FIXTURES, contender.name, `${name}.jsonl`), `${kept.join('\n')}\n`);
    await server.close();
    at.remove();
  }
}

/** Names, times and long lists of the program itself become the same in every recording. */
function plain(value: Json, key = ''): Json {
  if (Array.isArray(value)) {
    return /^(?:slash_commands|terminal_slash_commands|skills|plugins|agents)$/.test(key)
      ? []
      : value.map((one) => plain(one));
  }
  if (isObject(value)) {
    if (key === 'sections' || key === 'subagent_stats') return {};
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, name)]));
  }
  if (typeof value === 'number')
    return /(?:_ms|Ms|timestamp|^start|^end)$/.test(key) && !/retry|delay/.test(key) ? 0 : value;
  if (typeof value !== 'string') return value;
  if (key === 'messaging_socket_path') return '/socket';
  if (key === 'timestamp') return '2026-01-01T00:00:00.000Z';
  if (key === 'date') return 'Thu, 01 Jan 2026 00:00:00 GMT';
  return value.replace(UUID, '00000000-0000-4000-8000-000000000000').replace(OWN_ID, '$1_0');
}
