// The events of the hook protocol that Claude Code speaks, and what it tells with each of them.
import { isObject, isString, type JsonObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

/** Events at which something can be refused. */
const GUARDED = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'SessionStart'] as const;
/** Events that are listened to and never refused: nothing of ours hangs on them. */
const QUIET = [
  ...['PostToolUseFailure', 'PermissionRequest', 'Notification', 'SubagentStart', 'SessionEnd', 'PreCompact'],
  ...['PostCompact', 'Setup', 'TaskCreated', 'TaskCompleted', 'TeammateIdle', 'ConfigChange', 'StopFailure'],
];

export const EVENTS: readonly string[] = [...GUARDED, ...QUIET];

export type HookInput = {
  readonly event: string;
  /** The names under which the one who acts may have claimed a task, its own before that of its session. */
  readonly names: readonly string[];
  /** The folder the agent stands in. */
  readonly cwd: string | null;
  readonly tool: string;
  readonly toolInput: JsonObject;
  /** The helper that the tool had started and that has ended, with how long it ran; null where it is none. */
  readonly helper: { readonly name: string; readonly ranMs: number } | null;
  /** Whether the agent goes on already because it was not let stop. */
  readonly isHeldBack: boolean;
  readonly lastMessage: string | null;
  readonly transcript: string | null;
};

type InputReading = { readonly ok: true; readonly input: HookInput } | { readonly ok: false; readonly refusal: Denied };

/** Reads what comes on standard input. What cannot be read is refused, whatever it was about. */
export function readInput(event: string, text: string): InputReading {
  if (!EVENTS.includes(event)) return refuse(`there is no event ${event}; there are: ${EVENTS.join(', ')}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`the input of ${event} is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) return refuse(`the input of ${event} is no JSON object`);
  const named = value.hook_event_name;
  if (named !== undefined && named !== event) {
    return refuse(`this hook is set up for ${event} and was called for ${String(named)}; mend the settings`);
  }
  const needsTool = event === 'PreToolUse' || event === 'PostToolUse';
  if (needsTool && !(isString(value.tool_name) && isObject(value.tool_input))) {
    return refuse(`the input of ${event} does not say which tool is used, and how`);
  }
  return { ok: true, input: inputOf(event, value) };
}

function inputOf(event: string, value: JsonObject): HookInput {
  const text = (name: string) => (isString(value[name]) && value[name] !== '' ? value[name] : null);
  // A helper acts within the session of its parent, and when it stops, the claims of its parent go on.
  const session = event === 'SubagentStop' ? null : text('session_id');
  const transcript = event === 'SubagentStop' ? 'agent_transcript_path' : 'transcript_path';
  return {
    event,
    names: [text('agent_id'), session].filter((name) => name !== null),
    cwd: text('cwd'),
    tool: text('tool_name') ?? '',
    toolInput: isObject(value.tool_input) ? value.tool_input : {},
    helper: helperIn(value),
    isHeldBack: value.stop_hook_active === true,
    lastMessage: isString(value.last_assistant_message) ? value.last_assistant_message : null,
    transcript: text(transcript),
  };
}

/** One that was sent to the background has not ended with the tool that started it. */
function helperIn({ tool_response: response, duration_ms: ranMs }: JsonObject): HookInput['helper'] {
  if (!isObject(response) || response.status !== 'completed' || !isString(response.agentId)) return null;
  return { name: response.agentId, ranMs: typeof ranMs === 'number' ? ranMs : 0 };
}

function refuse(reason: string): InputReading {
  return { ok: false, refusal: deny('BAD_USAGE', reason) };
}
