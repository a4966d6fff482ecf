// What a hook decides, in the words of the protocol: exit 2 with the reason on standard error refuses, and the same is said
// as JSON where the event has a form for it.
import type { JsonObject } from '../kernel/json.ts';
import type { Denied } from '../kernel/verdict.ts';

export type Decision =
  /** Nothing stands in the way; `context` is told to the agent. */
  | { readonly kind: 'allow'; readonly context?: string }
  | { readonly kind: 'deny'; readonly verdict: Denied }
  /** The host asks its own user. */
  | { readonly kind: 'ask'; readonly verdict: Denied }
  /** It was given back once and is still not right: the agent is ended, and nobody takes its words for a result. */
  | { readonly kind: 'end'; readonly verdict: Denied };

export type Spoken = { readonly exit: 0 | 2; readonly stdout: string; readonly stderr: string };

export function spoken(event: string, decision: Decision): Spoken {
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

/** A person or a model reads it: the code to look up, then what is wrong and what to do. */
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
