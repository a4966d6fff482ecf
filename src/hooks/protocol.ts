// The hook protocol that Claude Code speaks: the events it sends, and the answer to a decision. Exit code 2 with the reason on standard
// error refuses. If the event has a JSON form, the answer says the same as JSON. In report-only mode a refusal is only recorded, one
// JSON object per line.

import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, isString, type JsonObject } from '../kernel/json.ts';
import { scrubJson } from '../kernel/secrets.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

/** Events at which something can be refused. */
const GUARDED = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'SessionStart'] as const;
/** Events that are accepted and never refused. */
const QUIET = [
  ...['PostToolUseFailure', 'PermissionRequest', 'Notification', 'SubagentStart', 'SessionEnd', 'PreCompact'],
  ...['PostCompact', 'Setup', 'TaskCreated', 'TaskCompleted', 'TeammateIdle', 'ConfigChange', 'StopFailure'],
];

export const EVENTS: readonly string[] = [...GUARDED, ...QUIET];

export type HookInput = {
  readonly event: string;
  /** The names under which the agent may have claimed a task: its own first, then its session's. */
  readonly names: readonly string[];
  /** The agent's current folder. */
  readonly cwd: string | null;
  readonly tool: string;
  readonly toolInput: JsonObject;
  /** The subagent that the tool started and that has ended, and how long it ran. */
  readonly helper: { readonly name: string; readonly ranMs: number } | null;
  /** Whether a stop hook already made the agent continue once. */
  readonly isHeldBack: boolean;
  readonly lastMessage: string | null;
  readonly transcript: string | null;
};

type InputReading = { readonly ok: true; readonly input: HookInput } | { readonly ok: false; readonly refusal: Denied };

/** Reads the event from standard input. Unreadable input is refused. */
export function readHookInput(event: string, text: string): InputReading {
  if (!EVENTS.includes(event)) return refuse(`unknown event ${event}; the events are: ${EVENTS.join(', ')}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`the input of ${event} is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) return refuse(`the input of ${event} is not a JSON object`);
  const named = value.hook_event_name;
  if (named !== undefined && named !== event) {
    return refuse(`this hook is set up for ${event} but was called for ${String(named)}; correct the settings`);
  }
  const needsTool = event === 'PreToolUse' || event === 'PostToolUse';
  if (needsTool && !(isString(value.tool_name) && isObject(value.tool_input))) {
    return refuse(`the input of ${event} lacks tool_name or tool_input`);
  }
  return { ok: true, input: inputOf(event, value) };
}

function inputOf(event: string, value: JsonObject): HookInput {
  const text = (name: string) => (isString(value[name]) && value[name] !== '' ? value[name] : null);
  // A subagent runs in its parent's session. When it stops, the parent keeps its claims.
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

/** A subagent in the background has not ended when the tool that started it returns. */
function helperIn({ tool_response: response, duration_ms: ranMs }: JsonObject): HookInput['helper'] {
  if (!isObject(response) || response.status !== 'completed' || !isString(response.agentId)) return null;
  return { name: response.agentId, ranMs: typeof ranMs === 'number' ? ranMs : 0 };
}

function refuse(reason: string): InputReading {
  return { ok: false, refusal: deny('BAD_USAGE', reason) };
}

export type HookDecision =
  /** `context` is passed on to the agent. */
  | { readonly kind: 'allow'; readonly context?: string }
  | { readonly kind: 'deny'; readonly verdict: Denied }
  /** The host asks its user. */
  | { readonly kind: 'ask'; readonly verdict: Denied }
  /** The second answer is still wrong. The agent is stopped and its answer is not used. */
  | { readonly kind: 'end'; readonly verdict: Denied };

type HookAnswer = { readonly exit: 0 | 2; readonly stdout: string; readonly stderr: string };

export function hookAnswer(event: string, decision: HookDecision): HookAnswer {
  if (decision.kind === 'allow') {
    const { context } = decision;
    if (context === undefined) return { exit: 0, stdout: '', stderr: '' };
    return {
      exit: 0,
      stdout: json({ hookSpecificOutput: { hookEventName: event, additionalContext: context } }),
      stderr: '',
    };
  }
  const reason = reasonOf(decision.verdict);
  if (decision.kind === 'ask') {
    const asked = { hookEventName: event, permissionDecision: 'ask', permissionDecisionReason: reason };
    return { exit: 0, stdout: json({ hookSpecificOutput: asked }), stderr: '' };
  }
  if (decision.kind === 'end') {
    return { exit: 0, stdout: json({ continue: false, stopReason: reason, systemMessage: reason }), stderr: '' };
  }
  const form = formOf(event, reason);
  return { exit: 2, stdout: form === null ? '' : json(form), stderr: `${reason}\n` };
}

/** For people and models: the code, then what is wrong and what to do. */
function reasonOf({ code, reason }: Denied): string {
  return `baton: ${code}: ${reason}`;
}

function formOf(event: string, reason: string): JsonObject | null {
  switch (event) {
    case 'PreToolUse':
      return {
        hookSpecificOutput: {
          hookEventName: event,
          permissionDecision: 'deny',
          permissionDecisionReason: reason,
        },
      };
    case 'PostToolUse':
    case 'UserPromptSubmit':
    case 'Stop':
    case 'SubagentStop':
      return { decision: 'block', reason };
    default:
      return null;
  }
}

function json(value: JsonObject): string {
  return `${JSON.stringify(value)}\n`;
}

const REPORT_FILE = 'hooks.jsonl';

export function reportDenial(
  stateDir: string,
  event: string,
  decision: Exclude<HookDecision, { kind: 'allow' }>,
  at: Date,
): void {
  const { code, reason, details } = decision.verdict;
  const line: JsonObject = { at: at.toISOString(), event, would: decision.kind, code, reason, details };
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const file = openSync(join(stateDir, REPORT_FILE), flags, 0o600);
  try {
    // One write for each line, because hooks of several agents write at the same time.
    writeSync(file, `${JSON.stringify(scrubJson(line).value)}\n`);
  } finally {
    closeSync(file);
  }
}
