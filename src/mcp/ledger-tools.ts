// The ledger by tool call: tasks, signs of life, worklogs, locks. Within an attempt the task at hand is known and need not
// be named.
import { isObject, isString, type JsonObject } from '../kernel/json.ts';
import { spokenPath } from '../kernel/ledger/spoken-path.ts';
import { TASK_STATUSES } from '../kernel/ledger/transition.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { refusalOf, verdictOf } from './command-line.ts';
import { turnOf } from './submit-handoff.ts';
import { args, FOREIGN, type Scene, type Tool } from './tool.ts';

const TASK = { type: 'string', minLength: 1, description: 'the id of the task; within a cast: the one you work on' };
const OWNER = { type: 'string', minLength: 1, description: 'the name under which the task is claimed' };
const FENCE = { type: 'integer', minimum: 0, description: 'the token of the claim, as the claim answered it' };
const RUN = { type: 'string', minLength: 1, description: 'the run that is meant, where several are open' };

const PATHS = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 200 };
const WORDS = { type: 'string', minLength: 1 };
const ENTRY = {
  type: 'object',
  description: 'one worklog entry',
  properties: {
    action: { ...WORDS, description: 'what you did' },
    files_touched: { type: 'array', items: WORDS, description: 'the files it was about; may be empty' },
    decision: { type: 'string', description: 'what you decided, and why' },
    result: { type: 'string', description: 'what came of it' },
    next_step: { type: 'string', description: 'what comes next' },
    timestamp: { type: 'string', description: 'in universal time; filled in' },
    run_id: { type: 'string', description: 'within a cast: filled in' },
    task_id: { type: 'string', description: 'filled in' },
    actor: { type: 'string', description: 'the owner of the task; within a cast: filled in' },
  },
  required: ['action', 'files_touched', 'decision', 'result', 'next_step'],
};

export const LEDGER_TOOLS: readonly Tool[] = [
  {
    name: 'task_list',
    audience: 'anyone',
    description: `List the tasks of the ledger with their status, owner and scope. ${FOREIGN}`,
    input: args({
      run: RUN,
      status: { enum: [...TASK_STATUSES] },
    }),
    readOnly: true,
    async call(given, { baton }) {
      const said = await baton(['task', 'list', ...options(given, ['run', 'status'])]);
      if (!Array.isArray(said.value)) return refusalOf(said);
      return allow(`${said.value.length} tasks`, { tasks: said.value });
    },
  },
  {
    name: 'task_claim',
    audience: 'anyone',
    description: `Claim a task and all its locks in one step. Keep details.fence: it is asked for afterwards. ${FOREIGN}`,
    input: args({ task: TASK, owner: OWNER, run: RUN }, ['task', 'owner']),
    readOnly: false,
    call: async ({ task, ...given }, { baton }) =>
      verdictOf(await baton(['task', 'claim', ...options(given, ['owner', 'run']), '--', String(task)])),
  },
  {
    name: 'task_next',
    audience: 'anyone',
    description: `Find the best task that can start now, and claim it in the same step. Keep details.fence. ${FOREIGN}`,
    input: args({ owner: OWNER, run: RUN }, ['owner']),
    readOnly: false,
    call: async (given, { baton }) => verdictOf(await baton(['task', 'next', ...options(given, ['owner', 'run'])])),
  },
  {
    name: 'task_finish',
    audience: 'anyone',
    description:
      'Hand in the result of a claimed task. What it says is checked: the shape, the evidence for every criterion, and what was really changed.',
    input: args({ result: { type: ['object', 'string'], description: 'the result envelope' }, fence: FENCE }, [
      'result',
      'fence',
    ]),
    readOnly: false,
    call: async ({ result = null, ...given }, { baton }) => {
      const input = isString(result) ? result : JSON.stringify(result);
      return verdictOf(await baton(['task', 'finish', ...options(given, ['fence']), '--', '-'], { input }));
    },
  },
  {
    name: 'heartbeat',
    audience: 'anyone',
    description:
      'Say that you are alive and still work on your task. A task whose owner is silent is given to another.',
    input: args({ task: TASK, owner: OWNER, fence: FENCE, run: RUN }),
    readOnly: false,
    call: (given, scene) =>
      withClaim(scene, given, ['task', 'owner', 'fence'], async ({ task, ...claim }) =>
        verdictOf(await scene.baton(['heartbeat', ...options(claim, ['owner', 'fence', 'run']), '--', String(task)])),
      ),
  },
  {
    name: 'worklog_add',
    audience: 'anyone',
    description:
      'Add one entry to the append-only worklog of your task. Within a cast the time, the run, the task and the actor of the entry are filled in.',
    input: args({ task: TASK, entry: ENTRY, fence: FENCE, run: RUN }, ['entry']),
    readOnly: false,
    call: ({ entry = {}, ...given }, scene) =>
      withClaim(scene, given, ['task'], async ({ task = '', owner, runId, ...claim }) => {
        const words = ['worklog', ...options(claim, ['fence', 'run']), '--', 'add', String(task), '-'];
        const known = {
          ...{ timestamp: new Date().toISOString(), task_id: task },
          ...(runId === undefined ? {} : { run_id: runId }),
          ...(owner === undefined ? {} : { actor: owner }),
        };
        const whole = isObject(entry) ? { ...known, ...entry } : entry;
        return verdictOf(await scene.baton(words, { input: JSON.stringify(whole) }));
      }),
  },
  {
    name: 'lock_check',
    audience: 'anyone',
    description:
      'Ask before you write: whether your claim covers these paths right now, or, without a fence, who holds them.',
    input: args({ paths: PATHS, fence: FENCE }, ['paths']),
    readOnly: true,
    async call({ paths = [], fence }, { baton, attempt }) {
      const token = fence ?? attempt?.fence ?? null;
      const words = (Array.isArray(paths) ? paths : []).map(String);
      const own = token === null ? {} : { fence: token };
      return verdictOf(await baton(['lock', ...options(own, ['fence']), '--', 'check', ...words]));
    },
  },
  {
    name: 'lock_request',
    audience: 'agent',
    description:
      'Ask for paths beyond the scope of your task. Nothing is granted in the middle of a turn: you are told who holds them, or how your task gets them.',
    input: args({ paths: PATHS }, ['paths']),
    readOnly: true,
    call: ({ paths = [] }, scene) =>
      withClaim(scene, {}, ['task', 'fence'], (claim) =>
        answerToRequest((Array.isArray(paths) ? paths : []).map(String), claim, scene),
      ),
  },
];

