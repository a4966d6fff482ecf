// The command line: finds the command, reads its options, and turns whatever comes out into an exit code.
import { parseArgs } from 'node:util';
import { type Call, type Command, EXIT, note, out, outJson, UsageError } from './command.ts';
import { COMMANDS } from './commands.ts';

const GLOBAL = {
  directory: { type: 'string', short: 'C' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await run(argv);
}

async function run(argv: readonly string[]): Promise<number> {
  const wantsJson = argv.includes('--json');
  try {
    return await dispatch(argv);
  } catch (error) {
    return report(error, wantsJson);
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const { name, rest } = split(argv);
  if (name === null) {
    if (rest.includes('--version')) {
      out(await version());
      return EXIT.ok;
    }
    const { overview } = await import('./help.ts');
    out(overview());
    return rest.includes('--help') || rest.includes('-h') || rest.length === 0 ? EXIT.ok : EXIT.usage;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) throw new UsageError(`there is no command ${name}; \`baton --help\` lists them`);
  const call = read(command, rest);
  if (call.values.help === true) {
    const { helpOf } = await import('./help.ts');
    out(helpOf(command));
    return EXIT.ok;
  }
  return (await command.load()).run(call);
}

/** The first word that is neither an option nor the value of `-C` names the command. */
function split(argv: readonly string[]): { name: string | null; rest: readonly string[] } {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '-C' || word === '--directory') index++;
    else if (!word.startsWith('-')) return { name: word, rest: [...argv.slice(0, index), ...argv.slice(index + 1)] };
  }
  return { name: null, rest: argv };
}

function read(command: Command, rest: readonly string[]): Call {
  try {
    const { values, positionals } = parseArgs({
      args: [...rest],
      options: { ...GLOBAL, ...command.options },
      allowPositionals: true,
      strict: true,
    });
    return { command, values, words: positionals, json: values.json === true, cwd: process.cwd(), env: process.env };
  } catch (error) {
    throw new UsageError(`${firstSentence((error as Error).message)} (\`baton ${command.name} --help\`)`);
  }
}

function firstSentence(message: string): string {
  return message.split('. ')[0] ?? message;
}

async function version(): Promise<string> {
  const { readFileSync } = await import('node:fs');
  const file = new URL('../../package.json', import.meta.url);
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}

/** One clear line for people; where JSON was asked for, the same as a verdict. */
function report(error: unknown, json: boolean): number {
  const { name, message, code, stack } = error as Error & { code?: string };
  const isUsage =
    error instanceof UsageError ||
    name === 'UnreadableFile' ||
    (error as Error)?.constructor?.name === 'UnreadableFile';
  const isStorage = (error as Error)?.constructor?.name === 'StorageError';
  const verdictCode = isUsage ? 'BAD_USAGE' : isStorage ? (code ?? 'STORAGE_FAILED') : 'INTERNAL';
  note(`baton: ${message}`);
  if (!isUsage && !isStorage && process.env.BATON_DEBUG) note(stack ?? '');
  if (json) outJson({ allow: false, code: verdictCode, reason: message, details: {} });
  return isUsage ? EXIT.usage : EXIT.fault;
}
