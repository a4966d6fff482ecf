// `baton init`: a first configuration, copied from the bundled one, with its prompts and the lock that pins them, for an
// agent that is on this machine. It never overwrites what is there.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Detected, detectAgents } from '../../agents/detect.ts';
import { bringIntoForce } from '../../app/driving/bring-into-force.ts';
import { IGNORES_ITSELF } from '../../app/state-folder.ts';
import { MANIFEST_PATH } from '../../dialects/governed/registry-json.ts';
import { trustFolder } from '../../git/folder-trust.ts';
import { untrustedDrivers } from '../../git/run-git.ts';
import { DEFAULT_RUNNER } from '../../kernel/capabilities.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { SCHEMA_NAME, schemaReference } from '../../workspace/config-schema-reference.ts';
import { detectProject, type Project } from '../../workspace/detect-project.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { readJsonFile } from '../../workspace/load-config.ts';
import { approvalsOf } from '../../workspace/registry-approvals.ts';
import { hasRegistry, writeRegistryLock } from '../../workspace/registry-lock.ts';
import { type ProposedWorktree, proposedWorktree } from '../../workspace/worktree/propose.ts';
import { ask } from '../ask.ts';
import { again, type Call, EXIT, flag, out, outJson, UsageError } from '../command.ts';
import { workspaceAt } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';

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
  const project = detectProject(dir);
  const worktree = await proposedWorktree(dir, project);
  const proposed = { ...checkersOf(project), ...worktree };
  const found = await detectAgents(call.env);
  const agent = await choose(found);
  mkdirSync(home, { recursive: true });
  const written = [
    ...scaffoldConfig(home, config, agent, proposed),
    ...scaffoldPrompts(home),
    ...scaffoldRegistry(home),
    ...writeOnce(home, '.gitignore', 'state/\n'),
    // A prompt is pinned by its bytes: git must not turn its line ends.
    ...writeOnce(home, '.gitattributes', 'prompts/** -text\n'),
  ].map((name) => `.baton/${name}`);
  await withLedger(call, ({ door, workspace, actor }) => bringIntoForce(door, workspace, actor.name), { begins: true });
  // What it wrote itself is known; nobody has looked at the filters that git brings along.
  const drivers = await untrustedDrivers(dir);
  trustFolder(dir, call.env, new Date().toISOString(), drivers.length === 0);
  const runner = agent?.name ?? null;
  if (call.json)
    outJson({ workspace: dir, written, runner, signedIn: agent !== null && agent.signedInBy !== null, ...proposed });
  else {
    for (const file of written) out(`wrote ${file}`);
    for (const line of projectLines(project, worktree)) out(line);
    for (const line of nextSteps(agent, found, again(call))) out(line);
    if (agent !== null && agent.signedInBy !== null && (await ask('Run your first cast now?'))) return firstCast(call);
  }
  return EXIT.ok;
}

const FIRST_REQUEST = 'Say what this project is in one sentence of its README';

/** As if it had been typed. It costs money, so that nobody gets here without having said yes. */
async function firstCast(call: Call): Promise<number> {
  const { COMMANDS } = await import('../commands.ts');
  const command = COMMANDS.find(({ name }) => name === 'cast') ?? call.command;
  const { run: cast } = await command.load();
  const { directory } = call.values;
  return cast({ ...call, command, words: [FIRST_REQUEST], values: directory === undefined ? {} : { directory } });
}

/** The agent to use, of those that start: one that somebody is signed in to before one that is only installed. Asked only where several would do. */
async function choose(found: readonly Detected[]): Promise<Detected | null> {
  const installed = found.filter(({ path, fault }) => path !== null && fault === null);
  const ready = installed.filter(({ signedInBy }) => signedInBy !== null);
  const [first = null, ...others] = ready.length > 0 ? ready : installed;
  for (const other of others) if (await ask(`Use ${other.name} instead of ${first?.name}?`)) return other;
  return first;
}

function nextSteps(agent: Detected | null, found: readonly Detected[], baton: string): string[] {
  const look = `Next: \`${baton} check\` looks for mistakes, \`${baton} cast --dry-run "…"\` shows the briefs.`;
  const cast = `${baton} cast "${FIRST_REQUEST}"`;
  if (agent === null) {
    const ways = found.map(({ name, hint }) => `  ${name}: ${hint}`);
    return [
      'No agent that works is on this machine. Install one of these, then cast:',
      ...ways,
      look,
      `Your first cast: ${cast}`,
    ];
  }
  const { name, version, signedInBy, hint } = agent;
  const using = `The agents run on ${name} ${version ?? ''}; \`runner\` in .baton/config.json names another.`.replace(
    ' ;',
    ';',
  );
  const signIn = signedInBy === null ? [`Nobody is signed in to ${name}: ${hint}.`] : [];
  return [using, ...signIn, look, `Your first cast: ${cast}`];
}

/** Every agent runs on the one that is there; claude is what no name means, and stays unnamed. */
function onRunner(materia: Json, agent: Detected | null): Json {
  if (!isObject(materia) || agent === null || agent.name === DEFAULT_RUNNER) return materia;
  const named = Object.entries(materia).map(([id, one]): [string, Json] => {
    const isAgent = isObject(one) && one.promptFile !== undefined;
    return [id, isAgent ? { runner: agent.name, ...one } : one];
  });
  return Object.fromEntries(named);
}

/** What the project is checked by, as checkers of the configuration. */
function checkersOf({ checks }: Project): { readonly checkers?: JsonObject } {
  if (checks.length === 0) return {};
  return { checkers: Object.fromEntries(checks.map(({ name, command, when }) => [name, { command, when }])) };
}

function projectLines({ checks, sorts }: Project, { worktree }: ProposedWorktree): string[] {
  const named = checks.map(({ name, command }) => `${name} (${command.join(' ')})`).join(', ');
  const ready = worktree && Object.entries(worktree).map(([field, value]) => `${field} ${JSON.stringify(value)}`);
  return [
    ...(checks.length > 0
      ? [`Checks of this ${sorts.join(' and ')} project: ${named}; \`checkers\` changes them.`]
      : []),
    ...(ready ? [`Worktrees of casts are made ready by ${ready.join(', ')}; \`worktree\` changes that.`] : []),
  ];
}

function scaffoldConfig(home: string, config: string, agent: Detected | null, project: JsonObject): string[] {
  const kept = existsSync(config) ? [keep(config)] : [];
  const { $schema, copied } = schemaReference(home, PACKAGE);
  const bundled = JSON.parse(readFileSync(BUNDLED, 'utf8')) as JsonObject;
  const materia = onRunner(bundled.materia ?? {}, agent);
  writeFileSync(config, `${JSON.stringify({ ...bundled, $schema, ...project, materia }, null, 2)}\n`);
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
  const { file } = writeRegistryLock(home, {
    approvals: approvalsOf(readJsonFile(join(home, 'config.json'))),
    at: new Date().toISOString(),
  });
  return [MANIFEST_PATH, `${dirname(MANIFEST_PATH)}/${basename(file)}`];
}

function writeOnce(home: string, name: string, text: string): string[] {
  if (existsSync(join(home, name)) && readFileSync(join(home, name), 'utf8') !== IGNORES_ITSELF) return [];
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
