// What a tool is, and what it gets to work with. Every tool answers with a verdict: the caller reads one shape, and a
// refusal tells it what to mend.

import type { Actor } from '../access/actor.ts';
import type { Attempt } from '../access/attempt.ts';
import type { Act, Role } from '../access/role.ts';
import type { SubmittedWork } from '../app/submitted-work.ts';
import type { Workspace } from '../app/workspace.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Cast, Turn } from '../kernel/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { CommandLine } from './command-line.ts';

/** Who may use a tool: an agent within its attempt, whoever looks at casts and steers them from outside, or both. */
export type Audience = 'agent' | 'person' | 'anyone';

export type Tool = {
  readonly name: string;
  readonly audience: Audience;
  /** The command that a tool for people runs; what only a person may do by it, only a person may do by the tool. */
  readonly command?: string;
  /** The kind of thing it does; the least role that may use it follows from that. */
  readonly act: Act;
  /** For people, as the second half of "only a person may …". */
  readonly peopleOnly?: string;
  readonly description: string;
  /** The JSON Schema of its arguments; what does not fit never reaches `call`. */
  readonly input: JsonObject;
  call(args: JsonObject, scene: Scene, wire: Wire): Promise<Verdict>;
};

/** The workspace as the tools see it. */
export type Scene = {
  /** The workspace in this process, and who calls. */
  readonly workspace: Workspace;
  readonly actor: Actor;
  readonly attempt: Attempt | null;
  /** Whether an attempt is among those that started us, even where it is not known which one. */
  readonly isAgent: boolean;
  /** What the caller may do; whoever started the server himself may do everything. */
  readonly role?: Role;
  /** Told of a call that the role of the caller does not allow, or that only a person may make. */
  readonly onRefused?: (verdict: Denied) => void;
  readonly baton: CommandLine;
  /** Whether that attempt has really started us: its environment alone could be made up. */
  isOwn(attempt: Attempt): Promise<boolean>;
  cast(id: string): Promise<Cast | null>;
  /** Runs the project's checks on what a turn has changed so far; null where there is nothing to check. */
  checkWork?(cast: Cast, turn: Turn, signal: AbortSignal): Promise<SubmittedWork | null>;
};

/** The one call that is being answered. */
export type Wire = {
  /** Comes when the caller gives up. */
  readonly signal: AbortSignal;
  /** Told to the caller while it waits, where it asked for that. */
  progress(message: string): Promise<void>;
};

/** A schema for an object with these members and no others. */
export function args(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}
