// `baton registry`: who exists, which bytes are pinned, what waits for a person. Each of its words is a command of its own.
import { again, type Call, UsageError } from '../command.ts';

type Sub = {
  readonly args: string;
  readonly words: readonly [number, number];
  readonly options: readonly string[];
  load(): Promise<{ run(call: Call): Promise<number> }>;
};

const SUBS: Readonly<Record<string, Sub>> = {
  lock: { args: '[--reason TEXT]', words: [0, 0], options: ['reason'], load: () => import('./registry-lock.ts') },
  verify: { args: '[--strict]', words: [0, 0], options: ['strict'], load: () => import('./registry-verify.ts') },
  list: { args: '', words: [0, 0], options: [], load: () => import('./registry-list.ts') },
  quarantine: { args: '', words: [0, 0], options: [], load: () => import('./registry-quarantine.ts') },
  release: {
    args: 'ID --reason TEXT [--outcome OUTCOME]',
    words: [1, 1],
    options: ['reason', 'outcome'],
    load: () => import('./registry-release.ts'),
  },
  import: { args: 'DIR', words: [1, 1], options: [], load: () => import('./registry-import.ts') },
};

const EVERYWHERE = ['json', 'help', 'directory'];

export async function run(call: Call): Promise<number> {
  const [word = '', ...words] = call.words;
  const sub = Object.hasOwn(SUBS, word) ? SUBS[word] : undefined;
  const program = `${again(call)} registry`;
  if (!sub) throw new UsageError(`there is no ${program} ${word}; there are: ${Object.keys(SUBS).join(', ')}`);
  const odd = Object.keys(call.values).find((name) => !sub.options.includes(name) && !EVERYWHERE.includes(name));
  if (odd !== undefined)
    throw new UsageError(`${program} ${word} has no --${odd}; say: ${program} ${word} ${sub.args}`);
  const [min, max] = sub.words;
  if (words.length < min || words.length > max) throw new UsageError(`say: ${program} ${word} ${sub.args}`);
  return (await sub.load()).run({ ...call, words });
}
