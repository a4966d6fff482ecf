// Codes of loadouts and casts: static checks, reading a handoff, and the ways a cast ends.
import type { CodeRow } from './row.ts';

const check = (means: string, cause: string, fix: string) =>
  ({ http: 422, retry: 'person', means, cause, fix }) as const;

export const GRAPH_CODES = {
  MISSING_ENDPOINT: check(
    'a required target or source is missing',
    'an edge has no `to`, a loadout has no `entry`, or a loop does not say where it leaves to',
    'name a socket, or `end` where it is allowed',
  ),
  UNKNOWN_ENDPOINT: check(
    'a target or source names a socket that does not exist',
    'the name was misspelt, or the socket was removed or renamed while something still points at it',
    'name one of the sockets of this loadout',
  ),
  INVALID_SOCKET_ID: check(
    'a socket id is not of the form Socket-N',
    'a socket was given a free name such as `Build`; free names belong into its label',
    'use Socket-1, Socket-2, … without leading zeros',
  ),
  INVALID_EDGE_CONDITION: check(
    'a condition is outside the closed set',
    '`when` holds an expression or a word of another tool',
    'use always, satisfied or not_satisfied',
  ),
  UNREACHABLE_EDGE: check(
    'an edge stands after an always edge',
    'the edges of a socket are tried in order, and one before this always matches',
    'put guarded edges before the always edge',
  ),
  INVALID_LOOP: check(
    'a loop region breaks a rule',
    'a loop names sockets that do not hang together, lacks an iterator or an exit, or shares sockets with another loop',
    'name sockets that are joined by edges and belong to no other loop, and give the loop its iterator and exit; the issue says what is missing',
  ),
  UNKNOWN_MATERIA: check(
    'a socket names a materia that does not exist',
    'the materia is neither in the file nor bundled, or its id was misspelt',
    'define the materia or correct the name',
  ),
  INVALID_MATERIA: check(
    'a materia definition breaks a rule',
    'a materia has no prompt, two prompts, an unknown runner, or a field of the other kind',
    'give it one prompt or promptFile (a utility: one command), a known runner, and only fields of its kind; the issue names the field',
  ),
  INVALID_GENERATOR: check(
    'a generator socket cannot produce workItems',
    'the socket is a generator, but it answers in text, speaks gaia, or assigns something else to workItems',
    'use parse json and leave assign.workItems at $.workItems',
  ),
  INVALID_CONFIG: check(
    'the configuration breaks a rule',
    'the file is no JSON, holds a comment, or has a field that no version of the format knows',
    'correct the field at the path of the issue; schemas/config.schema.json lists all fields, and editors check against it',
  ),
  UNREACHABLE_SOCKET: check(
    'a socket cannot be reached from the entry',
    'a socket was added to the loadout and no edge leads to it from where the cast begins',
    'add an edge to it or remove it',
  ),
  ENDLESS_CYCLE: check(
    'a cycle has no way out',
    'edges lead back to an earlier socket and every way on stays inside the circle',
    'add an edge out of the cycle, an advance with an exit, or a retry budget',
  ),
  UNASSIGNED_SLOT: check(
    'a prompt or socket reads a slot that nothing assigns',
    'a prompt names `{{slot}}` or a socket reads `state.slot`, and no socket before it has an assign for that name',
    'assign the slot upstream or correct its name',
  ),
  UNCONSUMED_GENERATOR: check(
    'no loop and no generator consumes what a generator produces',
    'a socket is marked generator and no loop after it says that it consumes its list',
    'let a loop consume it, or drop generator',
  ),
  BOUNDARY_REFUSED: check(
    'an edge joins agents whose boundaries never let it pass',
    'two neighbours of the graph carry registry identities whose manifest does not let one hand to the other',
    'route through an allowed agent',
  ),
  NOT_JSON: {
    http: 422,
    retry: 'repaired',
    means: 'the output holds no JSON object',
    cause:
      'the agent answered in prose, cut its answer off, wrote something that only looks like JSON, or more than is read',
    fix: 'return one JSON object and nothing else',
  },
  NO_BLOCK: {
    http: 422,
    retry: 'repaired',
    means: 'the output holds no contract block',
    cause: 'the agent ended without the fenced block or tagged it with another word',
    fix: 'end the answer with the fenced block the contract asks for',
  },
  CONTRACT_VIOLATION: {
    http: 422,
    retry: 'repaired',
    means: 'the output does not keep the contract of its socket',
    cause:
      'the answer is JSON, and a field is missing, is of the wrong type, is reserved or does not fit the schema of the socket',
    fix: 'mend the issues listed in details; `baton recast` gives the socket a new turn',
  },
  // No reader answers with it any more: what is too large to be read is NOT_JSON. Old logs may hold it.
  OUTPUT_TOO_LARGE: {
    http: 413,
    retry: 'repaired',
    means: 'the output is larger than the socket allows',
    cause: 'the agent printed a file, a log or itself in circles instead of a summary',
    fix: 'return a shorter output, or raise limits.maxOutputBytes',
  },
  EDGE_BUDGET_EXHAUSTED: {
    http: 409,
    retry: 'person',
    means: 'an edge was taken as often as its maxTraversals allows for this item',
    cause: 'the same rejection was routed back for rework again and again and the work never passed',
    fix: 'look at the last rejection; raise maxTraversals or change the work, then recast',
  },
  NO_PROGRESS: {
    http: 409,
    retry: 'person',
    means: 'the cast went round in a cycle without finishing an item',
    cause: 'sockets handed to each other in a circle and the cursor of no loop moved',
    fix: 'give the cycle an exit or a retry budget, then recast',
  },
  NOT_CONVERGING: {
    http: 409,
    retry: 'person',
    means: 'an agent produced the same rejected work again',
    cause: 'rework came back word for word as it was when it was rejected',
    fix: 'change the prompt or the criteria, then recast',
  },
  BUDGET_EXHAUSTED: {
    http: 402,
    retry: 'person',
    means: 'the cast used up its tokens, cost or time',
    cause: 'the turns so far took as much as the allowance of the cast',
    fix: 'raise the budget of the cast and continue it',
  },
  AGENT_FAILED: {
    http: 502,
    retry: 'later',
    means: 'the agent ended without an answer',
    cause: 'the program of the agent crashed, could not be started, or its service answered with a fault twice',
    fix: 'look at its output with `baton show`, then recast',
  },
  AGENT_TIMEOUT: {
    http: 504,
    retry: 'later',
    means: 'the agent did not answer in time',
    cause: 'the agent was still working, or hung, when the time limit of its turn was over',
    fix: 'raise timeoutMs or find out what it waited for, then recast',
  },
  UTILITY_FAILED: {
    http: 502,
    retry: 'later',
    means: 'a utility could not do its job',
    cause: 'the command of a utility ended with an exit code other than 0, or printed something that is no result',
    fix: 'mend the cause given in the reason, then recast',
  },
  OUTCOME_UNKNOWN: {
    http: 409,
    retry: 'person',
    means: 'a turn or an approved command that must not run twice may have run before a crash',
    cause: 'the machine or Baton stopped while a step marked `once`, or `onCrash: "wait"`, or `baton exec` was running',
    fix: 'find out whether it did, then `baton decide TURN rerun|accept|fail`; for an approval `baton approve ID --again` or `baton reject ID`',
  },
  ABORTED: {
    http: 409,
    retry: 'person',
    means: 'a person stopped the cast',
    cause: 'somebody used `baton abort` while it ran or waited',
    fix: '`baton recast` starts it again where it stood',
  },
  UNKNOWN_CAST: {
    http: 404,
    retry: 'never',
    means: 'there is no such cast',
    cause: 'the id was misspelt, belongs to another workspace, or was never started',
    fix: '`baton casts` lists them',
  },
  UNKNOWN_TURN: {
    http: 404,
    retry: 'never',
    means: 'there is no such turn',
    cause: 'the number was misspelt or belongs to a turn of another cast',
    fix: '`baton show CAST` lists the turns',
  },
  NOT_ALLOWED_NOW: {
    http: 409,
    retry: 'never',
    means: 'the cast is not in a state in which this can be done',
    cause: 'the command came too late or too early: the cast has ended, still runs, or waits for something else',
    fix: '`baton why` or `baton status` says what the cast waits for',
  },
  STALE_ATTEMPT: {
    http: 409,
    retry: 'never',
    means: 'an answer came for an attempt that is over',
    cause: 'an agent that had been given up on answered after its work was dispatched again',
    fix: 'nothing: the attempt that replaced it counts',
  },
  NEWER_LOG: {
    http: 500,
    retry: 'person',
    means: 'the log was written by a newer version',
    cause: 'the same workspace was used with a newer Baton, whose facts this version cannot read',
    fix: 'install that version; this one changes nothing',
  },
  STORAGE_FAILED: {
    http: 507,
    retry: 'later',
    means: 'the state folder could not be read or written',
    cause: 'the disk is full, the folder belongs to another user, or the file system does not support locks',
    fix: 'free disk space or mend its permissions; nothing was lost',
  },
  COMMAND_REFUSED: {
    http: 403,
    retry: 'repaired',
    means: 'a shell command of an agent is not let through',
    cause: 'it only waits, takes away what cannot be brought back, or cannot be looked through',
    fix: 'do what the reason says instead; a person can run the command in a terminal of their own',
  },
  LINK_REFUSED: {
    http: 409,
    retry: 'person',
    means: 'a file is not written because a link leads there',
    cause: 'the file, or a folder above it within the project, is a symbolic link to another place',
    fix: 'put a real file or folder in the place of the link named in the reason, then try again',
  },
  BAD_USAGE: {
    http: 400,
    retry: 'never',
    means: 'the command was used wrongly',
    cause: 'an option is unknown, an argument is missing, or two of them contradict each other',
    fix: '`baton COMMAND --help` shows the arguments with an example; the reason names the wrong one',
  },
  INTERNAL: {
    http: 500,
    retry: 'later',
    means: 'a fault of Baton itself',
    cause: 'something happened that the program believed impossible',
    fix: 'report it with the text of the reason',
  },
} as const satisfies Record<string, CodeRow>;
