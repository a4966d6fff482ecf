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

/** By the name of the command, with its first word where that tells its forms apart. */
export const PEOPLE_ONLY: Readonly<Record<string, Row>> = {
  cast: { may: 'start a cast', isLook: (values) => values['dry-run'] === true, isForTimers: true },
  demo: { may: 'start a cast', isForTimers: true },
  'agents test': { may: 'ask agents outside of a cast', isForTimers: true },
  continue: CARRY_ON,
  resume: CARRY_ON,
  recast: CARRY_ON,
  revive: CARRY_ON,
  abort: { may: 'stop a cast' },
  answer: { may: 'answer for a person' },
  decide: { may: 'decide what became of a turn' },
  budget: {
    may: 'change what a cast may use',
    isLook: (values) => ['tokens', 'cost', 'minutes'].every((limit) => values[limit] === undefined),
  },
  merge: { may: 'merge what a cast did' },
  undo: { may: 'take back what a cast did' },
  hold: { may: 'hold a workspace' },
  unhold: { may: 'release a workspace' },
  init: { may: 'set a workspace up' },
  install: { may: 'change how agents are set up' },
  token: { may: 'say who may do what' },
  gc: { may: 'erase texts' },
  'registry lock': { may: 'lock a registry' },
  'registry import': { may: 'import a registry' },
};

/** What a form of a command is that only a person may use; null where an agent may, too. */
export function onlyPeopleMay(form: string, values: Values = {}): string | null {
  const row = Object.hasOwn(PEOPLE_ONLY, form) ? PEOPLE_ONLY[form] : undefined;
  return row && !row.isLook?.(values) ? row.may : null;
}

/** Whether a form may be used by what the system started, whoever it was for. */
export function isForTimers(form: string): boolean {
  return Object.hasOwn(PEOPLE_ONLY, form) && PEOPLE_ONLY[form]?.isForTimers === true;
}

/** The one answer to an agent that tries it. */
export function refusalToAgent(may: string, details: Denied['details']): Denied {
  return deny('APPROVER_IS_AGENT', `only a person may ${may}; this process was started by an agent of a cast`, details);
}
