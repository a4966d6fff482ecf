// What a cast produced, made from its facts: the last text, what the turn that stopped it really said, and whether there was
// anything to do. Everything that shows a cast shows this. Texts are bounded; they are not made safe for a terminal here.
import { cut } from '../kernel/cast/cut.ts';
import type { Entry } from '../kernel/fact.ts';
import { reportsStatus } from '../kernel/gate/status.ts';
import { isObject, isString, type Json } from '../kernel/json.ts';
import type { Cast } from '../kernel/state.ts';

/** Who said it. `materia` is the label that people know. */
type Speaker = { readonly turn: number; readonly socket: string; readonly materia: string };

type Words = {
  readonly text: string;
  /** The text is longer than this. */
  readonly isCut?: true;
};

export type LastText = Speaker &
  Words & {
    /** It is a report with a status, whose parts are told on their own. */
    readonly isReport?: true;
  };

export type Issue = { readonly path: string; readonly message: string };

/**
 * The last attempt of the turn that stopped the cast: it failed, or it rejected work that cannot be sent back again. An empty
 * text means that nothing of it was kept.
 */
export type Failure = Speaker &
  Words & {
    readonly attempt: number;
    readonly code: string;
    readonly reason: string;
    readonly issues: readonly Issue[];
  };

export type CastResult = {
  readonly last: LastText | null;
  readonly failure: Failure | null;
  /** The list of work items was empty. */
  readonly nothingPlanned?: true;
};

const TEXT_CHARS_MAX = 16_000;
const ISSUES_MAX = 20;

type CastEnd = Pick<Cast, 'rules' | 'status' | 'reason' | 'turns'>;

export function resultOf(cast: CastEnd, entries: readonly Entry[]): CastResult {
  const turns = new Map<number, Speaker>();
  let [last, isText, isEmpty]: [LastText | null, boolean, boolean] = [null, false, false];
  let [end, acceptedLast]: [CastFailure | null, number | null] = [null, null];
  const failures = new Map<number, Failure>();
  const rejections = new Map<number, Rejection>();
  for (const { fact } of entries) {
    if (fact.kind === 'turn.started') turns.set(fact.turn, speakerAt(cast, fact));
    if (fact.kind === 'exit.taken' && fact.empty) isEmpty = true;
    // A loop that goes round without progress stops before another turn is opened.
    if (fact.kind === 'cast.failed') end = { ...fact, turn: fact.turn ?? (fact.stand ? acceptedLast : null) };
    const speaker = 'turn' in fact && typeof fact.turn === 'number' ? turns.get(fact.turn) : undefined;
    if (!speaker) continue;
    if (SUPERSEDES.has(fact.kind)) failures.delete(speaker.turn);
    const failure = failureIn(fact, speaker, rejections.get(speaker.turn));
    if (failure) failures.set(speaker.turn, failure);
    if (fact.kind !== 'turn.accepted') continue;
    const { output, attempt, handoff } = fact;
    acceptedLast = speaker.turn;
    if (handoff.satisfied === false) rejections.set(speaker.turn, { ...speaker, attempt, ...bounded(output) });
    if (!isAnswer(cast, speaker, output)) continue;
    // An answer in prose is for people. An object is shown only where no agent wrote any prose.
    const isProse = isString(handoff.payload);
    const report = reportsStatus(cast, speaker.socket) ? ({ isReport: true } as const) : {};
    if (isProse || !isText) last = { ...speaker, ...bounded(output), ...report };
    isText ||= isProse;
  }
  return {
    last,
    failure: cast.status === 'waiting' ? blockedBy(cast, failures) : stoppedBy(cast, end, failures, rejections),
    ...(isEmpty ? { nothingPlanned: true } : {}),
  };
}

type CastFailure = Extract<Entry['fact'], { kind: 'cast.failed' }>;
type Rejection = Speaker & Words & { readonly attempt: number };

/** After these an earlier attempt of the turn is no longer what the turn said last. */
const SUPERSEDES: ReadonlySet<string> = new Set([
  ...['attempt.started', 'turn.accepted', 'turn.reported', 'turn.dropped', 'turn.reopened'],
]);

function stoppedBy(
  { status }: CastEnd,
  end: CastFailure | null,
  failures: ReadonlyMap<number, Failure>,
  rejections: ReadonlyMap<number, Rejection>,
): Failure | null {
  if (status !== 'failed' || !end || end.turn === null) return null;
  const { code, reason, turn } = end;
  const rejection = rejections.get(turn);
  return failures.get(turn) ?? (rejection ? { ...rejection, code, reason, issues: [] } : null);
}

/** Of several turns that are blocked, the one that the reason of the cast is about. */
function blockedBy({ reason, turns }: CastEnd, failures: ReadonlyMap<number, Failure>): Failure | null {
  const open = [...failures.values()].filter(({ turn }) => turns[turn] !== undefined);
  return open.find((failure) => failure.reason !== '' && reason.includes(failure.reason)) ?? open.at(-1) ?? null;
}

/** A utility prepares things. Its output is an answer only where the loadout has no agent. */
function isAnswer({ rules }: Pick<Cast, 'rules'>, { socket }: Speaker, output: string): boolean {
  if (output.trim() === '') return false;
  const used = Object.values(rules.graph.sockets).map(({ materia }) => rules.materia[materia]?.type);
  const own = rules.materia[rules.graph.sockets[socket]?.materia ?? '']?.type;
  return own === 'agent' || !used.includes('agent');
}

function speakerAt({ rules }: Pick<Cast, 'rules'>, { turn, socket }: { turn: number; socket: string }): Speaker {
  const id = rules.graph.sockets[socket]?.materia ?? socket;
  return { turn, socket, materia: rules.materia[id]?.label ?? id };
}

function failureIn(fact: Entry['fact'], speaker: Speaker, rejection: Rejection | undefined): Failure | null {
  switch (fact.kind) {
    case 'attempt.refused': {
      const { code, reason, details } = fact.verdict;
      const issues = issuesIn(details.issues);
      return { ...speaker, attempt: fact.attempt, code, reason, issues, ...bounded(fact.output) };
    }
    case 'attempt.failed': {
      const { attempt, code, cause, reason, said = '' } = fact;
      return { ...speaker, attempt, code: cause ?? code, reason, issues: [], ...bounded(said) };
    }
    case 'turn.blocked': {
      const { attempt, code, reason, output } = fact;
      // A turn that is blocked after it was accepted says nothing new.
      const said = output === '' && rejection ? rejection : bounded(output);
      return { ...speaker, ...said, attempt, code, reason, issues: [] };
    }
    default:
      return null;
  }
}

/** The issues that the reason does not say already: of a refusal with a single one, none is left. */
export function issuesBeyond<T extends { readonly message?: Json }>(
  reason: string,
  issues: readonly T[],
): readonly T[] {
  const only = issues.length === 1 ? issues[0]?.message : undefined;
  return isString(only) && reason.includes(only) ? [] : issues;
}

function issuesIn(issues: Json | undefined): readonly Issue[] {
  const list = Array.isArray(issues) ? issues.filter(isObject) : [];
  return list.slice(0, ISSUES_MAX).flatMap(({ path, message }) => {
    return isString(message) ? [{ path: isString(path) ? path : '', message }] : [];
  });
}

function bounded(text: string): Words {
  const whole = text.trim();
  return whole.length <= TEXT_CHARS_MAX ? { text: whole } : { text: cut(whole, TEXT_CHARS_MAX), isCut: true };
}
