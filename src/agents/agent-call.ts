// What an adapter gets for one turn, and what it returns. An adapter turns a call into a program call and reads events into a
// report. It reads no contracts and does not know the engine.
import type { LiveEvent } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { OFFERED_TOOLS } from '../kernel/cast/rules.ts';
import type { Session } from '../kernel/cast/state.ts';
import type { AgentMateria, Tools } from '../kernel/graph/config.ts';
import type { AgentReport } from './report.ts';

export type AgentCall = {
  readonly prompt: string;
  readonly system: string | null;
  readonly model: string | null;
  readonly thinking: string | null;
  readonly tools: Tools;
  /** The conversation to continue, by the program's own name for it. */
  readonly session: Session | null;
  /** A name that is the turn's own and the same in each of its attempts, for programs that let others name a conversation. */
  readonly turnName: string;
  /** How often its program may ask the provider again by itself. */
  readonly retriesMax: number;
};

/** A server an agent may call tools of. */
type McpServer = {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The tools the agent may call, for programs that ask for a list; all of them by default. */
  readonly tools?: readonly string[];
};

/** Our own server for the attempt whose variables these are. */
export type OfferTools = (env: Readonly<Record<string, string>>) => McpServer;

/** The program that may refuse a tool call before it happens. */
type ToolGuard = {
  /** For a program that asks by itself: exit 0 lets the call through. */
  readonly program: string;
  readonly args: readonly string[];
  /** For a program that has hooks: those before a tool, as they are in its settings. */
  readonly group: {
    readonly matcher?: string;
    readonly hooks: readonly { readonly type: string; readonly command: string; readonly timeout: number }[];
  } | null;
};

/** The guard of a turn, or null if it needs none. */
export type GuardOf = (packet: Packet) => Promise<ToolGuard | null>;

/** The name by which agents know our own server. */
export const OFFERED_AS = 'baton';

/** Settings of an agent from the workspace or the materia, besides the turn itself. */
export type AgentSettings = {
  /** The program's file or its name on PATH; by default the name of the adapter. */
  readonly program?: string;
  /** Added to the arguments as they are. */
  readonly args?: readonly string[];
  /** Names of variables the agent gets from our environment besides the usual ones. */
  readonly variables?: readonly string[];
  /** Variables with their values. */
  readonly env?: Readonly<Record<string, string>>;
  /** The address of the model, if it is not the provider's own. */
  readonly baseUrl?: string;
  readonly mcp?: Readonly<Record<string, McpServer>>;
  readonly guard?: ToolGuard;
};

/** A command without a shell. */
export type ProgramCall = {
  readonly argv: readonly string[];
  readonly stdin: string;
  /** Added to the inherited variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Requested settings that the program does not support, for people. */
  readonly warnings: readonly string[];
  /** The conversation that it was asked to keep, if the program itself reports none. */
  readonly sessionId?: string;
};

/** An agent that is a program of its own. All of it is pure. */
export interface Program {
  readonly name: string;
  /** The variables it reads credentials and its own places from. */
  readonly variables: readonly string[];
  invoke(call: AgentCall, settings: AgentSettings): ProgramCall;
  /** A fresh reader of what it prints. */
  reader(): StreamReader;
}

/** Reads a stream as it arrives. The report so far is available at any time. */
export interface StreamReader {
  push(chunk: string): readonly LiveEvent[];
  report(): AgentReport;
}

export function agentCallOf({ brief, materia, session, cast, turn, retriesMax }: Packet): AgentCall {
  const { model, thinking, tools, system = null } = materia as AgentMateria;
  return { prompt: brief, system, model, thinking, tools, session, turnName: `${cast}-${turn}`, retriesMax };
}

type OfferedServer = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tools: readonly string[];
};

/** Some programs give their servers an environment of their own, so the variables of the attempt are passed on by name. */
const PASSED = [
  ...['BATON_HOME', 'BATON_CONFIG', 'BATON_WORKSPACE'],
  ...['BATON_CAST', 'BATON_ATTEMPT', 'BATON_FENCE', 'BATON_TASK', 'BATON_ATTEMPT_DIR'],
];

/** The tools of an agent in its turn. Tools that claim other tasks are not included. */
const TOOLS = OFFERED_TOOLS.flatMap(({ tools }) => tools);

/** `dir` is the workspace itself, even if the agent works in another folder. `env` is the environment of the agent. */
export function offeredServer(
  program: string,
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): OfferedServer {
  const passed = PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { command: program, args: ['-C', dir, 'mcp'], env: Object.fromEntries(passed), tools: TOOLS };
}
