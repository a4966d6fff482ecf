// `baton init`: a first configuration, copied from the bundled one, with its prompts and the lock that pins them. It
// never overwrites what is there.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { MANIFEST_PATH } from '../../dialects/governed/load.ts';
import { SCHEMA_NAME, schemaReference } from '../../workspace/config-schema-reference.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { hasRegistry, writeRegistryLock } from '../../workspace/registry-lock.ts';
import { again, type Call, EXIT, flag, out, outJson, UsageError } from '../command.ts';
import { workspaceAt } from '../find-workspace.ts';

const PACKAGE = resolve(dirname(BUNDLED), '..', '..');

export async function run(call: Call): Promise<number> {
  const { dir } = workspaceAt(call);
  const home = join(dir, '.baton');
  const config = join(home, 'config.json');
  if (existsSync(config) && !flag(call.values, 'force')) {
    throw new UsageError(
      `${config} is there already; edit it, or replace it with \`${again(call)} init --force\` (the old one is kept beside it)`,
    );
  }
  if (existsSync(home) && !statSync(home).isDirectory())
    throw new UsageError(`${home} is a file; move it away, so that a folder of that name can be made`);
  mkdirSync(home, { recursive: true });
  const written = [
    ...scaffoldConfig(home, config),
    ...scaffoldPrompts(home),
    ...scaffoldRegistry(home),
    ...writeOnce(home, '.gitignore', 'state/\n'),
    // A prompt is pinned by its bytes: git must not turn its line ends.
    ...writeOnce(home, '.gitattributes', 'prompts/** -text\n'),
  ].map((name) => `.baton/${name}`);
  if (call.json) outJson({ workspace: dir, written });
  else {
    for (const file of written) out(`wrote ${file}`);
    const baton = again(call);
    out(`Next: \`${baton} check\` looks for mistakes, \`${baton} cast --dry-run "…"\` shows the first brief.`);
  }
  return EXIT.ok;
}

function scaffoldConfig(home: string, config: string): string[] {
  const kept = existsSync(config) ? [keep(config)] : [];
  const { $schema, copied } = schemaReference(home, PACKAGE);
  const bundled = JSON.parse(readFileSync(BUNDLED, 'utf8'));
  writeFileSync(config, `${JSON.stringify({ ...bundled, $schema }, null, 2)}\n`);
  if (!copied) return [...kept, 'config.json'];
  copyFileSync(join(PACKAGE, 'schemas', SCHEMA_NAME), join(home, SCHEMA_NAME));
  return [...kept, 'config.json', SCHEMA_NAME];
}

function scaffoldPrompts(home: string): string[] {
  mkdirSync(join(home, 'prompts'), { recursive: true });
  const prompts = join(dirname(BUNDLED), 'prompts');
  const missing = readdirSync(prompts).filter((name) => !existsSync(join(home, 'prompts', name)));
  for (const name of missing) copyFileSync(join(prompts, name), join(home, 'prompts', name));
  return missing.map((name) => `prompts/${name}`);
}

/** A registry that is there stays as it is: pinning prompts anew is a decision of its own. */
function scaffoldRegistry(home: string): string[] {
  if (hasRegistry(home)) return [];
  mkdirSync(join(home, dirname(MANIFEST_PATH)), { recursive: true });
  copyFileSync(join(dirname(BUNDLED), MANIFEST_PATH), join(home, MANIFEST_PATH));
  const { file } = writeRegistryLock(home);
  return [MANIFEST_PATH, `${dirname(MANIFEST_PATH)}/${basename(file)}`];
}

function writeOnce(home: string, name: string, text: string): string[] {
  if (existsSync(join(home, name))) return [];
  writeFileSync(join(home, name), text);
  return [name];
}

/** Copies the configuration to a name that is free, so that no older copy is lost either. */
function keep(config: string): string {
  let kept = `${config}.old`;
  for (let number = 2; existsSync(kept); number++) kept = `${config}.old.${number}`;
  copyFileSync(config, kept);
  return basename(kept);
}
