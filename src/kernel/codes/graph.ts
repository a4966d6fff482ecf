// Codes of loadouts and casts: static checks, reading a handoff, and the ways a cast ends.
import type { CodeRow } from './row.ts';

const check = (means: string, fix: string) => ({ http: 422, retry: 'person', means, fix }) as const;

export const GRAPH_CODES = {
  MISSING_ENDPOINT: check('a required target or source is missing', 'name a socket, or `end` where it is allowed'),
  UNKNOWN_ENDPOINT: check(
    'a target or source names a socket that does not exist',
    'name one of the sockets of this loadout',
  ),
  INVALID_SOCKET_ID: check(
    'a socket id is not of the form Socket-N',
    'use Socket-1, Socket-2, … without leading zeros',
  ),
  INVALID_EDGE_CONDITION: check('a condition is outside the closed set', 'use always, satisfied or not_satisfied'),
  UNREACHABLE_EDGE: check('an edge stands after an always edge', 'put guarded edges before the always edge'),
  INVALID_LOOP: check('a loop region breaks a rule', 'follow the sentence in the issue'),
  UNKNOWN_MATERIA: check('a socket names a materia that does not exist', 'define the materia or correct the name'),
  INVALID_MATERIA: check('a materia definition breaks a rule', 'follow the sentence in the issue'),
  INVALID_GENERATOR: check(
    'a generator socket cannot produce workItems',
    'use parse json and leave assign.workItems at $.workItems',
  ),
  INVALID_CONFIG: check('the configuration breaks a rule', 'follow the sentence in the issue'),
  UNREACHABLE_SOCKET: check('a socket cannot be reached from the entry', 'add an edge to it or remove it'),
  ENDLESS_CYCLE: check(
    'a cycle has no way out',
    'add an edge out of the cycle, an advance with an exit, or a retry budget',
  ),
  UNASSIGNED_SLOT: check(
    'a prompt or socket reads a slot that nothing assigns',
    'assign the slot upstream or correct its name',
  ),
  UNCONSUMED_GENERATOR: check(
    'no loop and no generator consumes what a generator produces',
    'let a loop consume it, or drop generator',
  ),
  BOUNDARY_REFUSED: check('an edge joins agents whose boundaries never let it pass', 'route through an allowed agent'),
  NOT_JSON: {
    http: 422,
    retry: 'repaired',
    means: 'the output holds no JSON object',
    fix: 'return one JSON object and nothing else',
  },
  NO_BLOCK: {
    http: 422,
    retry: 'repaired',
    means: 'the output holds no contract block',
    fix: 'end the answer with the fenced block the contract asks for',
  },
  CONTRACT_VIOLATION: {
    http: 422,
    retry: 'repaired',
    means: 'the output does not keep the contract of its socket',
    fix: 'mend the issues listed in details; `baton recast` gives the socket a new turn',
  },
  OUTPUT_TOO_LARGE: {
    http: 413,
    retry: 'repaired',
    means: 'the output is larger than the socket allows',
    fix: 'return a shorter output, or raise limits.maxOutputBytes',
  },
  EDGE_BUDGET_EXHAUSTED: {
    http: 409,
    retry: 'person',
    means: 'an edge was taken as often as its maxTraversals allows for this item',
    fix: 'look at the last rejection; raise maxTraversals or change the work, then recast',
  },
  NO_PROGRESS: {
    http: 409,
    retry: 'person',
    means: 'the cast went round in a cycle without finishing an item',
    fix: 'give the cycle an exit or a retry budget, then recast',
  },
  NOT_CONVERGING: {
    http: 409,
    retry: 'person',
    means: 'an agent produced the same rejected work again',
    fix: 'change the prompt or the criteria, then recast',
  },
  BUDGET_EXHAUSTED: {
    http: 402,
    retry: 'person',
    means: 'the cast used up its tokens, cost or time',
    fix: 'raise the budget of the cast and continue it',
  },
  AGENT_FAILED: {
    http: 502,
    retry: 'later',
    means: 'the agent ended without an answer',
    fix: 'look at its output with `baton show`, then recast',
  },
  AGENT_TIMEOUT: {
    http: 504,
    retry: 'later',
    means: 'the agent did not answer in time',
    fix: 'raise timeoutMs or find out what it waited for, then recast',
  },
  UTILITY_FAILED: {
    http: 502,
    retry: 'later',
    means: 'a utility could not do its job',
    fix: 'mend the cause given in the reason, then recast',
  },
  OUTCOME_UNKNOWN: {
    http: 409,
    retry: 'person',
    means: 'a turn that must not run twice may have run before a crash',
    fix: 'find out whether it did, then `baton decide TURN rerun|accept|fail`',
  },
  ABORTED: {
    http: 409,
    retry: 'person',
    means: 'a person stopped the cast',
    fix: '`baton recast` starts it again where it stood',
  },
  UNKNOWN_CAST: { http: 404, retry: 'never', means: 'there is no such cast', fix: '`baton casts` lists them' },
  UNKNOWN_TURN: { http: 404, retry: 'never', means: 'there is no such turn', fix: '`baton show CAST` lists the turns' },
  NOT_ALLOWED_NOW: {
    http: 409,
    retry: 'never',
    means: 'the cast is not in a state in which this can be done',
    fix: '`baton why` or `baton status` says what the cast waits for',
  },
  STALE_ATTEMPT: {
    http: 409,
    retry: 'never',
    means: 'an answer came for an attempt that is over',
    fix: 'nothing: the attempt that replaced it counts',
  },
  TAMPERED: {
    http: 500,
    retry: 'person',
    means: 'the history was changed',
    fix: 'compare with a signed checkpoint kept elsewhere',
  },
  NEWER_LOG: {
    http: 500,
    retry: 'person',
    means: 'the log was written by a newer version',
    fix: 'install that version; this one changes nothing',
  },
  STORAGE_FAILED: {
    http: 507,
    retry: 'later',
    means: 'the state folder could not be read or written',
    fix: 'free disk space or mend its permissions; nothing was lost',
  },
  BAD_USAGE: { http: 400, retry: 'never', means: 'the command was used wrongly', fix: 'see --help' },
  INTERNAL: {
    http: 500,
    retry: 'later',
    means: 'a fault of Baton itself',
    fix: 'report it with the text of the reason',
  },
} as const satisfies Record<string, CodeRow>;
