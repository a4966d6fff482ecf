// What the runners of a configuration need besides an agent's program: the key of a model that is asked directly, the
// program of a command, and a sandbox that starts.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileOf } from '../agents/find-file.ts';
import { DEFAULT_RUNNER, keyVariableOf, PRESENT, runnerCan } from '../kernel/capabilities.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../kernel/json.ts';
import type { Workspace } from '../workspace/locate.ts';
import type { Finding } from './checkup.ts';

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
