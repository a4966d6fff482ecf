// Which files git is told to ignore is itself a file, which whoever works may change. What was not ignored when the work
// began still counts when it ends: the rules of the beginning are kept, and asked again about what is ignored now.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ChangesError } from './changes-mark.ts';

/** The text of each `.gitignore`, by its path. */
export type IgnoreRules = Readonly<Record<string, string>>;

/** Asks git in a folder, with something on its standard input. */
export type AskGit = (
  folder: string,
  args: readonly string[],
  input?: Buffer,
) => Promise<{ readonly code: number | null; readonly out: Buffer }>;

/** The rules in force below the folder. A `.gitignore` that is itself ignored belongs to what is ignored. */
export async function ignoreRules(root: string, ask: AskGit): Promise<IgnoreRules> {
  const list = ['ls-files', '-z', '-c', '-o', '--exclude-standard', '--', '.gitignore', '**/.gitignore'];
  const { out } = await ask(root, list);
  const rules: Record<string, string> = {};
  for (const path of namesIn(out)) {
    try {
      rules[path] = readFileSync(join(root, path), 'utf8');
    } catch {
      // It stands in the index and not in the folder.
    }
  }
  return rules;
}

/** The files that git ignores now and did not ignore by the rules of before. None where the rules are the same. */
export async function newlyIgnored(
  root: string,
  before: IgnoreRules,
  exclude: string,
  ask: AskGit,
): Promise<readonly Buffer[]> {
  const now = await ignoreRules(root, ask);
  const paths = new Set([...Object.keys(before), ...Object.keys(now)]);
  if ([...paths].every((path) => before[path] === now[path])) return [];
  const { code, out } = await ask(root, ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--', '.']);
  if (code !== 0) throw new ChangesError(`git cannot list what it ignores in ${root}`);
  if (out.length === 0) return [];
  const still = await ignoredBy(before, exclude, out, ask);
  return splitNames(out).filter((name) => !still.has(name.toString('latin1')));
}

/** Which of these names the rules ignore, asked in an empty repository that has them and nothing else. */
async function ignoredBy(
  rules: IgnoreRules,
  exclude: string,
  names: Buffer,
  ask: AskGit,
): Promise<ReadonlySet<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-ignore-'));
  try {
    await ask(folder, ['init', '-q', '.']);
    for (const [path, text] of Object.entries(rules)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    try {
      mkdirSync(join(folder, '.git/info'), { recursive: true });
      copyFileSync(exclude, join(folder, '.git/info/exclude'));
    } catch {
      // The repository has no rules of its own beside those of its files.
    }
    const { code, out } = await ask(folder, ['check-ignore', '--no-index', '-z', '--stdin'], names);
    if (code !== 0 && code !== 1) throw new ChangesError('git cannot tell what the earlier .gitignore ignored');
    return new Set(splitNames(out).map((name) => name.toString('latin1')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function namesIn(output: Buffer): readonly string[] {
  return splitNames(output).map((name) => name.toString('utf8'));
}

function splitNames(output: Buffer): readonly Buffer[] {
  const names: Buffer[] = [];
  let from = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, from)) {
    names.push(output.subarray(from, end));
    from = end + 1;
  }
  return names;
}
