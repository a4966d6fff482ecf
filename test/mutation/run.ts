// Mutation testing: breaks the rules one by one and asks whether a test notices. All of it takes hours, so a run may take a part:
//   npm run mutate -- 3/20              every twentieth file, from the third on
//   npm run mutate -- src/kernel/gate   the files of a folder
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const REPORT = join(ROOT, 'node_modules/.cache/mutation/report.json');
const FOLDERS = ['src/kernel', 'src/dialects', 'src/approvals', 'src/audit'];

type Report = {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
};
type Mutant = {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number } };
};

const [wanted] = process.argv.slice(2);
const files = filesOf(wanted);
if (files.length === 0) {
  console.error(`no file to mutate in ${wanted}; name a folder below ${FOLDERS.join(', ')}, or a part such as 3/20`);
  process.exit(2);
}
const config = join(import.meta.dirname, 'stryker.config.json');
const args = ['run', config, '--mutate', files.join(',')];
const { status } = spawnSync(join(ROOT, 'node_modules/.bin/stryker'), args, { cwd: ROOT, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
tell(JSON.parse(readFileSync(REPORT, 'utf8')) as Report);

function filesOf(part: string | undefined): readonly string[] {
  const folders = part?.startsWith('src/') ? [part] : FOLDERS;
  const all = folders
    .flatMap((folder) => globSync(folder.endsWith('.ts') ? folder : `${folder}/**/*.ts`, { cwd: ROOT }))
    .filter((path) => FOLDERS.some((folder) => path.startsWith(folder)))
    .filter((path) => !path.endsWith('.test.ts') && !path.includes('/fixtures/'))
    .sort();
  const every = /^(\d+)\/(\d+)$/.exec(part ?? '');
  if (!every) return part === undefined || part.startsWith('src/') ? all : [];
  const [first, step] = [Number(every[1]), Number(every[2])];
  return all.filter((_path, index) => index % step === first - 1);
}

/** A line for each mutant that no test noticed, then the count. */
function tell({ files: reported }: Report): void {
  const count = { noticed: 0, all: 0 };
  for (const [path, { source, mutants }] of Object.entries(reported)) {
    const lines = source.split('\n');
    for (const { status: outcome, mutatorName, replacement = '', location } of mutants) {
      // Of a mutant that the runner itself failed on nothing is known.
      if (['Ignored', 'CompileError', 'RuntimeError'].includes(outcome)) continue;
      count.all++;
      if (outcome === 'Killed' || outcome === 'Timeout') count.noticed++;
      else {
        const { line } = location.start;
        const now = replacement.split('\n')[0];
        console.log(`${path}:${line} ${mutatorName} -> ${now}\n    ${lines[line - 1]?.trim()}`);
      }
    }
  }
  const rate = ((100 * count.noticed) / Math.max(1, count.all)).toFixed(1);
  console.log(`${count.noticed} of ${count.all} mutants in ${files.length} files noticed (${rate} %)`);
}
