// An empty repository without a run of git, for the many tests that begin with one.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = Ada
\temail = ada@example.org
[maintenance]
\tauto = false
`;

/** Leaves what `git init -q -b main` leaves, with an author, and without sample hooks and a process of maintenance after each commit. */
export function initRepository(dir: string): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'hooks', 'info'])
    mkdirSync(join(dir, '.git', folder), { recursive: true });
  writeFileSync(join(dir, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(dir, '.git/config'), CONFIG);
}
