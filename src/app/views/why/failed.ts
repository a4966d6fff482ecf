// Why a cast failed, and what carries it on: for every code the commands that fit it, and recast for all of them.
import { runnerCan } from '../../../kernel/capabilities.ts';
import { elapsedOf, refilled } from '../../../kernel/cast/budget.ts';
import { CODES, type Code } from '../../../kernel/codes.ts';
import { isObject, isString, type Json, type JsonObject } from '../../../kernel/json.ts';
import { costText, durationText, wholeNumber } from '../in-words.ts';
import { issuesBeyond } from '../result.ts';
import { type Explanation, namedIn, type Situation, sentence, type Way, wayToTurn } from './situation.ts';

export function explainFailed(situation: Situation): Explanation {
  const { cast, view, baton } = situation;
  const failure = view.failed;
  const code = cast.code ?? 'INTERNAL';
  const look = typeof failure?.turn === 'number' ? [wayToTurn(situation, failure.turn)] : [];
  const recast = { does: 'carry it on from there', command: `${baton} recast ${cast.id}` };
  const { sentences, before, after, isRecast = true } = special(situation, code, failure?.details ?? {});
  return {
    code,
    sentences: [sentence(namedIn(cast, cast.reason)), ...gateIn(failure?.details ?? {}), ...sentences],
    commands: [...before, ...look, ...(isRecast ? [recast] : []), ...after],
  };
}

/** The check that refused, by its name in docs/reference/doors.md. */
function gateIn({ gate }: JsonObject): readonly string[] {
  return isString(gate) ? [`The check "${gate}" refused it.`] : [];
}

/** What one code adds to the reason, and the commands before and after those that fit every failure. */
type Special = {
  readonly sentences: readonly string[];
  readonly before: readonly Way[];
  readonly after: readonly Way[];
  /** Whether running on from there can help at all. */
  readonly isRecast?: boolean;
};

const PLAIN: Special = { sentences: [], before: [], after: [] };

function special(situation: Situation, code: string, details: JsonObject): Special {
  const { cast, baton } = situation;
  switch (code) {
    case 'CONTRACT_VIOLATION':
    case 'ILLEGAL_TRANSITION':
      return { ...PLAIN, sentences: issuesIn(details, cast.reason) };
    case 'EDGE_BUDGET_EXHAUSTED': {
      const revive = { does: 'allow as many more rounds', command: `${baton} revive ${cast.id}` };
      const sentences = ['`recast` lets the step before it work once more; it does not allow more rounds.'];
      return { ...PLAIN, sentences, after: [revive] };
    }
    case 'ITEMS_LEFT': {
      const sentences = [
        '`recast` gives that step another turn; where its item is done, the next item begins.',
        'Its edges stay as they are. After you change the loadout, start a new cast.',
      ];
      return { ...PLAIN, sentences, after: [{ does: 'see each way out of the loop', command: `${baton} check` }] };
    }
    case 'BUDGET_EXHAUSTED':
      return budget(situation);
    case 'AGENT_FAILED':
    case 'AGENT_TIMEOUT':
      return agent(situation, details);
    case 'SCOPE_VIOLATION':
      return { ...PLAIN, before: [{ does: 'see what the cast changed', command: `${baton} diff ${cast.id}` }] };
    case 'HASH_MISMATCH':
      return { ...registry(situation), isRecast: false, after: anew(situation) };
    default:
      return isOfTrust(code) ? registry(situation) : PLAIN;
  }
}

const ISSUES_MAX = 10;

function issuesIn({ issues, allowed }: JsonObject, reason: string): readonly string[] {
  const all = Array.isArray(issues) ? issues.filter(isObject).filter(({ kind }) => kind !== 'warning') : [];
  const list = issuesBeyond(reason, all);
  const lines = list
    .slice(0, ISSUES_MAX)
    .map(({ path, message }) => `At ${textOf(path) || '$'}: ${sentence(textOf(message))}`);
  const more = list.length > ISSUES_MAX ? [`And ${list.length - ISSUES_MAX} more.`] : [];
  const may =
    Array.isArray(allowed) && allowed.length > 0 ? [`What may follow is ${allowed.map(textOf).join(', ')}.`] : [];
  return [...lines, ...more, ...may];
}

