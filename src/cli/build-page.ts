// The page of a checkout is built on its first use, by a server or before a browser is opened. A package brings it along.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildPage } from '../server/page-files.ts';

/** The built page, next to the sources or the compiled files. */
export const PAGE_DIR = fileURLToPath(new URL('../../web/dist', import.meta.url));

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Null where it is there, or where it cannot be built. */
export function pageBuilder(env: NodeJS.ProcessEnv): BuildPage | null {
  const isThere = () => existsSync(join(PAGE_DIR, 'index.html'));
  if (isThere() || !existsSync(join(ROOT, 'web', 'vite.config.ts'))) return null;
  return async () => {
    const built = spawn('npm', ['run', '--silent', 'build:webui'], { cwd: ROOT, env });
    let said = '';
    const hear = (chunk: Buffer) => {
      said += String(chunk);
    };
    for (const stream of [built.stdout, built.stderr]) stream.on('data', hear);
    const code = await new Promise<number | null>((done) => {
      built.once('error', (error) => {
        said += error.message;
        done(null);
      });
      built.once('close', done);
    });
    if (code === 0 && isThere()) return null;
    const why = said.trim().split('\n').slice(-5).join('\n');
    return `run \`npm install\` and \`npm run build:webui\` in ${ROOT}\n${why}`;
  };
}
