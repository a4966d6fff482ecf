// What a tool is, and what it gets to work with. Every tool answers with a verdict, so that a caller reads one shape and learns
// from a refusal what to change.
import type { Actor } from '../access/actor.ts';
import { type Attempt, attemptIn } from '../access/attempt.ts';
import type { Act, Role } from '../access/rights.ts';
import { isInsideAttempt, isStartedByAttempt } from '../agents/inside-attempt.ts';
import type { OperationName } from '../app/operations/table.ts';
import { answer, type Given } from '../app/perform.ts';
import type { SubmittedWork } from '../app/submitted-work.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';

export type Tool = {
  readonly name: string;
  /** An agent within its attempt, a client that steers casts from outside, or both. */
  readonly audience: 'agent' | 'person' | 'anyone';
  /** The kind of thing it does; the least role that may use it follows from that. */
  readonly act: Act;
  /** For people, as the second half of "only a person may …". */
  readonly peopleOnly?: string;
  readonly description: string;
  /** A person decides it in a form; it is offered only where that can be. */
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
  /** Whether an attempt is among those that started us, even where it is not known which one. */
  readonly isAgent: boolean;
  /** What the caller may do; missing for the user who started the server, who may do everything. */
  readonly role?: Role;
  /** Whether the token that the server was started with is good for decisions now; missing where it was started without one. */
  readonly personToken?: () => Verdict;
  /** Receives every refusal because of the caller's role, or because only a person may do it. */
  readonly onRefused?: (verdict: Denied) => void;
  /** Whether that attempt has really started us: its environment alone could be made up. */
  isOwn(attempt: Attempt): Promise<boolean>;
  cast(id: string): Promise<Cast | null>;
  /** Runs the project's checks on what a turn has changed so far; null where there is nothing to check. */
  checkWork?(cast: Cast, turn: Turn, signal: AbortSignal): Promise<SubmittedWork | null>;
};

/** The one call that is being answered. */
export type CurrentCall = {
  /** Aborts when the caller gives up. */
  readonly signal: AbortSignal;
  /** Sends a line to a waiting caller that asked for progress. */
  progress(message: string): Promise<void>;
  /** Shows a form to the person at the client; missing where the client cannot. Throws where no answer comes. */
  readonly ask?: (form: ElicitedForm, timeoutMs: number) => Promise<ElicitedAnswer>;
};

/** `schema` describes the answer: an object of flat fields. */
type ElicitedForm = { readonly message: string; readonly schema: JsonObject };

/** What comes from a client is not checked against the schema. */
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

/** A process that says it works for a cast is believed. */
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
