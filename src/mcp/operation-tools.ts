// The operations that are tools: name, input and function come from their entries. A call that takes long sends its client progress
// about the agents. A decision is made by the person at the client, in a form that shows the sealed command; no argument decides.
import type { LiveNews } from '../app/look-at-cast.ts';
import type { McpForm, OperationEntry, OperationEvent, OperationFields } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { answer } from '../app/perform.ts';
import { linesOf } from '../approvals/approval-view.ts';
import type { ApprovalView } from '../kernel/approval/state.ts';
import { schemaOf } from '../kernel/field-schema.ts';
import { isObject, isString, type JsonObject } from '../kernel/json.ts';
import { scrub } from '../kernel/secrets.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { type CurrentCall, type ElicitedAnswer, operation, type Tool, type ToolContext } from './tool.ts';

const SEND_EVERY_MS = 500;
const TEXT_CHARS_MAX = 500;
const LINES_MAX = 10;

export const OPERATION_TOOLS: readonly Tool[] = Object.values(OPERATIONS).flatMap((entry: OperationEntry) =>
  'leftOut' in entry.mcp ? [] : [toolOf(entry, entry.mcp)],
);

function toolOf(entry: OperationEntry, form: McpForm): Tool {
  const { name, audience, description, without = [], required = [], schemas = {}, defaults = {} } = form;
  const input = schemaOf({ type: 'object', fields: offeredFields(entry.fields, without, required) });
  const { choice } = form;
  const peopleOnly = choice === undefined ? entry.peopleOnly : `${choice} what an agent asks for`;
  return {
    name,
    audience,
    ...(peopleOnly === undefined ? {} : { peopleOnly }),
    description,
    input: { ...input, properties: { ...(input.properties as JsonObject), ...schemas } },
    act: entry.act,
    ...(choice === undefined ? {} : { isDecision: true }),
    async call(given, context, current) {
      const { workspace, actor } = context;
      const { signal, progress } = current;
      const decided: Verdict | FormDecision =
        choice === undefined ? {} : await askPerson(choice, String(given.id), context, current);
      if ('allow' in decided) return decided;
      const live = liveProgress((message) => progress(message));
      const onEvent = (event: OperationEvent) => {
        if (event.kind === 'note') void progress(event.text).catch(() => undefined);
        else if (event.kind === 'value' && isLive(event.value)) live.add(event.value);
      };
      try {
        return await answer(
          workspace,
          entry.name as OperationName,
          { ...defaults, ...given, ...decided },
          { actor, signal, onEvent },
        );
      } finally {
        live.stop();
      }
    },
  };
}

function isLive(value: unknown): value is LiveNews {
  return isObject(value) && value.kind === 'live';
}

function offeredFields(
  fields: OperationFields,
  without: readonly string[],
  required: readonly string[],
): OperationFields {
  const offered = Object.entries(fields).filter(([name]) => !without.includes(name));
  return Object.fromEntries(
    offered.map(([name, field]) => [name, required.includes(name) ? { ...field, required: true } : field]),
  );
}

type LiveProgress = { add(news: LiveNews): void; stop(): void };

export function liveProgress(send: (message: string) => Promise<void>, everyMs = SEND_EVERY_MS): LiveProgress {
  /** The lines that were not sent yet. */
  let lines: string[] = [];
  let lastSocket: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isSending = false;
  const flush = async () => {
    // One message at a time: a client that does not read gets the newest lines when it does.
    if (isSending || lines.length === 0) return;
    isSending = true;
    const message = scrub(lines.join('\n')).text;
    lines = [];
    lastSocket = null;
    await send(message).catch(() => undefined);
    isSending = false;
  };
  return {
    add({ socket, event }) {
      const last = lines.at(-1);
      if (event.kind === 'text' && lastSocket === socket && last !== undefined)
        lines[lines.length - 1] = truncate(last + event.text);
      else lines = [...lines.slice(-(LINES_MAX - 1)), truncate(`${socket} ${wordsOf(event)}`)];
      lastSocket = event.kind === 'text' ? socket : null;
      timer ??= setInterval(() => void flush(), everyMs);
    },
    stop() {
      if (timer) clearInterval(timer);
    },
  };
}

