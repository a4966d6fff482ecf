// Sets a workspace up: a first configuration, copied from the bundled one, with its prompts and the lock that pins them, for an
// agent that is on this machine. It overwrites nothing.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Detected, detectAgents } from '../../agents/detect.ts';
import { trustFolder } from '../../git/folder-trust.ts';
import { untrustedDrivers } from '../../git/run-git.ts';
import { DEFAULT_RUNNER } from '../../kernel/capabilities.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { MANIFEST_PATH } from '../../trust/registry-json.ts';
import { SCHEMA_NAME, schemaReference } from '../../workspace/config-schema-reference.ts';
import { detectProject, type Project } from '../../workspace/detect-project.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { readJsonFile } from '../../workspace/load-config.ts';
import { approvalsOf } from '../../workspace/registry-approvals.ts';
import { hasRegistry, writeRegistryLock } from '../../workspace/registry-lock.ts';
import { UsageError } from '../../workspace/usage-error.ts';
import { proposedWorktree } from '../../workspace/worktree/propose.ts';
import type { Run } from '../operation.ts';
import { Asks } from '../refused.ts';
import { bringIntoForce } from '../registry-in-force.ts';
import { IGNORES_ITSELF } from '../state-folder.ts';
import type { FieldsOf } from './table.ts';

const PACKAGE = resolve(dirname(BUNDLED), '..', '..');

export const run: Run<FieldsOf<'init'>> = async (workspace, { agent: wanted, force = false }, { actor }) => {
  const { dir, env, program } = workspace;
  const home = join(dir, '.baton');
  const config = join(home, 'config.json');
  if (existsSync(config) && !force) {
    throw new UsageError(
      `${config} is there already; edit it, or replace it with \`${program} init --force\` (a copy of the old one stays)`,
    );
  }
  if (existsSync(home) && !statSync(home).isDirectory())
    throw new UsageError(`${home} is a file; move it away, so that a folder of that name can be made`);
  const project = detectProject(dir);
  const proposed = { ...checkersOf(project), ...(await proposedWorktree(dir, project)) };
  const agents = await detectAgents(env);
  const agent = agentToUse(agents, wanted);
  mkdirSync(home, { recursive: true });
  const written = [
    ...scaffoldConfig(home, config, agent, proposed),
    ...scaffoldPrompts(home),
    ...scaffoldRegistry(home),
    ...writeOnce(home, '.gitignore', 'state/\n'),
    // A prompt is pinned by its bytes: git must not turn its line ends.
    ...writeOnce(home, '.gitattributes', 'prompts/** -text\n'),
  ].map((name) => `.baton/${name}`);
  await bringIntoForce(workspace.ledgerStore({ begins: true }), workspace, actor.name);
  // The files it wrote are known to be safe; filters that git brings along were not checked by a person.
  const drivers = await untrustedDrivers(dir);
  trustFolder(dir, env, new Date().toISOString(), drivers.length === 0);
  const runner = agent?.name ?? null;
  const signedIn = agent !== null && agent.signedInBy !== null;
  const found = { sorts: [...project.sorts], agents: agents.map((one) => ({ ...one })) };
  return allow(`${dir} is set up`, { workspace: dir, written, runner, signedIn, ...proposed, ...found });
};

/** Of the agents that start, those that somebody is signed in to; without any, all that start. */
function agentToUse(found: readonly Detected[], wanted: string | undefined): Detected | null {
  if (wanted !== undefined) return found.find(({ name }) => name === wanted) ?? null;
  const installed = found.filter(({ path, fault }) => path !== null && fault === null);
  const ready = installed.filter(({ signedInBy }) => signedInBy !== null);
  const [first, second, ...others] = ready.length > 0 ? ready : installed;
  if (!first || !second) return first ?? null;
  const names = [first.name, second.name, ...others.map(({ name }) => name)] as const;
  const reason = `several agents would do: ${names.join(', ')}; say which one (agent)`;
  const refusal = deny('NOT_ALLOWED_NOW', reason, { agents: [...names] });
  throw new Asks(refusal, 'Which agent shall the workspace use?', { field: 'agent', of: names });
}

/** Names the runner in every agent of the configuration. Without a name the runner is claude. */
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

/** A registry that is there stays as it is: pinning prompts again is a decision of its own. */
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
