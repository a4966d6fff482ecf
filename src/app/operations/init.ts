// Sets a workspace up: a team from a template with its prompts, and a configuration for an agent that is on this machine. It pins
// nothing and overwrites nothing.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type DetectedAgent, detectAgents } from '../../agents/detect.ts';
import { trustFolder } from '../../git/folder-trust.ts';
import { hasUntrustedCommands } from '../../git/run-git.ts';
import { DEFAULT_RUNNER } from '../../kernel/capabilities.ts';
import { isObject, isText, type JsonObject, objectAt } from '../../kernel/json.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { detectProject, type Project } from '../../utilities/detect-project.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { readJsonFile, SCHEMA_NAME, schemaReference } from '../../workspace/load-config.ts';
import { UsageError } from '../../workspace/locate.ts';
import { proposedWorktree } from '../../workspace/worktree/repository.ts';
import { AsksPerson } from '../refused.ts';
import { bringIntoForce } from '../registry-in-force.ts';
import { IGNORES_ITSELF } from '../workspace.ts';
import { BUNDLED_LOADOUTS, DEFAULT_TEMPLATE } from './project.ts';
import type { Operation } from './table.ts';

const PACKAGE = resolve(dirname(BUNDLED), '..', '..');
const TEMPLATES = join(dirname(BUNDLED), 'templates');
/** What a team may use in one cast before it asks. */
const BUDGET = { maxTokens: 10_000_000, warnAtPercent: 75 };

export const initWorkspace: Operation<'init'> = async (workspace, input, { actor }) => {
  const { agent: wanted, template = DEFAULT_TEMPLATE, force = false } = input;
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
  const runner = agent?.name ?? wanted ?? null;
  mkdirSync(home, { recursive: true });
  const written = [
    ...scaffoldConfig(home, config, { template, runner: runner ?? DEFAULT_RUNNER, proposed }),
    ...scaffoldTeam(home, template),
    ...writeOnce(home, '.gitignore', 'state/\n'),
    // A prompt may be pinned by its bytes later: git must not change its line ends.
    ...writeOnce(home, '.gitattributes', 'prompts/** -text\n'),
  ].map((name) => `.baton/${name}`);
  await bringIntoForce(workspace.ledgerStore({ begins: true }), workspace, actor);
  // The files it wrote are known to be safe; filters that git brings along were not checked by a person.
  trustFolder(dir, env, new Date().toISOString(), !(await hasUntrustedCommands(dir)));
  const signedIn = agent !== null && agent.signedInBy !== null;
  const found = { sorts: [...project.sorts], agents: agents.map((one) => ({ ...one })) };
  const done = { workspace: dir, template, written, runner: agent?.name ?? null, signedIn };
  return allow(`${dir} is set up`, { ...done, ...proposed, ...found });
};

/** Of the agents that start, those that somebody is signed in to; without any, all that start. */
function agentToUse(found: readonly DetectedAgent[], wanted: string | undefined): DetectedAgent | null {
  if (wanted !== undefined) return found.find(({ name }) => name === wanted) ?? null;
  const installed = found.filter(({ path, fault }) => path !== null && fault === null);
  const ready = installed.filter(({ signedInBy }) => signedInBy !== null);
  const [first, second, ...others] = ready.length > 0 ? ready : installed;
  if (!first || !second) return first ?? null;
  const names = [first.name, second.name, ...others.map(({ name }) => name)] as const;
  const reason = `several agents would do: ${names.join(', ')}; say which one (agent)`;
  const refusal = deny('NOT_ALLOWED_NOW', reason, { agents: [...names] });
  throw new AsksPerson(refusal, 'Which agent shall the workspace use?', { field: 'agent', of: names });
}

/** What the project is checked by, as checkers of the configuration. */
function checkersOf({ checks }: Project): { readonly checkers?: JsonObject } {
  if (checks.length === 0) return {};
  return { checkers: Object.fromEntries(checks.map(({ name, command, when }) => [name, { command, when }])) };
}

type Scaffold = { readonly template: string; readonly runner: string; readonly proposed: JsonObject };

function scaffoldConfig(home: string, config: string, { template, runner, proposed }: Scaffold): string[] {
  const kept = existsSync(config) ? [keep(config)] : [];
  const { $schema, copied } = schemaReference(home, PACKAGE);
  const team = isBundled(template) ? bundledTeam(template).parts : {};
  const json = { $schema, activeLoadout: template, defaults: { runner }, budget: BUDGET, ...proposed, ...team };
  writeFileSync(config, `${JSON.stringify(json, null, 2)}\n`);
  if (!copied) return [...kept, 'config.json'];
  copyFileSync(join(PACKAGE, 'schemas', SCHEMA_NAME), join(home, SCHEMA_NAME));
  return [...kept, 'config.json', SCHEMA_NAME];
}

function isBundled(template: string): boolean {
  return BUNDLED_LOADOUTS.some((name) => name === template);
}

/** A bundled loadout with the materia that it uses, and the files of their prompts. Nothing of the copy is pinned. */
function bundledTeam(name: string): { readonly parts: JsonObject; readonly prompts: readonly string[] } {
  const config = readJsonFile(BUNDLED) as JsonObject;
  const loadout = objectAt(objectAt(config, 'loadouts'), name);
  const used = Object.values(objectAt(loadout, 'sockets')).map((socket) => (isObject(socket) ? socket.materia : null));
  const materia = Object.entries(objectAt(config, 'materia')).flatMap(([id, written]) => {
    if (!used.includes(id) || !isObject(written)) return [];
    const { identity: _pinned, ...rest } = written;
    return [[id, rest] as const];
  });
  const prompts = materia.flatMap(([, { promptFile }]) => (isText(promptFile) ? [promptFile] : []));
  return { parts: { materia: Object.fromEntries(materia), loadouts: { [name]: loadout } }, prompts };
}

/** The loadout, the prompts and the guide of a template, or the prompts of a bundled loadout. What is there already stays. */
function scaffoldTeam(home: string, template: string): string[] {
  const isCopy = isBundled(template);
  const from = isCopy ? dirname(BUNDLED) : join(TEMPLATES, template);
  const prompts = isCopy
    ? bundledTeam(template).prompts
    : readdirSync(join(from, 'prompts')).map((name) => `prompts/${name}`);
  const files = [
    ...(isCopy ? [] : [['loadout.yaml', `loadouts/${template}.yaml`]]),
    ...prompts.toSorted().map((name) => [name, name]),
    ...(isCopy ? [] : [['README.md', 'README.md']]),
  ];
  return files.flatMap(([source = '', name = '']) => {
    if (existsSync(join(home, name))) return [];
    mkdirSync(dirname(join(home, name)), { recursive: true });
    copyFileSync(join(from, source), join(home, name));
    return [name];
  });
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
