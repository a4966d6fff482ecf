// `baton context`: what the workspace knows, section by section: to look at it, to see how it came to be, and to set it right.

import { hasLog } from '../../app/state-folder.ts';
import { parseJsonText } from '../../dialects/json-text.ts';
import { counted } from '../../kernel/counted.ts';
import { isObject, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { type Change, inText, type ValueChange, valuesOf } from '../../kernel/knowledge/diff.ts';
import { type Section, sectionOf } from '../../kernel/knowledge/state.ts';
import { notEarlier } from '../../kernel/knowledge/write.ts';
import { canonicalJson } from '../../kernel/ledger/canonical-json.ts';
import { utf8Length } from '../../kernel/utf8-length.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { ERASED } from '../../log/blob-text.ts';
import { again, type Call, EXIT, flag, note, out, outJson, Refused, text, UsageError } from '../command.ts';
import { declaredSections } from '../declared-sections.ts';
import { workspaceOf } from '../find-workspace.ts';
import { historyOf, knowledgeIn, type Told, valueAt } from '../knowledge-in-log.ts';
import { type LedgerSession, neededInteger, withLedger } from '../ledger-session.ts';
import { readInput } from '../read-input.ts';
import { isByAgent, noteAgents } from '../refuse-agents.ts';
import { person } from '../session.ts';
import { table } from '../table.ts';
import { tell } from '../verdict-answer.ts';

type Sub = {
  readonly args: string;
  readonly words: readonly [number, number];
  readonly options: readonly string[];
  run(call: Call, words: readonly string[]): Promise<number>;
};

const SUBS: Readonly<Record<string, Sub>> = {
  show: { args: '[SECTION]', words: [0, 1], options: [], run: show },
  diff: { args: 'SECTION [V1 [V2]]', words: [1, 3], options: [], run: diff },
  history: { args: 'SECTION', words: [1, 1], options: [], run: history },
  revert: { args: 'SECTION --to V [--reason TEXT]', words: [1, 1], options: ['to', 'reason'], run: revert },
  set: { args: 'SECTION FILE [--replace]', words: [2, 2], options: ['replace'], run: set },
};
const EVERYWHERE = ['json', 'help', 'directory'];
const CHANGES_SHOWN_MAX = 10_000;

export async function run(call: Call): Promise<number> {
  const [word = 'show', ...words] = call.words;
  const sub = Object.hasOwn(SUBS, word) ? SUBS[word] : undefined;
  const program = `${again(call)} context`;
  if (!sub) throw new UsageError(`there is no ${program} ${word}; there are: ${Object.keys(SUBS).join(', ')}`);
  const odd = Object.keys(call.values).find((name) => !sub.options.includes(name) && !EVERYWHERE.includes(name));
  const [min, max] = sub.words;
  if (odd !== undefined || words.length < min || words.length > max) {
    throw new UsageError(`say: ${program} ${word} ${sub.args}`);
  }
  return sub.run(call, words);
}

async function show(call: Call, [name]: readonly string[]): Promise<number> {
  const sections = (await knowledgeOf(call))?.sections ?? {};
  const declared = declaredSections(workspaceOf(call)) ?? [];
  if (name !== undefined) {
    const [view] = viewIn(sections, name, declared);
    if (!view) throw new Refused(unknown(name));
    if (call.json) outJson(view);
    else out(JSON.stringify(view.value, null, 2));
    return EXIT.ok;
  }
  const names = [...new Set([...Object.keys(sections), ...declared])].sort();
  const views = names.flatMap((each) => viewIn(sections, each, declared));
  if (call.json) outJson(views);
  else if (views.length === 0)
    out('Nothing is known yet. Agents write it, and so does `baton context set SECTION FILE`.');
  else {
    const cells = views.map(({ section, version, at, by, bytes }) => [
      section,
      `${version}`,
      at ?? '-',
      by ?? '-',
      `${bytes}`,
    ]);
    for (const line of table(cells, ['section', 'version', 'written', 'by', 'bytes'])) out(line);
  }
  return EXIT.ok;
}

async function diff(call: Call, [name = '', from, to]: readonly string[]): Promise<number> {
  return withHistory(call, name, (told, present) => {
    const after = to === undefined ? present : version(to);
    const before = from === undefined ? Math.max(0, after - 1) : version(from);
    const changes = valuesOf(held(told, name, before), held(told, name, after), CHANGES_SHOWN_MAX);
    if (call.json) outJson({ section: name, from: before, to: after, changes: changes.map(whole) });
    else {
      note(`${name}, version ${before} to ${after}: ${counted(changes.length, 'change')}`);
      for (const change of changes) for (const line of changed(inText(change))) out(line);
    }
    return EXIT.ok;
  });
}

async function history(call: Call, [name = '']: readonly string[]): Promise<number> {
  return withHistory(call, name, (told) => {
    const events = told.map((each) => event(each, told));
    if (call.json) outJson(events);
    else {
      const cells = events.map(({ version: number, at, by, where, what }) => [
        number === null ? '-' : `${number}`,
        at,
        by,
        where ?? '-',
        what,
      ]);
      for (const line of table(cells, ['version', 'when', 'by', 'turn', 'what'], ['what'])) out(line);
    }
    return EXIT.ok;
  });
}

async function revert(call: Call, [section = '']: readonly string[]): Promise<number> {
  const to = neededInteger(call, 'to');
  const reason = text(call.values, 'reason') || 'a person put it back';
  return withHistory(call, section, async (told, seen, session) => {
    const value = held(told, section, to);
    if (holdsErased(value)) {
      const why = `a text of version ${to} of ${section} was erased, so that it cannot be put back whole`;
      throw new Refused(deny('TEXT_ERASED', why, { section, to }));
    }
    if (!session) throw new Refused(notEarlier(section, to, 0));
    const isAgent = isByAgent(call);
    const declared = declaredSections(session.workspace) ?? [];
    const request = { kind: 'context.revert', section, to, value, seen, reason, declared, isAgent } as const;
    return answered(call, await noteAgents(call, await session.door.submit(request, person())));
  });
}

async function set(call: Call, [section = '', file = '']: readonly string[]): Promise<number> {
  const payload = objectIn(await readInput(call, file));
  const isAgent = isByAgent(call);
  const request = { kind: 'context.write', section, payload, replace: flag(call.values, 'replace'), isAgent } as const;
  const verdict = await withLedger(call, ({ door }) => door.submit(request, person()), { begins: true });
  return answered(call, await noteAgents(call, verdict));
}

function answered(call: Call, verdict: Verdict): number {
  const { warnings, why } = verdict.details;
  if (!call.json && Array.isArray(warnings) && Array.isArray(why))
    for (const [index, warning] of warnings.entries()) note(`baton: ${warning}: ${why[index]}`);
  return tell(call, verdict, ({ reason }) => [reason]);
}

async function knowledgeOf(call: Call) {
  return hasLog(workspaceOf(call)) ? withLedger(call, ({ log }) => knowledgeIn(log)) : null;
}

/** Looks at the history of a section that was written at least once, or that the configuration names. */
async function withHistory(
  call: Call,
  name: string,
  look: (told: readonly Told[], present: number, session: LedgerSession | null) => number | Promise<number>,
): Promise<number> {
  const workspace = workspaceOf(call);
  const isDeclared = declaredSections(workspace)?.includes(name) === true;
  if (!hasLog(workspace)) {
    if (isDeclared) return look([], 0, null);
    throw new Refused(unknown(name));
  }
  return withLedger(call, async (session) => {
    const told = await historyOf(session.log, name);
    if (told.length === 0 && !isDeclared) throw new Refused(unknown(name));
    const versions = told.map(({ fact }) => (fact.kind === 'context.rejected' ? 0 : fact.version));
    return look(told, Math.max(0, ...versions), session);
  });
}

function held(told: readonly Told[], section: string, number: number): JsonObject {
  const value = valueAt(told, number);
  if (value) return value;
  throw new Refused(deny('UNKNOWN_VERSION', `${section} never had a version ${number}`, { section, version: number }));
}

function version(word: string): number {
  const number = Number(word);
  if (/^[0-9]{1,15}$/.test(word)) return number;
  throw new UsageError(`a version is a whole number, 0 or above, not ${word}`);
}

function objectIn(text: string): JsonObject {
  const parsed = parseJsonText(text, { maxBytes: 1_048_576 });
  if (!parsed.ok) {
    const { line, column, message } = parsed;
    const reason = `the file is not JSON at line ${line}, column ${column}: ${message}`;
    throw new Refused(deny('NOT_JSON', reason, { line, column, message }));
  }
  if (isObject(parsed.value)) return parsed.value;
  const reason = `a section is an object, and the file holds ${nameOfType(parsed.value)}`;
  throw new Refused(deny('PAYLOAD_NOT_OBJECT', reason));
}

function holdsErased(value: Json): boolean {
  if (typeof value === 'string') return value === ERASED;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsErased);
}

