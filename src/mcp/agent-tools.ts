// The tools of an agent in its attempt, besides `submit_handoff`: ask for permission and run what was approved (permissions by tool),
// and look things up (`read_context`, which a new session outside a cast uses, too).

import { FOREIGN } from '../app/operation.ts';
import { dialects } from '../dialects/index.ts';
import { scopeOf } from '../kernel/cast/data.ts';
import { saidFor } from '../kernel/cast/notes.ts';
import { contractFor, materiaOf } from '../kernel/cast/rules.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import { resolvePath } from '../kernel/graph/path.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { readableSections } from '../kernel/knowledge/rules.ts';
import type { Section } from '../kernel/knowledge/state.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { type PresentTurn, presentTurn } from './submit-handoff.ts';
import { args, type CurrentCall, operation, type Tool, type ToolContext } from './tool.ts';

export const APPROVAL_TOOLS: readonly Tool[] = [
  {
    name: 'request_approval',
    audience: 'agent',
    actsHere: true,
    description:
      'Ask a person for permission to run one exact command. Report the approval id you get and end your turn; once approved, run it with `baton exec --approval ID -- …` or run_approved.',
    input: args(
      {
        operation: { type: 'string', minLength: 1, description: 'what you want to do' },
        reason: { type: 'string', minLength: 1, description: 'why it is needed' },
        command: { type: 'string', minLength: 1, description: 'the exact command to run' },
        scope: { type: 'string', description: 'what it touches' },
        risk_level: { type: 'string', enum: ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] },
        rollback: { type: 'string', minLength: 1, description: 'how to undo it' },
        verification: { type: 'string', minLength: 1, description: 'how to check that it worked' },
        folder: { type: 'string', description: 'where to run it; by default the current folder' },
      },
      ['operation', 'reason', 'command', 'rollback', 'verification'],
    ),
    act: 'steer',
    call: ({ reason, command, folder, ...rest }, context, current) => {
      const request = {
        ...rest,
        rationale: reason ?? '',
        exact_content: command ?? '',
        x_cwd: folder ?? process.cwd(),
      };
      return askForApproval(request, context, current);
    },
  },
  {
    name: 'run_approved',
    audience: 'agent',
    actsHere: true,
    description:
      'Run a command that a person approved, once, exactly as it was approved, if your own shell cannot. Answers with its exit code and output.',
    input: args(
      {
        approval: { type: 'string', minLength: 1, maxLength: 100, description: 'the id of the approval' },
        argv: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description: 'the words of the command as they were approved: those after --',
        },
        folder: { type: 'string', description: 'where it was approved to run; by default the current folder' },
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

/** The operation compares the command, counts its use and records it. */
async function runApproved(
  approval: string,
  argv: readonly string[],
  folder: string,
  context: ToolContext,
  current: CurrentCall,
): Promise<Verdict> {
  if (!context.attempt) return deny('NOT_ALLOWED_NOW', 'this process belongs to no attempt');
  const verdict = await operation(context, current, 'exec', { approval, argv, folder });
  if (!verdict.allow) return deny(verdict.code, verdict.reason, { ...verdict.details, approval });
  const { code: exit = null, stdout = '', stderr = '' } = verdict.details;
  return allow(verdict.reason, { approval, exit, stdout, stderr });
}

async function askForApproval(request: JsonObject, context: ToolContext, current: CurrentCall): Promise<Verdict> {
  if (!context.attempt || request.exact_content === '') {
    const why = context.attempt ? 'name the exact command to run' : 'this process belongs to no attempt';
    const reason = `${why}. Do not do it: say in your handoff what you want to do and why, so that a person can decide.`;
    return deny('NOT_ALLOWED_NOW', reason, { operation: request.operation ?? null });
  }
  return operation(context, current, 'approvals.request', { request });
}

/** A larger value fills the context window of an agent. */
const VALUE_CHARS_MAX = 65_536;

export const readContext: Tool = {
  name: 'read_context',
  audience: 'anyone',
  description: `Read what you were asked: the request, the item, what to return, and which data there is; with a path (workItems.0.title) the value there; with a section what the project knows. Outside a cast: all a new session needs to go on with a run. ${FOREIGN}`,
  input: args({
    path: { type: 'string', minLength: 1, maxLength: 1000, description: 'within a cast: a path into its data' },
    section: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: 'within a cast: a section of shared knowledge',
    },
    run: { type: 'string', minLength: 1, description: 'outside a cast: the run that is meant' },
  }),
  act: 'look',
  call: ({ path, section, run }, context, current) =>
    context.attempt ? ofAttempt(context, current, path, section) : ofRun(context, current, run),
};

async function ofAttempt(
  context: ToolContext,
  current: CurrentCall,
  path: Json | undefined,
  section: Json | undefined,
): Promise<Verdict> {
  if (!context.attempt) return deny('NOT_ALLOWED_NOW', 'this process belongs to no attempt');
  const found = await presentTurn(context, context.attempt);
  if (!('turn' in found)) return found;
  const { cast, turn } = found;
  if (isString(section)) return ofSection(context, current, found, section);
  if (!isString(path)) {
    const knowledge = Object.keys(await readable(context, current, found));
    return allow('what you were asked', { ...overview(cast, turn), knowledge });
  }
  const value = resolvePath(path, scopeOf(cast, turn.item));
  if (value === undefined) {
    const reason = `there is nothing at ${JSON.stringify(path)}; the data has ${listed(Object.keys(cast.data))}`;
    return deny('MISSING_REQUIRED_INPUT', reason, { path });
  }
  return allow(`the value at ${path}`, { path, ...bounded(value) });
}

async function ofSection(context: ToolContext, current: CurrentCall, at: PresentTurn, name: string): Promise<Verdict> {
  const sections = await readable(context, current, at);
  const found = Object.hasOwn(sections, name) ? sections[name] : undefined;
  if (found) return allow(`what is known of ${name}`, { section: name, ...bounded(found.value) });
  const reason = `there is no section ${JSON.stringify(name)} that you may read; there are ${listed(Object.keys(sections))}`;
  return deny('UNKNOWN_SECTION', reason, { section: name });
}

/** The sections that are stored and that the agent of the turn may read. */
async function readable(
  context: ToolContext,
  current: CurrentCall,
  { cast, turn }: PresentTurn,
): Promise<Record<string, Section>> {
  const { details } = await operation(context, current, 'context.show', {});
  const stored = (Array.isArray(details.sections) ? (details.sections as readonly Json[]) : []).filter(isObject);
  const sections = Object.fromEntries(stored.map((each) => [String(each.section), each as unknown as Section]));
  const names = readableSections(cast.rules, materiaOf(cast, turn.socket), { sections });
  return Object.fromEntries(names.flatMap((name) => (sections[name] ? [[name, sections[name]] as const] : [])));
}

function overview(cast: Cast, turn: Turn): JsonObject {
  const contract = contractFor(cast, turn);
  const scope = scopeOf(cast, turn.item);
  return {
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    socket: turn.socket,
    request: cast.request,
    item: turn.item ? { key: turn.item.key, title: turn.item.label, ...bounded(scope.item ?? null) } : null,
    returns: { contract: contract.dialect, instructions: dialects[contract.dialect].brief(contract) },
    data: Object.keys(cast.data),
  };
}

/** The value, or the beginning of its text where it is too long. */
function bounded(value: Json): JsonObject {
  const text = JSON.stringify(value);
  if (text.length <= VALUE_CHARS_MAX) return { value };
  return { text: text.slice(0, VALUE_CHARS_MAX), cut: true, chars: text.length };
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'no members' : names.slice(0, 50).join(', ');
}

/** An empty workspace is no error. The caller learns how to begin. */
const NOTHING_YET =
  'There is nothing to go on with yet: no run here has a task. Start a cast with cast_start, or create a task with `baton task create FILE`; cast_list shows what has run.';

async function ofRun(context: ToolContext, current: CurrentCall, run: Json | undefined): Promise<Verdict> {
  const verdict = await operation(context, current, 'bundle', isString(run) ? { run } : {});
  const { bundle } = verdict.details;
  if (verdict.allow && isObject(bundle)) return allow('what a new session needs', bundle);
  return run === undefined && verdict.details.empty === true ? allow(NOTHING_YET, { ledger: [] }) : verdict;
}

/** By workspace and attempt, how many sayings it got with answers of tools, so that it gets each of them once. */
const answered = new WeakMap<ToolContext['workspace'], Map<string, number>>();

/**
 * The answer of a tool with what a person has said to the agent since its brief: between two calls it can still act on it. The next
 * brief has the words as well, because nothing shows that the agent has read them here.
 */
export async function withSaid(context: ToolContext, verdict: Verdict): Promise<Verdict> {
  const { workspace, isAgent, attempt, cast: find } = context;
  const cast = isAgent && attempt ? await find(attempt.cast).catch(() => null) : null;
  const turn = cast?.turns[attempt?.turn ?? 0];
  if (!cast || !turn || !attempt || turn.phase !== 'running' || turn.attempt !== attempt.attempt) return verdict;
  const key = `${cast.id}:${turn.id}.${turn.attempt}`;
  const counts = answered.get(workspace) ?? new Map<string, number>();
  const all = saidFor(cast, turn).map(({ text }) => text);
  const said = all.slice(counts.get(key) ?? 0);
  if (said.length === 0) return verdict;
  answered.set(workspace, counts.set(key, all.length));
  const reason = `${verdict.reason}. A person says something about your work: read details.said, and act on it before you go on`;
  return { ...verdict, reason, details: { ...verdict.details, said } };
}
