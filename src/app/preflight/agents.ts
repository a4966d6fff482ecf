// Checks what the agents of a cast need: a program that is there and starts, somebody who is signed in, the key of a model that is
// asked directly, a server that answers, and a sandbox that starts. What cannot be proved is a warning; a person who wants proof
// lets each runner be asked for one word.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { type DetectedAgent, detect, detectAgents, PROGRAMS } from '../../agents/detect.ts';
import { findExecutable } from '../../agents/environment.ts';
import { keyVariableOf, PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import type { Code } from '../../kernel/codes.ts';
import type { AgentMateria, Choice } from '../../kernel/graph/config.ts';
import { isString } from '../../kernel/json.ts';
import { connectionReason } from '../connection.ts';
import type { Context } from '../operation.ts';
import { errorFinding, type MachineFinding, okFinding, type PreflightContext, warningFinding } from './machine.ts';

/** Agents that run on the same program or service, in the same way. */
type Group = Pick<AgentMateria, 'runner' | 'baseUrl' | 'keyVariable' | 'command' | 'env' | 'args'> & {
  readonly ids: readonly string[];
  /** Another runner of the same agent may take its place. */
  readonly isSpare: boolean;
};

export async function agentFindings({
  workspace,
  needs,
  isDoctor,
  proved,
}: PreflightContext): Promise<readonly MachineFinding[]> {
  const { env, dir } = workspace;
  const groups = groupsOf(needs.agents).filter((group) => !proved.has(proofKey(group)));
  const used = [...new Set(needs.agents.flatMap((agent) => choicesOf(agent).map(({ runner }) => runner)))];
  const programs = PROGRAMS.filter((name) => isDoctor || used.includes(name));
  // Whether a program starts takes a second to find out; its first turn, which costs nothing then, tells it as well.
  const found = isDoctor
    ? await detectAgents(env)
    : await Promise.all(programs.map((name) => detect(name, env, false)));
  const detected = new Map<string, DetectedAgent>(found.map((each) => [each.name, each]));
  const findings = groups.flatMap((group) => softened(group, findingsOf(group, detected.get(group.runner), env, dir)));
  if (!isDoctor) return distinct([...findings, ...sandboxFindings(needs.agents, dir, env)]);
  const others = found.filter(({ name, path }) => path !== null && !used.includes(name)).map(unusedFinding);
  const isLacking =
    used.some((runner) => runnerCan(PRESENT, runner, 'isProgram')) && found.every(({ path, fault }) => !path || fault);
  return distinct([
    ...findings,
    ...others,
    ...(isLacking ? [errorFinding('agents', 'none is installed', LACKING, 'AGENT_UNAVAILABLE')] : []),
    ...sandboxFindings(needs.agents, dir, env),
  ]);
}

const LACKING = 'baton agents says how to install one; baton cast --agents SCRIPT works without';

/** A fallback takes the turn of a runner that is not there. */
function softened({ isSpare }: Group, findings: readonly MachineFinding[]): readonly MachineFinding[] {
  return isSpare ? findings.map((each) => (each.level === 'error' ? { ...each, level: 'warning' } : each)) : findings;
}

function distinct(findings: readonly MachineFinding[]): readonly MachineFinding[] {
  return findings.filter(
    ({ found, name }, at) => findings.findIndex((one) => one.found === found && one.name === name) === at,
  );
}

function choicesOf(agent: AgentMateria): readonly Choice[] {
  return [agent, ...(agent.fallbacks ?? [])];
}

function groupsOf(agents: readonly AgentMateria[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const agent of agents) {
    for (const choice of choicesOf(agent)) {
      const { runner, baseUrl, keyVariable } = choice;
      const { command, env, args } = agent;
      const where = {
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(keyVariable === undefined ? {} : { keyVariable }),
      };
      const own = runnerCan(PRESENT, runner, 'runsCommand') && command !== undefined ? { command } : {};
      const more = { ...(env === undefined ? {} : { env }), ...(args === undefined ? {} : { args }) };
      const key = JSON.stringify([runner, where, own, more]);
      const known = groups.get(key);
      const ids = [...new Set([...(known?.ids ?? []), agent.id])];
      const isSpare = (agent.fallbacks ?? []).length > 0 && (known?.isSpare ?? true);
      groups.set(key, { runner, ...where, ...own, ...more, ids, isSpare });
    }
  }
  return [...groups.values()];
}

/** Runners with the same key are proved by one answer. */
function proofKey({
  runner,
  baseUrl = '',
  keyVariable = '',
}: Pick<Group, 'runner' | 'baseUrl' | 'keyVariable'>): string {
  return JSON.stringify([runner, baseUrl, keyVariable]);
}

/** `build runs on it`, `build, review and 2 more run on it` */
function usersText(ids: readonly string[]): string {
  const [first = '', second, ...more] = ids;
  if (second === undefined) return `${first} runs on it`;
  return more.length === 0
    ? `${first} and ${second} run on it`
    : `${first}, ${second} and ${more.length} more run on it`;
}

function findingsOf(
  group: Group,
  found: DetectedAgent | undefined,
  env: NodeJS.ProcessEnv,
  dir: string,
): readonly MachineFinding[] {
  if (found) return [programFinding(group, found, env)];
  const { runner } = group;
  if (runnerCan(PRESENT, runner, 'isModelApi')) return keyFindings(group, env);
  return runnerCan(PRESENT, runner, 'runsCommand') ? ownProgramFindings(group, env, dir) : [];
}

function programFinding(
  group: Group,
  { name, path, version, fault, signedInBy, hint }: DetectedAgent,
  env: NodeJS.ProcessEnv,
): MachineFinding {
  const who = usersText(group.ids);
  if (path === null) return errorFinding(name, `not installed, and ${who}`, hint ?? '', 'AGENT_UNAVAILABLE');
  if (fault !== null) return errorFinding(name, `${path} does not start: ${fault}`, hint ?? '', 'AGENT_UNAVAILABLE');
  const at = version === null ? path : `${version} at ${path}`;
  if (signedInBy !== null) return okFinding(name, `${at}, signed in`);
  const why = whyUnproved(group, env);
  const ask = `baton agents test ${name} shows whether it answers`;
  if (why !== null) return warningFinding(name, `${at}; whether somebody is signed in cannot be seen: ${why}`, ask);
  const fix = `${hint}; if it is signed in by other means, cast with --probe`;
  return errorFinding(name, `${at}; no sign-in was found, and ${who}`, fix, 'AUTH_REQUIRED');
}

/** Variables by which a program signs in at a cloud, with the credentials of that cloud. */
const CLOUDS = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'];

/** Why a sign-in that was not found may be there all the same; null where nothing says so. */
function whyUnproved({ runner, baseUrl, env: named = [], args = [] }: Group, env: NodeJS.ProcessEnv): string | null {
  if (baseUrl !== undefined) return `the server at ${placeOf(baseUrl)} may ask for nothing`;
  if (runnerCan(PRESENT, runner, 'usesKeychain') && process.platform === 'darwin') return 'it may be in the keychain';
  const cloud = CLOUDS.find((name) => named.includes(name) && (env[name] ?? '') !== '');
  if (cloud !== undefined) return `${cloud} is set`;
  const own = named.find((name) => (env[name] ?? '') !== '');
  if (own !== undefined) return `it is given ${own}`;
  return args.length > 0 ? 'it is given arguments of your own' : null;
}

function unusedFinding({ name, path, version, fault, signedInBy, hint }: DetectedAgent): MachineFinding {
  if (fault !== null) return warningFinding(name, `${path} does not start: ${fault}`, hint ?? '');
  const at = `${version ?? 'unknown version'} at ${path}`;
  if (signedInBy !== null) return okFinding(name, `${at}, signed in`);
  return warningFinding(name, `${at}; no sign-in was found`, hint ?? '');
}

/** The key of a model that is asked directly. Another address may be a server that asks for no key. */
function keyFindings({ runner, baseUrl, keyVariable, ids }: Group, env: NodeJS.ProcessEnv): readonly MachineFinding[] {
  const usual = keyVariableOf(runner);
  const variable = keyVariable ?? usual;
  const isNeeded = variable !== undefined && (baseUrl === undefined || variable !== usual);
  if (!isNeeded || (env[variable] ?? '').trim() !== '') return [];
  return [errorFinding(runner, `no key, and ${usersText(ids)}`, `set ${variable}`, 'AUTH_REQUIRED')];
}

function ownProgramFindings(
  { runner, command = [], ids }: Group,
  env: NodeJS.ProcessEnv,
  dir: string,
): readonly MachineFinding[] {
  const [program, script] = command;
  if (!isString(program)) return [];
  // A script of the configuration was made absolute, and is run by our own Node.
  const file = program === 'node' && isString(script) && script.startsWith('/') ? script : program;
  if (findExecutable(program, env.PATH, dir) !== null && (file === program || existsSync(file))) return [];
  const found = `${file} was not found, or may not be run, and ${usersText(ids)}`;
  const fix = `install it, or correct command of materia.${ids[0]}`;
  return [errorFinding(runner, found, fix, 'AGENT_UNAVAILABLE')];
}

/** The least that every sandbox of ours does. */
const TRIAL = ['--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true'];

/** A sandbox that was asked for and cannot be started fails every turn in it. */
function sandboxFindings(
  agents: readonly AgentMateria[],
  dir: string,
  env: NodeJS.ProcessEnv,
): readonly MachineFinding[] {
  const id = agents.find(({ sandbox }) => sandbox === 'bwrap')?.id;
  if (id === undefined) return [];
  const program = findExecutable('bwrap', env.PATH, dir);
  const fix = `install bubblewrap, or take sandbox out of materia.${id}`;
  if (program === null)
    return [errorFinding('sandbox', `bwrap was not found, and ${id} runs in it`, fix, 'AGENT_UNAVAILABLE')];
  const { status, stderr } = spawnSync(program, TRIAL, { encoding: 'utf8', timeout: 10_000, env });
  if (status === 0) return [];
  const why = (stderr ?? '').trim().split('\n')[0] || 'it does not start';
  const how = 'let this user make namespaces (kernel.unprivileged_userns_clone, AppArmor), or take sandbox out';
  return [errorFinding('sandbox', `${program}: ${why}; ${id} runs in it`, how, 'AGENT_UNAVAILABLE')];
}

const CONNECT_MS = 3_000;

/** Configured addresses that do not answer. Behind a proxy only the proxy knows, so nothing is tried. */
export async function addressFindings({
  workspace,
  needs,
  proved,
}: PreflightContext): Promise<readonly MachineFinding[]> {
  const { env } = workspace;
  if (['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => env[name])) return [];
  const groups = groupsOf(needs.agents).filter(({ baseUrl }) => baseUrl !== undefined && URL.canParse(baseUrl));
  const urls = [...new Set(groups.filter((group) => !proved.has(proofKey(group))).map(({ baseUrl = '' }) => baseUrl))];
  const found = await Promise.all(
    urls.map(async (url): Promise<readonly MachineFinding[]> => {
      const why = await whyUnreachable(new URL(url));
      if (why === null) return [];
      const group = groups.find(({ baseUrl }) => baseUrl === url);
      const ids = groups.filter(({ baseUrl }) => baseUrl === url).flatMap((each) => each.ids);
      const fix = `start the server, or correct baseUrl of materia.${group?.ids[0]}`;
      const what = errorFinding(
        'address',
        `nothing answers at ${placeOf(url)} (${why}), and ${usersText(ids)}`,
        fix,
        'PROVIDER_UNREACHABLE',
      );
      return group ? softened(group, [what]) : [what];
    }),
  );
  return found.flat();
}

/** The host alone: the rest of an address may hold a secret. */
function placeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'its address';
}

/** The reason by the system, or null where it answers or only takes long. */
function whyUnreachable({ hostname, port, protocol }: URL): Promise<string | null> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port) || (protocol === 'http:' ? 80 : 443), timeout: CONNECT_MS });
    const end = (why: string | null) => {
      socket.destroy();
      resolve(why);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(null));
    socket.once('error', ({ code = 'no connection' }: NodeJS.ErrnoException) => end(connectionReason(code)));
  });
}

