// Checks what the agents of a configuration need: their programs and sign-ins, the key of a model that is asked directly, the
// program of a command, and a sandbox that starts.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Detected } from '../agents/detect.ts';
import { fileOf } from '../agents/find-file.ts';
import { DEFAULT_RUNNER, keyVariableOf, PRESENT, runnerCan } from '../kernel/capabilities.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../kernel/json.ts';
import type { Workspace } from '../workspace/locate.ts';

export type Finding = {
  readonly name: string;
  readonly level: 'ok' | 'warning' | 'error';
  readonly found: string;
  /** What to do about it; null where nothing is to be done. */
  readonly fix: string | null;
};

export const ok = (name: string, found: string): Finding => ({ name, level: 'ok', found, fix: null });
export const warning = (name: string, found: string, fix: string): Finding => ({ name, level: 'warning', found, fix });
export const error = (name: string, found: string, fix: string): Finding => ({ name, level: 'error', found, fix });

/** The least that every sandbox of ours does. */
const TRIAL = ['--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true'];

/** The runners that the agents of a configuration name. */
export function runnersIn(config: Json): readonly string[] {
  return [...new Set(agentsIn(config).map(([, agent]) => runnerOf(agent)))];
}

/** Those of them that have to be signed in: at another address a server may ask for nothing. */
export function signedInRunnersIn(config: Json): readonly string[] {
  const agents = agentsIn(config).filter(([, agent]) => agent.baseUrl === undefined);
  return [...new Set(agents.map(([, agent]) => runnerOf(agent)))];
}

/** One finding for each thing that is missing; none where everything is there. */
export function runnerFindings(config: Json, { dir, configFile }: Workspace, env: NodeJS.ProcessEnv): Finding[] {
  const findings = agentsIn(config).flatMap(([id, agent]): Finding[] => {
    const runner = runnerOf(agent);
    const usual = runnerCan(PRESENT, runner, 'isModelApi') ? keyVariableOf(runner) : undefined;
    const variable = usual !== undefined && isText(agent.keyVariable) ? agent.keyVariable : usual;
    // Another address may be a server that asks for no key.
    const isNeeded = variable !== undefined && (agent.baseUrl === undefined || variable !== usual);
    if (isNeeded && (env[variable] ?? '').trim() === '') {
      return [{ name: runner, level: 'error', found: `no key, and ${id} runs on it`, fix: `set ${variable}` }];
    }
    const program =
      runnerCan(PRESENT, runner, 'runsCommand') && Array.isArray(agent.command) ? agent.command[0] : undefined;
    if (!isString(program)) return [];
    // One that begins with a dot lies beside the configuration, and a script is run by our own Node.
    const from = program.startsWith('./') ? dirname(configFile) : dir;
    const isScript = /^\.\/.*\.[mc]?js$/.test(program);
    if (isScript ? existsSync(join(from, program)) : fileOf(program, env.PATH, from) !== null) return [];
    const found = `${program} of ${id} was not found, or may not be run`;
    return [{ name: runner, level: 'error', found, fix: `install it, or correct command of materia.${id}` }];
  });
  findings.push(...sandboxFindings(config, dir, env));
  return findings.filter(({ found }, index) => findings.findIndex((one) => one.found === found) === index);
}

/** A sandbox that was asked for and cannot be started fails every turn in it. */
function sandboxFindings(config: Json, dir: string, env: NodeJS.ProcessEnv): Finding[] {
  const materia = isObject(config) && isObject(config.materia) ? Object.entries(config.materia) : [];
  const [id] = materia.find(([, one]) => isObject(one) && one.sandbox === 'bwrap') ?? [];
  if (id === undefined) return [];
  const program = fileOf('bwrap', env.PATH, dir);
  const fix = `install bubblewrap, or take sandbox out of materia.${id}`;
  if (program === null)
    return [{ name: 'sandbox', level: 'error', found: `bwrap was not found, and ${id} runs in it`, fix }];
  const { status, stderr } = spawnSync(program, TRIAL, { encoding: 'utf8', timeout: 10_000, env });
  if (status === 0) return [];
  const why = (stderr ?? '').trim().split('\n')[0] || 'it does not start';
  const mend = 'let this user make namespaces (kernel.unprivileged_userns_clone, AppArmor), or take sandbox out';
  return [{ name: 'sandbox', level: 'error', found: `${program}: ${why}; ${id} runs in it`, fix: mend }];
}

function agentsIn(config: Json): readonly (readonly [string, JsonObject])[] {
  const materia = isObject(config) && isObject(config.materia) ? Object.entries(config.materia) : [];
  return materia.flatMap(([id, one]) =>
    isObject(one) && (one.prompt ?? one.promptFile) !== undefined ? [[id, one]] : [],
  );
}

function runnerOf({ runner }: JsonObject): string {
  return isText(runner) ? runner : DEFAULT_RUNNER;
}

/**
 * An agent that the configuration names has to be there, and signed in where it asks its own provider; of the others one is
 * enough.
 */
export function agentFindings(
  found: readonly Detected[],
  runners: readonly string[],
  signedIn: readonly string[] = runners,
  platform: NodeJS.Platform = process.platform,
): Finding[] {
  const findings = found
    .filter(({ name, path }) => runners.includes(name) || path !== null)
    .map(({ name, path, version, fault, signedInBy, hint }): Finding => {
      const isNeeded = runners.includes(name);
      const level = isNeeded ? 'error' : 'warning';
      if (path === null) return { name, level, found: 'not installed, and the configuration names it', fix: hint };
      if (fault !== null) return { name, level, found: `${path} does not start: ${fault}`, fix: hint };
      const at = `${version ?? 'unknown version'} at ${path}`;
      if (signedInBy === null) {
        // Its credentials are in the keychain there, which is nobody's to look into.
        const isHidden = runnerCan(PRESENT, name, 'usesKeychain') && platform === 'darwin';
        const fix = `${hint}; if it is signed in by other means, baton agents test ${name} shows it`;
        const isMissing = signedIn.includes(name) && !isHidden;
        return { name, level: isMissing ? 'error' : 'warning', found: `${at}; no sign-in was found`, fix };
      }
      return ok(name, `${at}, signed in`);
    });
  // One that does not start, and that nobody needs, is no agent.
  const isSome = found.some(({ name, path, fault }) => runners.includes(name) || (path !== null && fault === null));
  if (isSome) return findings;
  const fix = 'baton agents says how to install one; baton cast --agents SCRIPT works without';
  return [
    ...findings,
    ...(runners.some((name) => runnerCan(PRESENT, name, 'isProgram'))
      ? [error('agents', 'none is installed', fix)]
      : []),
  ];
}
