// Permissions by tool. An agent asks for one exact command and runs it once after a person approved it. The person at a client
// decides in a form that shows the sealed command; no argument of a tool decides.
import { type ApprovalView, linesOf } from '../approvals/approval-view.ts';
import { isString, type JsonObject } from '../kernel/json.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { args, type CurrentCall, type ElicitedAnswer, operation, type Tool, type ToolContext } from './tool.ts';

export const APPROVAL_TOOLS: readonly Tool[] = [
  {
    name: 'request_approval',
    audience: 'agent',
    description:
      'Ask a person for permission to run one exact command. Report the approval id you get and end your turn; once approved, run it with `baton exec --approval ID -- …` or run_approved.',
    input: args(
      {
        operation: { type: 'string', minLength: 1, description: 'what you want to do' },
        reason: { type: 'string', minLength: 1, description: 'why it is needed' },
        command: { type: 'string', minLength: 1, description: 'the command, exactly as it is to be run' },
        scope: { type: 'string', description: 'what it touches' },
        risk_level: { type: 'string', enum: ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] },
        rollback: { type: 'string', minLength: 1, description: 'how to undo it' },
        verification: { type: 'string', minLength: 1, description: 'how it is seen that it worked' },
        folder: { type: 'string', description: 'where it is to be run; where you are, if not said' },
      },
      ['operation', 'reason', 'command', 'rollback', 'verification'],
    ),
    act: 'steer',
    call: ({ reason, command, folder, ...said }, context, current) => {
      const wish = { ...said, rationale: reason ?? '', exact_content: command ?? '', x_cwd: folder ?? process.cwd() };
      return askForApproval(wish, context, current);
    },
  },
  {
    name: 'run_approved',
    audience: 'agent',
    description:
      'Run a command that a person approved, once, exactly as it was approved, if your own shell cannot. Answers with its exit code and output.',
    input: args(
      {
        approval: { type: 'string', minLength: 1, maxLength: 100, description: 'the id of the approval' },
        argv: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description: 'the words of the command as they were approved: what stands behind --',
        },
        folder: { type: 'string', description: 'where it was approved to run; where you are, if not said' },
      },
      ['approval', 'argv'],
    ),
    act: 'steer',
    call: ({ approval, argv, folder }, context, current) => {
      const words = Array.isArray(argv) ? argv.map(String) : [];
      return runApproved(String(approval), words, isString(folder) ? folder : process.cwd(), context, current);
    },
  },
];

/** The operation compares, counts and writes down. */
async function runApproved(
  approval: string,
  argv: readonly string[],
  folder: string,
  context: ToolContext,
  current: CurrentCall,
): Promise<Verdict> {
  if (!context.attempt) return deny('NOT_ALLOWED_NOW', 'there is no attempt at hand');
  const verdict = await operation(context, current, 'exec', { approval, argv, folder });
  if (!verdict.allow) return deny(verdict.code, verdict.reason, { ...verdict.details, approval });
  const { code: exit = null, stdout = '', stderr = '' } = verdict.details;
  return allow(verdict.reason, { approval, exit, stdout, stderr });
}

async function askForApproval(wish: JsonObject, context: ToolContext, current: CurrentCall): Promise<Verdict> {
  if (!context.attempt || wish.exact_content === '') {
    const why = context.attempt ? 'name the command, exactly as it is to be run' : 'there is no attempt at hand';
    const reason = `${why}. Do not do it: say in your handoff what you want to do and why, so that a person can decide.`;
    return deny('NOT_ALLOWED_NOW', reason, { operation: wish.operation ?? null });
  }
  return operation(context, current, 'approvals.request', { request: wish });
}

type Choice = 'approve' | 'reject';
const LEAVE = 'leave it';
/** A form that is not answered by then is over. */
const FORM_MS_MAX = 600_000;

/** What the person's answer adds to the operation. `revision` binds the decision to the request that was shown. */
export type FormDecision = { readonly revision?: string; readonly reason?: string };

/** Shows the request to the person. Answers the decision, or a refusal where none was made. */
export async function askPerson(
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
  const form = { message: `${verb} this request?\n\n${shown}`, schema: schemaOf(choice) };
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
  if (chosen === LEAVE) return undecided('the person left it as it is');
  if (chosen !== choice) return undecided(`the answer does not say ${JSON.stringify(choice)}`);
  return reason.trim() === '' ? {} : { reason };
}

export const NO_FORM =
  'a decision needs a client that can show a form (elicitation) and a server that was started with a token of a person (BATON_TOKEN)';

function schemaOf(choice: Choice): JsonObject {
  return {
    type: 'object',
    properties: {
      choice: { type: 'string', title: 'Your decision', enum: [choice, LEAVE] },
      reason: { type: 'string', title: 'Why', description: 'for the log; the agent reads it, too' },
    },
    required: ['choice'],
  };
}
