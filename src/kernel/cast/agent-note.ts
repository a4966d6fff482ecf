// What an agent's program tells of itself is foreign text: it is bounded and scrubbed before it is stored, and a name that
// will stand among the arguments of a command has to look like a name.
import type { AgentNote } from '../fact.ts';
import { scrub } from '../secrets.ts';
import type { Session } from '../state.ts';
import { cut } from './cut.ts';
import { COMMAND_CHARS_MAX, COMMANDS_MAX } from './noted-commands.ts';

const NAMES_MAX = 50;
const NAME_CHARS_MAX = 200;
const WARNING_CHARS_MAX = 500;

/** A conversation's name becomes an argument; one that begins with a dash would be taken for an option. */
const SESSION_ID = /^[A-Za-z0-9][\w.-]{0,199}$/;

/** Undefined when nothing is left to note. */
export function cleanNote(note: AgentNote | undefined): AgentNote | undefined {
  if (!note) return undefined;
  const { runner, model, unpriced, session, denials = [], warnings = [], commands, unapproved = [] } = note;
  const kept: AgentNote = {
    ...(runner === undefined ? {} : { runner: line(runner, NAME_CHARS_MAX) }),
    ...(model === undefined ? {} : { model: line(model, NAME_CHARS_MAX) }),
    ...(unpriced ? { unpriced } : {}),
    ...(session && isUsable(session) ? { session } : {}),
    ...(denials.length > 0 ? { denials: listed(denials, NAMES_MAX, NAME_CHARS_MAX) } : {}),
    ...(warnings.length > 0 ? { warnings: listed(warnings, NAMES_MAX, WARNING_CHARS_MAX) } : {}),
    ...(commands === undefined ? {} : { commands: listed(commands, COMMANDS_MAX, COMMAND_CHARS_MAX) }),
    ...(unapproved.length > 0 ? { unapproved: listed(unapproved, COMMANDS_MAX, COMMAND_CHARS_MAX) } : {}),
  };
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function isUsable({ id }: Session): boolean {
  return SESSION_ID.test(id);
}

function listed(texts: readonly string[], max: number, charsMax: number): readonly string[] {
  return [...new Set(texts)].slice(0, max).map((text) => line(text, charsMax));
}

function line(text: string, charsMax: number): string {
  return cut(scrub(text).text, charsMax);
}
