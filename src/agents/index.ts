// Which runner carries out a dispatch: the scripted agent if the cast has a script, else the runner of the materia. A materia with
// `cwd` runs in that folder below the cast's folder; paths in locks and changes stay relative to the cast's folder.

import { realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { AttemptDirs, AttemptResult, Runner, Runners } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { CREDENTIAL_BELONGS, holdsCredential } from '../kernel/graph/check-materia.ts';
import type { AgentMateria, Materia } from '../kernel/graph/config.ts';
import type { AgentSettings, GuardOf, OfferTools, Program } from './agent-call.ts';
import { anthropic } from './anthropic.ts';
import { type ApiSettings, apiRunner, type ModelApi } from './api-runner.ts';
import { findProgram, type ProgramName } from './detect.ts';
import type { FaultCode } from './fault.ts';
import { withLiveFile } from './live-watch.ts';
import { openai } from './openai.ts';
import { programRunner } from './program-runner.ts';
import { programOf } from './programs.ts';
import { scripted } from './scripted.ts';
import { utility } from './utility.ts';

/** Agents that answer in their own words only. */
export const runners: Runners = runnersWith(null);

/** `offer` says how a program that can call tools is given ours; `guardOf` who is asked before it uses its own. */
export function runnersWith(offer: OfferTools | null, guardOf: GuardOf | null = null): Runners {
  return {
    runnerFor(packet: Packet): Runner {
      if (packet.scripted) return scripted;
      const { materia } = packet;
      return inItsFolder(materia.type === 'utility' ? utility : agentRunner(materia, offer, guardOf), materia);
    },
  };
}

/** The runner a materia names, set up as the materia says. */
export function agentRunner(
  materia: AgentMateria,
  offer: OfferTools | null = null,
  guardOf: GuardOf | null = null,
): Runner {
  const more = { offer, guardOf };
  if (holdsCredential(materia.baseUrl)) return withCredential(materia.runner);
  const program = programOf(materia);
  const api = Object.hasOwn(MODEL_APIS, materia.runner) ? MODEL_APIS[materia.runner] : undefined;
  if (program?.isFound) return programRunner(program.adapter, settingsOf(materia, program.adapter), more);
  if (program) return programRunner(program.adapter, settingsOf(materia, null));
  return api ? withLiveFile(apiRunner(api, apiSettingsOf(materia))) : unavailable(materia.runner);
}

/** The models that are asked directly, by the runner that names them. */
const MODEL_APIS: Readonly<Record<string, ModelApi>> = { openai, anthropic };

/** Where the model is, how it is spoken to and by which key. */
function apiSettingsOf({ baseUrl, wire, keyVariable }: AgentMateria): ApiSettings {
  return {
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(wire === undefined ? {} : { wire }),
    ...(keyVariable === undefined ? {} : { keyVariable }),
  };
}

function settingsOf({ args, env, baseUrl }: AgentMateria, program: Program | null): AgentSettings {
  const file = program && findProgram(program.name as ProgramName, process.env);
  return {
    ...(file === null ? {} : { program: file }),
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { variables: env }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

/** No model is called behind anybody's back: a runner that is not there fails its turn and says what to do. */
function unavailable(runner: string): Runner {
  const reason = `the runner ${runner} answers from a script only; cast with --agents SCRIPT, or name another runner`;
  return refusing('AGENT_UNAVAILABLE', reason);
}

/** What was frozen before such an address was refused by a check, or is named by hand, fails at once: it never helps to ask again. */
function withCredential(runner: string): Runner {
  return refusing(
    'REQUEST_REFUSED',
    `the baseUrl of ${runner} holds a user or a password, which is not sent on. ${CREDENTIAL_BELONGS}`,
  );
}

function refusing(code: FaultCode, reason: string): Runner {
  const result = { kind: 'fault', fault: 'refused', code, reason } as const;
  return { run: async () => result, recover: async () => result };
}

/** The runner, working in the folder that the materia names. A folder that is not there, or lies elsewhere, fails the turn. */
export function inItsFolder(runner: Runner, { type, cwd }: Pick<Materia, 'type' | 'cwd'>): Runner {
  if (cwd === undefined) return runner;
  const below = (place: AttemptDirs): AttemptDirs => ({ ...place, cwd: join(place.cwd, cwd) });
  return {
    async run(packet, place, signal) {
      const reason = whyNoFolder(place.cwd, cwd);
      return reason === null ? runner.run(packet, below(place), signal) : folderFault(type, reason);
    },
    recover: (packet, place, signal) => runner.recover(packet, below(place), signal),
    ...(runner.forget ? { forget: runner.forget } : {}),
  };
}

/** A link may lead out of the folder of the cast, so where it really lies is what counts. */
function whyNoFolder(root: string, cwd: string): string | null {
  try {
    const folder = realpathSync(join(root, cwd));
    if (!`${folder}${sep}`.startsWith(`${realpathSync(root)}${sep}`)) return `its folder ${cwd} leads out of ${root}`;
    return statSync(folder).isDirectory() ? null : `its folder ${cwd} is no folder in ${root}`;
  } catch {
    return `there is no folder ${cwd} in ${root}; make it, or correct cwd of the materia`;
  }
}

function folderFault(type: Materia['type'], reason: string): AttemptResult {
  if (type === 'utility') return { kind: 'fault', fault: 'utility', reason };
  return { kind: 'fault', fault: 'refused', code: 'AGENT_UNAVAILABLE', reason };
}
