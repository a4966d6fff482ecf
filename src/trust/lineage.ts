// The chain a handoff belongs to: the handoff it follows, its length, cycles, who began it, and whether its time is fresh.
// The caller looks up earlier handoffs; nothing here believes the envelope about them.
import { CALENDAR_DAY, HOUR, MINUTE } from '../kernel/text.ts';
import type { Problem } from '../kernel/trust/problem.ts';
import type { Agent, Registry } from './agent.ts';
import type { Envelope } from './envelope.ts';
import { denies } from './manifest.ts';
import type { Policy } from './stage.ts';

/** A handoff decided earlier. */
export type PastHandoff = {
  readonly accepted: boolean;
  readonly source: string;
  readonly target: string;
  readonly requestDigest: string;
  readonly parent: string | null;
};
/** Finds an earlier handoff by its id in lower case. */
export type LookupParent = (handoffId: string) => PastHandoff | null;

export const HOPS_MAX = 16;
const AT_PARENT = '/links/parent_handoff_id';

type Lineage = {
  /** From the parent back to the first handoff of the chain, at most as many as a chain may have. */
  readonly ancestors: readonly PastHandoff[];
  /** The id of the handoff at the end of them that was found; null where there is none. */
  readonly first: string | null;
  /** The handoff that the envelope names as the first of its chain; null where it names none or it is unknown. */
  readonly root: PastHandoff | null;
};

export function lineageOf(envelope: Envelope, lookup: LookupParent): Lineage {
  const ancestors: PastHandoff[] = [];
  let first: string | null = null;
  let id = envelope.links?.parent_handoff_id ?? null;
  while (id !== null && ancestors.length < HOPS_MAX) {
    const past = lookup(id.toLowerCase());
    if (!past) break;
    ancestors.push(past);
    first = id.toLowerCase();
    id = past.parent;
  }
  const named = rootOf(envelope);
  return { ancestors, first, root: named === null ? null : lookup(named) };
}

/** The first handoff of the chain, where the envelope names another one than itself. */
function rootOf({ links, handoff_id }: Envelope): string | null {
  const root = links?.root_handoff_id?.toLowerCase() ?? null;
  return root === handoff_id.toLowerCase() ? null : root;
}

/** The claimed start of the chain must be true, because its agent may have denied the target. */
export function checkRoot(envelope: Envelope, { ancestors, first, root }: Lineage): Problem[] {
  const named = rootOf(envelope);
  if (named === null) return [];
  if (!root) return [rootRefusal('the root handoff is not known')];
  if (!root.accepted) return [rootRefusal('the root handoff was rejected')];
  if (root.parent !== null)
    return [rootRefusal('the root handoff follows another one, so that no chain begins with it')];
  const isReached = ancestors.length === 0 || ancestors.length >= HOPS_MAX || first === named;
  return isReached ? [] : [rootRefusal('the parent handoff belongs to another chain than the root handoff')];
}

export function checkParent(
  envelope: Envelope,
  source: Agent,
  lineage: Lineage,
  policy: Pick<Policy, 'requireParent'>,
): Problem[] {
  const { links } = envelope;
  if (links?.parent_handoff_id === undefined) {
    const begins = links?.root_handoff_id?.toLowerCase() === envelope.handoff_id.toLowerCase();
    if (!policy.requireParent || source.type !== 'orchestrator' || begins) return [];
    return [refusal('an orchestrator must name the handoff it mediates')];
  }
  const [parent] = lineage.ancestors;
  if (!parent) return [refusal('the parent handoff is not known')];
  if (!parent.accepted) return [refusal('the parent handoff was rejected')];
  if (parent.target !== source.id) return [refusal('the parent handoff went to another agent than this source')];
  return [];
}

/** The agent that began the chain an orchestrator mediates. What it denies stays denied: mediation launders nothing. */
export function originatorOf(source: Agent, lineage: Lineage, registry: Registry): Agent | null {
  const began = lineage.ancestors.at(-1) ?? lineage.root;
  const origin = source.type === 'orchestrator' ? began?.source : undefined;
  return (origin !== undefined && registry.agents.get(origin)) || null;
}

export function checkOriginator(originator: Agent | null, target: Agent): Problem[] {
  if (!originator || !denies(originator.collaboration, target.id)) return [];
  const message = `${originator.id}, where this chain began, denies handing to ${target.id}`;
  return [{ code: 'BOUNDARY_DENIED', pointer: '/target_agent/agent_id', message }];
}