type ProbeAnswers = { readonly proved: ReadonlySet<string>; readonly findings: readonly MachineFinding[] };

/** Each runner with each model once, all at the same time. */
export async function probed(
  agents: readonly AgentMateria[],
  { signal, onEvent }: Pick<Context, 'signal' | 'onEvent'>,
): Promise<ProbeAnswers> {
  const asked = agents.filter(({ runner }) => runnerCan(PRESENT, runner, 'asksProvider'));
  const distinct = new Map(asked.map((agent) => [`${proofKey(agent)} ${agent.model ?? ''}`, agent]));
  if (distinct.size === 0) return { proved: new Set(), findings: [] };
  onEvent({
    kind: 'note',
    text: `asking ${[...new Set(asked.map(({ runner }) => runner))].join(', ')} for one word …`,
  });
  const { selfTest } = await import('../operations/agents.ts');
  const results = await Promise.all(
    [...distinct.values()].map(async (agent) => ({ agent, result: await selfTest(agent, signal) })),
  );
  const findings = results.map(({ agent, result: { ok: isFine, said, code, model } }): MachineFinding => {
    const named = agent.model ?? model;
    const on = named === null || named === undefined ? '' : ` with ${named}`;
    if (isFine) return okFinding(agent.runner, `answers${on}`);
    const fix = `correct what it says, then try it with: baton agents test ${agent.runner}`;
    return errorFinding(agent.runner, `gives no answer${on}: ${said}`, fix, (code ?? 'AGENT_FAILED') as Code);
  });
  // What was asked needs no guess any more, whatever it answered.
  return { proved: new Set(results.map(({ agent }) => proofKey(agent))), findings };
}
