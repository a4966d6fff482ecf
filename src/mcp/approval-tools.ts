// Permissions by tool: an agent asks for one exact command, and runs it once after a person approved it.

import { isString, type JsonObject } from '../kernel/json.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { args, type CurrentCall, operation, type Tool, type ToolContext } from './tool.ts';

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
