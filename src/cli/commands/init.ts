// `baton init`: a first configuration, copied from the bundled one. It never overwrites what is there.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BUNDLED } from '../../workspace/find-config.ts';
import { type Call, EXIT, flag, out, outJson, UsageError } from '../command.ts';
import { workspaceAt } from '../find-workspace.ts';

export async function run(call: Call): Promise<number> {
  const { dir } = workspaceAt(call);
  const home = join(dir, '.baton');
  const config = join(home, 'config.json');
  if (existsSync(config) && !flag(call.values, 'force')) {
    throw new UsageError(
      `${config} is there already; edit it, or replace it with \`baton init --force\` (the old one is kept beside it)`,
    );
  }
  if (existsSync(home) && !statSync(home).isDirectory())
    throw new UsageError(`${home} is a file; move it away, so that a folder of that name can be made`);
  mkdirSync(join(home, 'prompts'), { recursive: true });
  const written: string[] = [];
  if (existsSync(config)) written.push(`.baton/${keep(config)}`);
  const { $schema: _schema, ...rest } = JSON.parse(readFileSync(BUNDLED, 'utf8'));
  writeFileSync(config, `${JSON.stringify(rest, null, 2)}\n`);
  written.push('.baton/config.json');
  const prompts = join(BUNDLED, '..', 'prompts');
  for (const name of readdirSync(prompts)) {
    const target = join(home, 'prompts', name);
    if (existsSync(target)) continue;
    copyFileSync(join(prompts, name), target);
    written.push(`.baton/prompts/${name}`);
  }
  const ignore = join(home, '.gitignore');
  if (!existsSync(ignore)) {
    writeFileSync(ignore, 'state/\n');
    written.push('.baton/.gitignore');
  }
  if (call.json) outJson({ workspace: dir, written });
  else {
    for (const file of written) out(`wrote ${file}`);
    out('Next: `baton check` looks for mistakes, `baton cast --dry-run "…"` shows the first brief.');
  }
  return EXIT.ok;
}

/** Copies the configuration to a name that is free, so that no older copy is lost either. */
function keep(config: string): string {
  let kept = `${config}.old`;
  for (let number = 2; existsSync(kept); number++) kept = `${config}.old.${number}`;
  copyFileSync(config, kept);
  return basename(kept);
}
