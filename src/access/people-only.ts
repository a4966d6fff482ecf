// What only a person may do. An agent looks, and does the work of its own turn; it starts, steers and decides no cast, and
// changes nothing that governs it. The command line refuses by this table before a command begins, and the tools of the
// server refuse what would run one of these commands. What the log itself decides about agents (approving, releasing,
// accepting what is known, moving a task without its fence) is refused there, because the refusal is part of its record.
import { type Denied, deny } from '../kernel/verdict.ts';

type Values = Readonly<Record<string, unknown>>;

type Row = {
  /** Behind "only a person may". */
  readonly may: string;
  /** The form of it that only looks. */
  readonly isLook?: (values: Values) => boolean;
  /**
   * Nobody's decision is taken by it, and timers do it at night: what was merely started by the system while an agent works
   * is not suspected of being that agent's.
   */
  readonly isForTimers?: true;
};

const CARRY_ON: Row = { may: 'carry a cast on' };
const TOKENS: Row = { may: 'say who may do what' };

/** By the name of the command, with its first word where that tells its forms apart. */
export const PEOPLE_ONLY: Readonly<Record<string, Row>> = {
  cast: { may: 'start a cast', isLook: (values) => values['dry-run'] === true, isForTimers: true },
  demo: { may: 'start a cast', isForTimers: true },
  serve: { may: 'serve a workspace', isForTimers: true },
  ui: { may: 'open the page of a workspace' },
  'agents test': { may: 'ask agents outside of a cast', isForTimers: true },
  continue: CARRY_ON,
  resume: CARRY_ON,
  recast: CARRY_ON,
  revive: CARRY_ON,
  abort: { may: 'stop a cast' },
  answer: { may: 'answer for a person' },
  decide: { may: 'decide what became of a turn' },
  retry: { may: 'decide about a parked item' },
  drop: { may: 'decide about a parked item' },
  budget: {
    may: 'change what a cast may use',
    isLook: (values) => ['tokens', 'cost', 'minutes'].every((limit) => values[limit] === undefined),
  },
  merge: { may: 'merge what a cast did' },
  undo: { may: 'take back what a cast did' },
  hold: { may: 'hold a workspace' },
  unhold: { may: 'release a workspace' },
  init: { may: 'set a workspace up' },
  trust: { may: 'trust a folder' },
  install: { may: 'change how agents are set up' },
  'token create': TOKENS,
  'token list': TOKENS,
  'token revoke': TOKENS,
  gc: { may: 'erase texts' },
  'registry lock': { may: 'lock a registry' },
  'registry accept': { may: 'accept an edited prompt' },
  'registry import': { may: 'import a registry' },
};

/**
 * Decisions about agents. They need proof that a person makes them: a token, or a terminal that is older than the agents.
 * `terminal` says that an older session without a terminal is not enough. `cast` says that only the attempts of the cast
 * count that is decided about; the command itself asks, once it knows the cast.
 */
const DECISIONS: Readonly<Record<string, { readonly terminal?: true; readonly cast?: true }>> = {
  approve: { terminal: true, cast: true },
  reject: { terminal: true, cast: true },
  answer: { terminal: true, cast: true },
  decide: { terminal: true, cast: true },
  retry: { terminal: true, cast: true },
  drop: { terminal: true, cast: true },
  'registry release': { terminal: true },
  'registry accept': { terminal: true },
  budget: { cast: true },
  revive: { cast: true },
  unhold: {},
  'token create': {},
  'token list': {},
  'token revoke': {},
  'registry lock': {},
  'registry import': {},
  'context set': {},
  'context revert': {},
  'memory accept': {},
  'memory drop': {},
};

/** What a form of a command needs as proof; null for a form that decides nothing about agents. */
export function proofFor(form: string): { readonly needsTerminal: boolean; readonly isAboutCast: boolean } | null {
  const row = Object.hasOwn(DECISIONS, form) ? DECISIONS[form] : undefined;
  return row ? { needsTerminal: row.terminal === true, isAboutCast: row.cast === true } : null;
}

/** What a form of a command is that only a person may use; null where an agent may, too. */
export function onlyPeopleMay(form: string, values: Values = {}): string | null {
  const row = Object.hasOwn(PEOPLE_ONLY, form) ? PEOPLE_ONLY[form] : undefined;
  return row && !row.isLook?.(values) ? row.may : null;
}

/** Whether a form may be used by what the system started, whoever it was for. */
export function isForTimers(form: string): boolean {
  return Object.hasOwn(PEOPLE_ONLY, form) && PEOPLE_ONLY[form]?.isForTimers === true;
}

export const STARTED_BY_AGENT =
  'this process was started by an agent of a cast, or by a checker or set-up step of another baton command';

/** The one answer to an agent that tries it. */
export function refusalToAgent(may: string, details: Denied['details'], why = STARTED_BY_AGENT): Denied {
  return deny('APPROVER_IS_AGENT', `only a person may ${may}; ${why}`, details);
}