function textOf(value: Json | undefined): string {
  return value === undefined ? '' : isString(value) ? value : JSON.stringify(value);
}

/** Another allowance: as much again at once, or a limit of one's own choice. */
function budget({ cast, baton, now }: Situation): Special {
  const limits = refilled(cast, now);
  const options = [
    limits.maxTokens === cast.budget.maxTokens ? '' : ` --tokens ${limits.maxTokens}`,
    limits.maxCost === cast.budget.maxCost ? '' : ` --cost ${limits.maxCost}`,
    limits.maxDurationMs === cast.budget.maxDurationMs ? '' : ` --minutes ${minutes(limits.maxDurationMs)}`,
  ].join('');
  const used = cast.usage.input + cast.usage.output;
  const spent = `It has used ${wholeNumber(used)} tokens, ${costText(cast.usage)} and ${durationText(elapsedOf(cast, now))}.`;
  const raise = { does: 'raise its limits, before you carry it on', command: `${baton} budget ${cast.id}${options}` };
  const revive = { does: 'give it as much again and carry it on', command: `${baton} revive ${cast.id}` };
  return { sentences: [spent], before: [revive, raise], after: [] };
}

function minutes(ms: number | null): number {
  return Math.ceil((ms ?? 0) / 6_000) / 10;
}

/** Faults that lie with the program of the agent or with its account, so that it is worth asking that program. */
const OF_PROGRAM: readonly string[] = ['AUTH_REQUIRED', 'AGENT_UNAVAILABLE', 'MODEL_UNAVAILABLE', 'AGENT_CRASHED'];

function agent({ cast, baton }: Situation, { cause, socket }: JsonObject): Special {
  if (!isString(cause) || !Object.hasOwn(CODES, cause)) return PLAIN;
  const { means, fix } = CODES[cause as Code];
  const materia = cast.rules.materia[cast.rules.graph.sockets[textOf(socket)]?.materia ?? ''];
  const runner =
    materia?.type === 'agent' && runnerCan(cast.rules, materia.runner, 'isProgram') ? ` ${materia.runner}` : '';
  const test = { does: 'see whether the agent answers', command: `${baton} agents test${runner}` };
  return {
    sentences: [`The cause is ${cause}: ${means}. ${sentence(`What to do: ${fix}`)}`],
    before: OF_PROGRAM.includes(cause) ? [test] : [],
    after: [],
  };
}

const OF_TRUST: readonly string[] = ['QUARANTINED', 'REGISTRY_UNUSABLE', 'HASH_MISMATCH', 'PROMPT_BYTES_MISMATCH'];
const TRUST_WORDS =
  /^(?:AGENT_(?:UNKNOWN|TYPE_MISMATCH|RETIRED)|VERSION_|LOCK_ENTRY_|COMPOSITION_|BOUNDARY_|INJECTION_|REGISTRY_|PROMPT_|PATTERN_|SELF_HANDOFF|NOT_A_CONSTITUENT|SCOPE_(?:MISSING|UNKNOWN|NOT_COVERED))/;

function isOfTrust(code: string): boolean {
  return OF_TRUST.includes(code) || TRUST_WORDS.test(code);
}

/** What a person has to look into, and the release that only a person gives. */
function registry({ quarantine, baton }: Situation): Special {
  const verify = { does: 'check the registry', command: `${baton} registry verify` };
  const releases = quarantine.map(({ key, code }) => ({
    does: `release ${key} once you have fixed the cause (${code})`,
    command: `${baton} registry release ${key} --reason "looked into"`,
  }));
  const sentences = quarantine.map(({ key, code, reason }) => `${key} is blocked (${code}): ${sentence(reason)}`);
  return { sentences, before: [verify, ...releases], after: [] };
}

/** Longer requests are not repeated on one line. */
const REQUEST_CHARS_MAX = 300;

function anew({ cast, baton }: Situation): readonly Way[] {
  const { request, loadout } = cast;
  if (request.length > REQUEST_CHARS_MAX || request.includes('\n')) return [];
  const command = `${baton} cast -l ${quoted(loadout)} -- ${quoted(request)}`;
  return [{ does: 'start a new cast with the prompts that are pinned now', command }];
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