function wordsOf(event: LiveNews['event']): string {
  switch (event.kind) {
    case 'text':
      return `says: ${event.text}`;
    case 'tool':
      return `uses ${event.name}`;
    case 'denied':
      return `was refused ${event.name}`;
    case 'waiting':
      return `waits ${Math.ceil(event.forMs / 1000)} s: ${event.reason}`;
  }
}

/** Keeps the beginning, which names the socket, and the end. */
function truncate(line: string): string {
  if (line.length <= TEXT_CHARS_MAX) return line;
  const head = line.slice(0, 40);
  return `${head} … ${line.slice(line.length - (TEXT_CHARS_MAX - 43))}`;
}

type Choice = 'approve' | 'reject';
const UNDECIDED = 'leave it';
/** A form expires after this time. */
const FORM_MS_MAX = 600_000;

/** What the person's answer adds to the operation. `revision` binds the decision to the request that was shown. */
type FormDecision = { readonly revision?: string; readonly reason?: string };

/** Shows the request to the person. Returns the decision, or a refusal if there is none. */
async function askPerson(
  choice: Choice,
  id: string,
  context: ToolContext,
  current: CurrentCall,
): Promise<Verdict | FormDecision> {
  const listed = await operation(context, current, 'approvals.list', {});
  if (!listed.allow) return listed;
  const views = listed.details.approvals as unknown as readonly ApprovalView[];
  const view = views.find((one) => one.id === id);
  if (!view)
    return deny('UNKNOWN_APPROVAL', `${id.slice(0, 64)}: no open approval has this id; approvals_list shows them`);
  if (choice === 'approve' && view.status !== 'pending')
    return deny('NOT_ALLOWED_NOW', `${id} is ${view.status} and waits for no yes by a form`, { approval: id });
  const answered = await formAnswer(choice, view, context, current);
  if ('allow' in answered) return answered;
  const token = context.personToken?.();
  if (token && !token.allow) return token;
  return { revision: view.revision, ...answered };
}

/** Only an accepted form with the explicit choice counts. */
async function formAnswer(
  choice: Choice,
  view: ApprovalView,
  { workspace }: ToolContext,
  { ask, signal }: CurrentCall,
): Promise<Verdict | FormDecision> {
  const { id } = view;
  const undecided = (why: string) =>
    deny('NOT_ALLOWED_NOW', `${id}: ${why}; nothing was decided and nothing was changed`, { approval: id });
  if (!ask) return undecided(NO_FORM);
  const verb = choice === 'approve' ? 'Approve' : 'Reject';
  const shown = linesOf(view, workspace.program).join('\n');
  const form = { message: `${verb} this request?\n\n${shown}`, schema: formSchema(choice) };
  const timeoutMs = Math.min(FORM_MS_MAX, Math.max(1, Date.parse(view.until) - Date.now()));
  let answer: ElicitedAnswer;
  try {
    answer = await ask(form, timeoutMs);
  } catch (error) {
    return undecided(`the client brought no answer (${error instanceof Error ? error.message : String(error)})`);
  }
  if (signal.aborted) return undecided('the caller gave up');
  const { action, content = {} } = answer;
  if (action !== 'accept') return undecided(action === 'decline' ? 'the person declined' : 'the person cancelled');
  const { choice: chosen, reason = '', ...more } = content;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    return undecided(`the answer has a field ${JSON.stringify(unknown)} that the form has not`);
  if (!isString(reason)) return undecided('the reason in the answer is no text');
  if (chosen === UNDECIDED) return undecided('the person left it as it is');
  if (chosen !== choice) return undecided(`the answer does not say ${JSON.stringify(choice)}`);
  return reason.trim() === '' ? {} : { reason };
}

export const NO_FORM =
  'a decision needs a client that can show a form (elicitation) and a server that was started with a token of a person (BATON_TOKEN)';

function formSchema(choice: Choice): JsonObject {
  return {
    type: 'object',
    properties: {
      choice: { type: 'string', title: 'Your decision', enum: [choice, UNDECIDED] },
      reason: { type: 'string', title: 'Why', description: 'for the log; the agent reads it, too' },
    },
    required: ['choice'],
  };
}