/** A section that is declared and was never written has no version, and is empty. */
type View = {
  readonly section: string;
  readonly version: number;
  readonly at: string | null;
  readonly by: string | null;
  readonly bytes: number;
  readonly value: JsonObject;
};

function viewIn(
  sections: Readonly<Record<string, Section>>,
  name: string,
  declared: readonly string[],
): readonly View[] {
  const section = sectionOf({ sections }, name);
  if (section) return [viewOf(name, section)];
  return declared.includes(name) ? [{ section: name, version: 0, at: null, by: null, bytes: 2, value: {} }] : [];
}

function viewOf(section: string, { value, version: number, at, by }: Section): View {
  const bytes = utf8Length(canonicalJson(value));
  return { section, version: number, at: new Date(at).toISOString(), by, bytes, value };
}

/** One row of the history. */
function event({ seq, at, by, fact }: Told, told: readonly Told[]) {
  const { cast, turn } = fact.kind === 'context.reverted' ? {} : fact;
  const where = cast === undefined ? null : `${cast}:${turn}`;
  const author = fact.kind === 'context.rejected' ? (fact.agent ?? by) : fact.author;
  const common = { seq, at, by: author, where };
  if (fact.kind === 'context.rejected') {
    return { ...common, version: null, what: `refused (${fact.code}): ${fact.reason}`, code: fact.code, changes: [] };
  }
  const { version: number, value } = fact;
  const changes = valuesOf(valueAt(told, number - 1) ?? {}, value, CHANGES_SHOWN_MAX).map(whole);
  const what =
    fact.kind === 'context.reverted'
      ? `back to ${fact.to}: ${fact.reason}`
      : `${fact.replaces ? 'replaced' : 'written'}, ${counted(changes.length, 'change')}`;
  return { ...common, version: number, what, changes };
}

/** A side without a value has no member: null is a value like any other. */
function whole({ path, before, after }: ValueChange): JsonObject {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function changed({ path, before, after }: Change): readonly string[] {
  return [...(before === null ? [] : [`- ${path}: ${before}`]), ...(after === null ? [] : [`+ ${path}: ${after}`])];
}

function unknown(section: string) {
  return deny('UNKNOWN_SECTION', `there is no section ${section}; \`baton context show\` lists them`, { section });
}
