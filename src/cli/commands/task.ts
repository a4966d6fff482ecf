// `baton task`: the ledger by hand. Each of its words is a command of its own.
import { again, type Call, EXIT, out, outJson, UsageError } from '../command.ts';

type Sub = {
  readonly name: string;
  readonly args: string;
  readonly does: string;
  readonly words: readonly [number, number];
  readonly options: readonly string[];
  load(): Promise<{ run(call: Call): Promise<number> }>;
};

const SUBS: readonly Sub[] = [
  {
    name: 'create',
    args: 'FILE [--root DIR] [--retries N]',
    does: 'put one assignment packet into the ledger',
    words: [1, 1],
    options: ['root', 'retries'],
    load: () => import('./task/create.ts'),
  },
  {
    name: 'claim',
    args: 'TASK --owner NAME [--pid N] [--run ID] [--expected-version N]',
    does: 'take a task and all its locks in one step',
    words: [1, 1],
    options: ['owner', 'pid', 'run', 'expected-version'],
    load: () => import('./task/claim.ts'),
  },
  {
    name: 'next',
    args: '--owner NAME [--pid N] [--run ID]',
    does: 'find the best task that can start now, and claim it',
    words: [0, 0],
    options: ['owner', 'pid', 'run'],
    load: () => import('./task/claim.ts'),
  },
  {
    name: 'finish',
    args: 'FILE --fence N',
    does: 'hand in one result; what it claims is checked',
    words: [1, 1],
    options: ['fence'],
    load: () => import('./task/finish.ts'),
  },
  {
    name: 'move',
    args: 'TASK STATUS --reason TEXT [--code CODE] [--owner NAME] [--fence N] [--expected-version N] [--run ID]',
    does: 'move a task by hand',
    words: [2, 2],
    options: ['reason', 'code', 'owner', 'fence', 'expected-version', 'run'],
    load: () => import('./task/move.ts'),
  },
  {
    name: 'list',
    args: '[--run ID] [--status STATUS]',
    does: 'the rows of the ledger',
    words: [0, 0],
    options: ['run', 'status'],
    load: () => import('./task/list.ts'),
  },
  {
    name: 'apply',
    args: 'FILE [--run ID]',
    does: 'apply deltas, or an orchestrator’s whole envelope',
    words: [1, 1],
    options: ['run'],
    load: () => import('./task/apply.ts'),
  },
];

const EVERYWHERE = ['json', 'help', 'directory'];

export async function run(call: Call): Promise<number> {
  const [word, ...words] = call.words;
  if (word === undefined) return overview(call);
  const sub = SUBS.find(({ name }) => name === word);
  const program = `${again(call)} task`;
  if (!sub)
    throw new UsageError(`there is no ${program} ${word}; there are: ${SUBS.map(({ name }) => name).join(', ')}`);
  const odd = Object.keys(call.values).find((name) => !sub.options.includes(name) && !EVERYWHERE.includes(name));
  if (odd !== undefined)
    throw new UsageError(`${program} ${word} has no --${odd}; say: ${program} ${word} ${sub.args}`);
  const [min, max] = sub.words;
  if (words.length < min || words.length > max) throw new UsageError(`say: ${program} ${word} ${sub.args}`);
  return (await sub.load()).run({ ...call, words });
}

function overview(call: Call): number {
  if (call.json) outJson(SUBS.map(({ name, args, does }) => ({ name, args, does })));
  else for (const { name, args, does } of SUBS) out(`${again(call)} task ${name} ${args}\n    ${does}`);
  return EXIT.ok;
}