/** A claim has its locks from the assignment, all at once, so that no two tasks wait for each other's. It never gets more. */
async function answerToRequest(paths: readonly string[], claim: JsonObject, { baton }: Scene): Promise<Verdict> {
  const asked = await baton(['lock', ...options(claim, ['root']), '--', 'check', ...paths]);
  const held = verdictOf(asked);
  if (!held.allow && held.code !== 'LOCK_CONFLICT') return held;
  const conflicts = Array.isArray(held.details.conflicts) ? held.details.conflicts.filter(isObject) : [];
  const isOwn = ({ holder }: JsonObject) => isObject(holder) && holder.fence === claim.fence;
  const [rival, ...others] = conflicts.filter((conflict) => !isOwn(conflict));
  if (rival && isObject(rival.holder)) {
    const { task, owner, path } = rival.holder;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const reason = `${String(task)} (${String(owner)}) holds ${spokenPath(String(path))}${more}; work on what is yours, and report what is missing`;
    return deny('LOCK_CONFLICT', reason, { paths, conflicts: [rival, ...others] });
  }
  const own = verdictOf(await baton(['lock', ...options(claim, ['fence']), '--', 'check', ...paths]));
  if (own.allow) return allow('these paths are yours already', { paths });
  const way =
    'report what you need in your handoff and end the turn: the planner widens lock_scope in the next assignment, or a person does in the configuration';
  const reason = `nobody holds these paths, and the scope of ${String(claim.task)} is fixed by its assignment: ${own.reason} To get them, ${way}`;
  return deny('SCOPE_VIOLATION', reason, { ...own.details, paths });
}

/** `--name=value` for what is given: a value that begins with a dash is still a value. */
function options(given: JsonObject, names: readonly string[]): string[] {
  return names.flatMap((name) => (given[name] === undefined ? [] : [`--${name}=${String(given[name])}`]));
}

/** Fills in what the attempt knows of its own task, and refuses where something needed is still missing. */
async function withClaim(
  scene: Scene,
  given: JsonObject,
  needed: readonly string[],
  work: (claim: JsonObject) => Promise<Verdict>,
): Promise<Verdict> {
  const own = scene.attempt && given.task === undefined ? await claimAtHand(scene) : {};
  if ('allow' in own) return own as unknown as Denied;
  const claim: JsonObject = { ...own, ...given };
  const missing = needed.filter((name) => claim[name] === undefined);
  if (missing.length === 0) return work(claim);
  return deny('BAD_USAGE', `say which: ${missing.join(', ')}`, { missing });
}

async function claimAtHand(scene: Scene): Promise<JsonObject | Denied> {
  const { attempt, baton } = scene;
  if (!attempt) return {};
  const found = await turnOf(scene, attempt);
  if (!('turn' in found)) return found;
  const { task, fence } = found.turn;
  const { runId, root } = found.cast;
  if (task === null)
    return deny('NOT_ALLOWED_NOW', 'this turn works on no task of the ledger; there is nothing to keep');
  const listed = await baton(['task', 'list', `--run=${attempt.cast}`]);
  const rows = Array.isArray(listed.value) ? listed.value.filter(isObject) : [];
  const owner = rows.find((row) => row.task_id === task)?.owner;
  const known = { run: attempt.cast, runId, task, ...(root === undefined ? {} : { root }) };
  return { ...known, ...(fence === null ? {} : { fence }), ...(isString(owner) ? { owner } : {}) };
}
