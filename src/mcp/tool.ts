// A tool and its context. Every tool answers with a verdict, so a caller reads one shape and learns from a refusal what to change.
import type { Actor } from '../access/actor.ts';
import { type Attempt, attemptIn } from '../access/attempt.ts';
import type { Act, Role } from '../access/rights.ts';
import { isInsideAttempt, isStartedByAttempt } from '../agents/inside-attempt.ts';
import type { SubmittedWork } from '../app/cast-work.ts';
import type { OperationName } from '../app/operations/table.ts';
import { answer, type Given } from '../app/perform.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';

export type Tool = {
  readonly name: string;
  /** An agent within its attempt, a client that steers casts from outside, or both. */
  readonly audience: 'agent' | 'person' | 'anyone';
  /** The kind of thing it does; this determines the lowest role that may use it. */
  readonly act: Act;
  /** For people, as the second half of "only a person may …". */
  readonly peopleOnly?: string;
  readonly description: string;
  /** It acts in the process and the folder of the caller, which a server that others call does not have. */
  readonly actsHere?: true;
  /** A person decides in a form. It is offered only to clients that can show one. */
  readonly isDecision?: true;
  /** The JSON Schema of its arguments; what does not fit never reaches `call`. */
  readonly input: JsonObject;
  call(args: JsonObject, context: ToolContext, current: CurrentCall): Promise<Verdict>;
};

/** The workspace as the tools see it, and the caller. */
export type ToolContext = {
  readonly workspace: Workspace;
  readonly actor: Actor;
  readonly attempt: Attempt | null;
  /** Whether an attempt started this process, even if it is unknown which one. */
  readonly isAgent: boolean;
  /** The caller is an agent in another process, known by the token of its attempt. */
  readonly isElsewhere?: true;
  /** What the caller may do; missing for the user who started the server and may do everything. */
  readonly role?: Role;
  /** Whether the server's token is valid for decisions now. Missing if the server started without a token. */
  readonly personToken?: () => Verdict;
  /** Receives every refusal because of the caller's role, or because only a person may do it. */
  readonly onRefused?: (verdict: Denied) => void;
  /** Whether that attempt really started this process. Its environment alone could be forged. */
  isOwn(attempt: Attempt): Promise<boolean>;
  cast(id: string): Promise<Cast | null>;
  /** Runs the project's checks on what a turn has changed so far; null if there is nothing to check. */
  checkWork?(cast: Cast, turn: Turn, signal: AbortSignal): Promise<SubmittedWork | null>;
};

/** The current call. */
export type CurrentCall = {
  /** Aborts when the caller gives up. */
  readonly signal: AbortSignal;
  /** Sends a line to a waiting caller that asked for progress. */
  progress(message: string): Promise<void>;
  /** Shows a form to the person at the client; missing if the client cannot. Throws if no answer comes. */
  readonly ask?: (form: ElicitedForm, timeoutMs: number) => Promise<ElicitedAnswer>;
};

/** `schema` describes the answer: an object of flat fields. */
type ElicitedForm = { readonly message: string; readonly schema: JsonObject };

/** The content is not checked against the schema. */
export type ElicitedAnswer = {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>> | undefined;
};

export function contextIn(workspace: Workspace, actor: Actor): ToolContext {
  const { env, stateDir } = workspace;
  return {
    workspace,
    actor,
    attempt: attemptIn(env, stateDir),
    isAgent: isAgentIn(env),
    isOwn: ({ dir }) => isStartedByAttempt(dir),
    cast: async (id) => (workspace.hasLog() ? workspace.ledgerStore().view('cast', id) : null),
  };
}

/** A process that claims to work for a cast is believed. */
export function isAgentIn(env: NodeJS.ProcessEnv): boolean {
  return env.BATON_CAST !== undefined || isInsideAttempt(env);
}

/** Calls an operation in the name of the caller. */
export function operation(
  { workspace, actor }: ToolContext,
  { signal }: CurrentCall,
  name: OperationName,
  given: Given,
): Promise<Verdict> {
  return answer(workspace, name, given, { actor, signal, onEvent: () => undefined });
}

/** A schema for an object with these members and no others. */
export function args(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}
