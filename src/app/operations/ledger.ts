// The ledger: tasks, locks, signs of life, worklogs, gates.
import { TASK_STATUSES } from '../../kernel/ledger/state.ts';
import { entriesOf, FOREIGN } from '../operation.ts';

const OWN_TASK = 'the id of the task; within a cast: the one you work on';
const RUN = {
  type: 'text',
  value: 'ID',
  means: 'the run: its id, or a beginning that only one has',
  example: '3f2a9c1e',
} as const;
const OWNER = {
  type: 'text',
  value: 'NAME',
  means: 'the name under which the task is claimed',
  example: 'ann',
} as const;
const FENCE = { type: 'count', means: 'the token of the claim, as the claim answered it', example: 7 } as const;
const PID = {
  type: 'count',
  means: 'the process that works on it, so that its end is noticed',
  example: 4711,
} as const;
const VERSION = { type: 'count', means: 'refuse when the row has another version by now', example: 3 } as const;

const BY_HAND = { leftOut: 'a person does it by hand, or a script by the command line or the library' } as const;

export const GATE_NAMES = ['pre-dispatch', 'pre-complete', 'post-execution', 'lock-update', 'stop'] as const;

export const LEDGER_ROWS = entriesOf('ledger', {
  'task.create': {
    act: 'steer',
    means: 'put one assignment packet into the ledger',
    example: 'baton task create packet.json',
    fields: {
      packet: { type: 'json', word: 'FILE', required: true, means: 'one assignment packet' },
      root: { type: 'path', means: 'the folder its paths lie in', example: 'packages/api' },
      retries: { type: 'count', means: 'how often it is handed out again after a failure', example: 1 },
    },
    mcp: {
      name: 'task_create',
      audience: 'anyone',
      description: 'Put one assignment packet into the ledger. Somebody claims it with task_claim or task_next.',
      without: ['root'],
    },
  },
  'task.claim': {
    act: 'steer',
    means: 'take a task and all its locks in one step; details.fence is the token of the claim',
    example: 'baton task claim T-12 --owner ann',
    fields: {
      task: { type: 'text', word: 'TASK', required: true, means: 'the id of the task', example: 'T-12' },
      owner: { ...OWNER, required: true },
      pid: PID,
      run: RUN,
      expectedVersion: VERSION,
    },
    mcp: {
      name: 'task_claim',
      audience: 'anyone',
      description: `Claim a task and all its locks in one step. Keep details.fence: it is asked for afterwards. ${FOREIGN}`,
      without: ['pid', 'expectedVersion'],
    },
  },
  'task.next': {
    act: 'steer',
    means: 'find the best task that can start now, and claim it in the same step',
    example: 'baton task next --owner ann',
    fields: { owner: { ...OWNER, required: true }, pid: PID, run: RUN },
    mcp: {
      name: 'task_next',
      audience: 'anyone',
      description: `Find the best task that can start now, and claim it in the same step. Keep details.fence. ${FOREIGN}`,
      without: ['pid'],
    },
  },
  'task.finish': {
    act: 'steer',
    means: 'hand in one result; changes are compared with the lock scope, and checkers are run',
    example: 'baton task finish result.json --fence 7',
    fields: {
      result: {
        type: 'json',
        word: 'FILE',
        required: true,
        means: 'the result envelope',
        schema: { type: ['object', 'string'] },
      },
      fence: { ...FENCE, required: true },
    },
    mcp: {
      name: 'task_finish',
      audience: 'anyone',
      description:
        'Hand in the result of a claimed task. What it says is checked: the shape, the evidence for every criterion, and what was really changed.',
    },
  },
  'task.move': {
    act: 'steer',
    means: 'move a task by hand; a person needs no fence',
    example: 'baton task move T-12 canceled --reason "not needed any more"',
    fields: {
      task: { type: 'text', word: 'TASK', required: true, means: 'the id of the task', example: 'T-12' },
      status: {
        type: 'choice',
        word: 'STATUS',
        of: TASK_STATUSES,
        noun: 'status',
        required: true,
        means: 'where it goes',
        example: 'blocked',
      },
      reason: { type: 'text', required: true, means: 'why', example: 'waits for the design' },
      code: { type: 'text', value: 'CODE', means: 'the code of the reason', example: 'TASK_TIMEOUT' },
      owner: OWNER,
      fence: FENCE,
      expectedVersion: VERSION,
      run: RUN,
    },
    mcp: {
      name: 'task_move',
      audience: 'anyone',
      description:
        'Move a task by hand, with the fence of its claim: give it up as blocked with a code and a reason. Only a person says that one is done; hand in a result with task_finish.',
      without: ['expectedVersion'],
    },
  },
  'task.list': {
    act: 'look',
    means: 'list the tasks of the ledger',
    example: 'baton task list --status blocked',
    fields: {
      run: RUN,
      status: { type: 'choice', of: TASK_STATUSES, noun: 'status', means: 'only tasks with it', example: 'blocked' },
    },
    mcp: {
      name: 'task_list',
      audience: 'anyone',
      description: `List the tasks of the ledger with their status, owner and scope. ${FOREIGN}`,
    },
  },
  'task.apply': {
    act: 'steer',
    means: 'apply deltas (with --run), or a whole envelope of an orchestrator; doing it again changes nothing',
    example: 'baton task apply envelope.json',
    fields: {
      stream: { type: 'json', word: 'FILE', required: true, means: 'an array of deltas, or an envelope' },
      run: RUN,
    },
    mcp: {
      name: 'task_apply',
      audience: 'anyone',
      description:
        'Apply deltas (with run), or a whole envelope of an orchestrator, all or nothing. Applying the same again changes nothing.',
      schemas: { stream: { type: ['array', 'object'] } },
    },
  },
  heartbeat: {
    act: 'steer',
    means: 'say that the owner of a task is alive',
    example: 'baton heartbeat T-12 --owner ann --fence 7',
    fields: {
      task: { type: 'text', word: 'TASK', required: 'unless-attempt', means: OWN_TASK, example: 'T-12' },
      owner: { ...OWNER, required: 'unless-attempt' },
      fence: { ...FENCE, required: 'unless-attempt' },
      pid: PID,
      run: RUN,
    },
    mcp: {
      name: 'heartbeat',
      audience: 'anyone',
      description:
        'Say that you are alive and still work on your task. A task whose owner is silent is given to another.',
      without: ['pid'],
    },
  },
  'lock.list': {
    act: 'look',
    means: 'list the locks that are held',
    example: 'baton lock list --history',
    fields: { history: { type: 'flag', means: 'those that were given back, too' }, run: RUN },
    mcp: { leftOut: 'an agent asks by lock_check; task_list shows the scopes' },
  },
  'lock.check': {
    act: 'look',
    means: 'say who is in the way of these paths; with a fence, whether its claim may write there',
    example: 'baton lock check src/api.ts',
    fields: {
      paths: {
        type: 'list',
        itemsMin: 1,
        word: 'PATH…',
        itemsMax: 200,
        required: true,
        means: 'paths, starting at the workspace',
        example: ['src/api.ts'],
      },
      root: {
        type: 'path',
        means: 'the folder the paths lie in, where it is not the workspace',
        example: 'packages/api',
      },
      fence: { ...FENCE, means: 'whether the claim with this token may write there right now' },
    },
    mcp: {
      name: 'lock_check',
      audience: 'anyone',
      description:
        'Ask before you write: whether your claim covers these paths right now, or, without a fence, who holds them.',
      without: ['root'],
    },
  },
  'lock.request': {
    act: 'look',
    means: 'ask for paths beyond the scope of the own task',
    example: '',
    fields: {
      paths: {
        type: 'list',
        itemsMin: 1,
        itemsMax: 200,
        required: true,
        means: 'paths, starting at the workspace',
        example: ['src'],
      },
    },
    cli: { leftOut: 'only an agent within its attempt asks' },
    mcp: {
      name: 'lock_request',
      audience: 'agent',
      description:
        'Ask for paths beyond the scope of your task. Nothing is granted in the middle of a turn: the answer says who holds them, or how your task gets them.',
    },
  },
  'worklog.add': {
    act: 'steer',
    means: 'add one entry to the worklog of a task; details.file is the file that holds it',
    example: 'baton worklog add T-12 entry.json',
    fields: {
      task: { type: 'text', word: 'TASK', required: 'unless-attempt', means: OWN_TASK, example: 'T-12' },
      entry: {
        type: 'json',
        word: 'FILE',
        required: true,
        means: 'one worklog entry',
        schema: {
          type: 'object',
          properties: {
            action: { type: 'string', minLength: 1, description: 'what you did' },
            files_touched: {
              type: 'array',
              items: { type: 'string', minLength: 1 },
              description: 'the files it was about; may be empty',
            },
            decision: { type: 'string', description: 'what you decided, and why' },
            result: { type: 'string', description: 'what came of it' },
            next_step: { type: 'string', description: 'what comes next' },
            timestamp: { type: 'string', description: 'in universal time; filled in' },
            run_id: { type: 'string', description: 'within a cast: filled in' },
            task_id: { type: 'string', description: 'filled in' },
            actor: { type: 'string', description: 'the owner of the task; within a cast: filled in' },
          },
          required: ['action', 'files_touched', 'decision', 'result', 'next_step'],
        },
      },
      fence: { ...FENCE, means: 'refuse the entry when the claim with this token is over' },
      run: RUN,
    },
    mcp: {
      name: 'worklog_add',
      audience: 'anyone',
      description:
        'Add one entry to the append-only worklog of your task. Within a cast the time, the run, the task and the actor of the entry are filled in.',
    },
  },
  'worklog.show': {
    act: 'look',
    means: 'show the entries of a worklog, oldest first',
    example: 'baton worklog show T-12',
    fields: {
      task: { type: 'text', word: 'TASK', required: true, means: 'the id of the task', example: 'T-12' },
      run: RUN,
    },
    mcp: { leftOut: 'read_context has the worklog of the task at hand' },
  },
  reconcile: {
    act: 'look',
    means: 'say whether ledger, locks and events agree; without a run, of every run',
    example: 'baton reconcile',
    fields: { run: RUN },
    mcp: BY_HAND,
  },
  bundle: {
    act: 'look',
    means: 'collect everything a new session needs to continue a run; without a run, of the only one that is open',
    example: 'baton bundle -o bundle.json',
    fields: {
      run: RUN,
      objective: { type: 'text', means: 'instead of the objective of the assignments', example: 'ship 1.2' },
      output: {
        type: 'path',
        short: 'o',
        value: 'FILE',
        means: 'write it to a file; then the answer is a verdict',
        example: 'bundle.json',
      },
    },
    mcp: { leftOut: 'read_context answers the bundle to an agent' },
  },
  hold: {
    act: 'decide',
    peopleOnly: 'hold a workspace',
    means: 'pause this workspace: nothing new starts, what runs goes on',
    example: 'baton hold --reason "release day"',
    fields: {
      reason: {
        type: 'text',
        required: true,
        means: 'why, for everybody who asks for work meanwhile',
        example: 'release',
      },
    },
    mcp: BY_HAND,
  },
  unhold: {
    act: 'decide',
    peopleOnly: 'release a workspace',
    means: 'let new work start again',
    example: 'baton unhold',
    fields: { reason: { type: 'text', means: 'why, for the log', example: 'released' } },
    mcp: BY_HAND,
  },
  watchdog: {
    act: 'steer',
    means: 'block tasks whose owners are silent for too long, and hand them out again',
    example: 'baton watchdog --follow',
    endsBySignal: true,
    fields: {
      follow: { type: 'flag', means: 'go on looking, whenever somebody can have been silent for too long' },
    },
    mcp: BY_HAND,
  },
  gate: {
    act: 'look',
    means: 'ask one of the checks at the doors of a task',
    example: 'baton gate pre-dispatch < packet.json',
    fields: {
      name: {
        type: 'choice',
        word: GATE_NAMES.join('|'),
        of: GATE_NAMES,
        noun: 'gate',
        required: true,
        means: 'which one',
        example: 'stop',
      },
      payload: { type: 'json', isStandardInput: true, required: true, means: 'the payload that it looks at' },
    },
    mcp: { leftOut: 'it is for the scripts and hooks of other systems' },
  },
});