export function checkChain(source: Agent, target: Agent, requestDigest: string | null, lineage: Lineage): Problem[] {
  const { ancestors } = lineage;
  const problems: Problem[] = [];
  if (ancestors.length >= HOPS_MAX) {
    problems.push({ code: 'HOP_LIMIT', pointer: AT_PARENT, message: `a chain has at most ${HOPS_MAX} handoffs` });
  }
  const same = ancestors.some(
    (past) => past.source === source.id && past.target === target.id && past.requestDigest === requestDigest,
  );
  if (same) {
    const message = `${source.id} handed this very request to ${target.id} before in this chain`;
    problems.push({ code: 'CYCLE', pointer: '/context/request', message });
  }
  return problems;
}

function rootRefusal(message: string): Problem {
  return { code: 'PATTERN_NOT_ALLOWED', pointer: '/links/root_handoff_id', message };
}

function refusal(message: string): Problem {
  return { code: 'PATTERN_NOT_ALLOWED', pointer: AT_PARENT, message };
}

const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
/** The same form for schemas, which cannot count days. */
export const TIMESTAMP_PATTERN = `^${CALENDAR_DAY}T${HOUR}:${MINUTE}:${MINUTE}(?:\\.\\d{1,9})?(?:Z|[+\\-]${HOUR}:${MINUTE})$`;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
/** About 30,000 years: more than any two timestamps of four-digit years lie apart. */
const SECONDS_MAX = 1e12;

/** Seconds since 1970, which may be negative, and nanoseconds after them, which may not. */
export type Instant = { readonly seconds: number; readonly nanos: number };
type Window = { readonly now: Instant; readonly maxAgeS: number; readonly maxSkewS: number };

/** The instant a timestamp names, or null when it is not in the form. */
export function readInstant(text: string): Instant | null {
  if (!FORM.test(text)) return null;
  // In the form everything up to the seconds, and the offset at the end, has a fixed place.
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const isUtc = text.endsWith('Z');
  const zone = text.length - (isUtc ? 1 : 6);
  const offsetHour = isUtc ? 0 : twoDigits(text, zone + 1);
  const offsetMinute = isUtc ? 0 : twoDigits(text, zone + 4);
  if (offsetHour > 23 || offsetMinute > 59) return null;
  const offset = (text[zone] === '-' ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60);
  const seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
  return { seconds, nanos: zone === 19 ? 0 : Number(text.slice(20, zone).padEnd(9, '0')) };
}

let clock: { readonly text: string; readonly instant: Instant | null } = { text: '', instant: null };

/** The same for the verifier's own time, which many envelopes are held against. */
export function readClock(text: string): Instant | null {
  if (text !== clock.text) clock = { text, instant: readInstant(text) };
  return clock.instant;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/** Whether the envelope was made neither too long ago nor in the future; both edges still count as fresh. */
export function checkFreshness(timestamp: string, window: Window): Problem[] {
  const instant = readInstant(timestamp);
  if (instant === null) return checkTimestampForm(timestamp);
  if (isLonger(instant, window.now, window.maxAgeS)) {
    return [problem('TIMESTAMP_STALE', `the envelope is more than ${window.maxAgeS} s old; send a new one`)];
  }
  if (isLonger(window.now, instant, window.maxSkewS)) {
    return [
      problem('TIMESTAMP_FUTURE', `the envelope is more than ${window.maxSkewS} s ahead of the verifier's clock`),
    ];
  }
  return [];
}

export function checkTimestampForm(timestamp: string): Problem[] {
  if (readInstant(timestamp) !== null) return [];
  return [
    problem(
      'TIMESTAMP_INVALID',
      'the timestamp must be a real date and time with an offset, like 2026-02-11T00:45:02Z',
    ),
  ];
}

function problem(code: Problem['code'], message: string): Problem {
  return { code, pointer: '/timestamp', message };
}

/** Whether more than this many seconds lie between two instants. Seconds and the rest of one apart stay exact. */
function isLonger(from: Instant, to: Instant, secondsMax: number): boolean {
  const bounded = Math.min(Math.max(secondsMax, 0), SECONDS_MAX);
  const whole = Math.floor(bounded);
  const seconds = to.seconds - from.seconds - whole;
  if (seconds > 1 || seconds < -1) return seconds > 0;
  return seconds * 1e9 + to.nanos - from.nanos > Math.round((bounded - whole) * 1e9);
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
}

/**
 * Counts in years that begin in March, so that the leap day is the last of its year. `Date.UTC` would read the years 0 to 99
 * as 1900 to 1999.
 */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
