// The checks of a document, for a person who draws: each issue with its place on the canvas, in the names of the steps, and with an edit
// that repairs it where that is mechanical. The rules are those of the kernel.
import { type Boundaries, check, issuesOf } from '../kernel/graph/check.ts';
import type { UtilityNames } from '../kernel/graph/check-materia.ts';
import { CONDITIONS, type Condition, type Issue } from '../kernel/graph/config.ts';
import { given, isObject, isString, listAt, objectAt, stringAt } from '../kernel/json.ts';
import { nearestName } from '../kernel/text.ts';
import {
  type EdgeRef,
  type EditorDocument,
  exitsIn,
  type FieldOwner,
  fieldAt,
  filledIn,
  inNames,
  loadoutOf,
  loopAt,
  loopsOf,
  materiaOf,
  nameOf,
  socketAt,
  socketsOf,
  type ValuePath,
} from './document.ts';
import type { Edit } from './edit.ts';

/** Where an issue is. A page shows it on the first of edge, exit, sockets and loop that is there, and at the field of the form. */
type IssuePlace = {
  /** One socket, or every socket with the materia. */
  readonly sockets: readonly string[];
  readonly edge: EdgeRef | null;
  readonly exit: string | null;
  readonly loop: string | null;
  /** The field of a form, as `field.set` takes it. */
  readonly field: { readonly of: FieldOwner; readonly path: ValuePath } | null;
};

type FieldPlace = NonNullable<IssuePlace['field']>;

export type LocatedIssue = Issue & {
  readonly place: IssuePlace;
  /** The message with the names of steps. */
  readonly text: string;
  readonly fix: { readonly label: string; readonly edit: Edit } | null;
};

type DocumentChecks = {
  readonly utilities?: UtilityNames;
  /** Who may hand to whom: only where the registry is can say it. */
  readonly boundaries?: Boundaries;
};

/** What matters for this loadout, errors first. */
export function checkDocument(document: EditorDocument, checks: DocumentChecks = {}): readonly LocatedIssue[] {
  const config = filledIn(document);
  const found = issuesOf(check(config, checks), document.name, config);
  return located(document, [...missingFiles(document), ...found]);
}

/** Prompts that are not written yet, of the materia that the loadout uses. */
function missingFiles(document: EditorDocument): readonly Issue[] {
  const used = Object.values(socketsOf(document)).map((socket) => (isObject(socket) ? socket.materia : null));
  return Object.entries(materiaOf(document)).flatMap(([id, each]): Issue[] => {
    if (!used.includes(id) || !isObject(each) || each.prompt !== undefined) return [];
    const file = stringAt(each, 'promptFile');
    if (file === null || Object.hasOwn(document.files, file)) return [];
    const message = `${file} is not there yet. Write the prompt.`;
    return [{ code: 'INVALID_MATERIA', level: 'error', path: `materia.${id}.promptFile`, message }];
  });
}

/** Issues that were found elsewhere, such as by the server, with their places in this document. */
export function located(document: EditorDocument, issues: readonly Issue[]): readonly LocatedIssue[] {
  return issues.map((issue) => {
    const place = placeOf(document, issue.path);
    const text = inNames(document, issue.message);
    return { ...issue, place, text, fix: fixOf(document, issue, place) };
  });
}

const NOWHERE: IssuePlace = { sockets: [], edge: null, exit: null, loop: null, field: null };

export function placeOf(document: EditorDocument, path: string): IssuePlace {
  const own = `loadouts.${document.name}`;
  if (path === own) return NOWHERE;
  if (path.startsWith(`${own}.`)) return inLoadout(document, path.slice(own.length + 1));
  if (path.startsWith('materia.')) return inMateria(document, path.slice('materia.'.length));
  return { ...NOWHERE, field: path === '' ? null : { of: { config: true }, path: stepsOf(path) } };
}

function inLoadout(document: EditorDocument, path: string): IssuePlace {
  const [section] = path.split('.');
  const [id, rest] = splitName(path.slice((section ?? '').length + 1), ownNames(document, section));
  const steps = stepsOf(rest);
  if (section === 'sockets' && id !== null) {
    const [head, index] = steps;
    const edge = head === 'edges' && typeof index === 'number' ? { from: id, index } : null;
    return { ...NOWHERE, sockets: [id], edge, field: steps.length === 0 ? null : { of: { socket: id }, path: steps } };
  }
  if (section === 'loops' && id !== null) {
    const [head, index] = steps;
    const found =
      head === 'exits' ? exitsIn(document).find((each) => each.loop === id && each.index === index) : undefined;
    const field = steps.length === 0 ? null : { of: { loop: id }, path: steps };
    return { ...NOWHERE, loop: id, exit: found?.exit ?? null, field };
  }
  return { ...NOWHERE, field: { of: { loadout: true }, path: stepsOf(path) } };
}

function ownNames(document: EditorDocument, section: string | undefined): readonly string[] {
  if (section === 'sockets') return Object.keys(socketsOf(document));
  return section === 'loops' ? Object.keys(loopsOf(document)) : [];
}

function inMateria(document: EditorDocument, path: string): IssuePlace {
  const [id, rest] = splitName(path, Object.keys(materiaOf(document)));
  if (id === null) return NOWHERE;
  const sockets = Object.entries(socketsOf(document)).flatMap(([socket, written]) =>
    isObject(written) && written.materia === id ? [socket] : [],
  );
  return { ...NOWHERE, sockets, field: { of: { materia: id }, path: stepsOf(rest) } };
}

/** A name may hold dots itself, so the longest known one counts. */
function splitName(path: string, known: readonly string[]): readonly [name: string | null, rest: string] {
  const fits = known.filter(
    (name) => path === name || (path.startsWith(name) && /^[.[]/.test(path.slice(name.length))),
  );
  const name = fits.toSorted((one, other) => other.length - one.length)[0];
  return name === undefined ? [null, path] : [name, path.slice(name.length)];
}

/** `edges[0].when` as `edges`, 0, `when`. */
function stepsOf(path: string): ValuePath {
  return [...path.matchAll(/\[(\d+)\]|([^.[]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : Number(index),
  );
}

type Fix = LocatedIssue['fix'];

function fixOf(document: EditorDocument, issue: Issue, place: IssuePlace): Fix {
  const { field, edge, exit, loop } = place;
  const [socket] = place.sockets;
  if (/ is not a field of /.test(issue.message) && field && /^"/.test(issue.message))
    return unknownField(document, issue, field);
  if (field && 'materia' in field.of && field.path[0] === 'promptFile')
    return {
      label: 'Begin the prompt',
      edit: { edit: 'prompt.set', materia: field.of.materia, text: 'Say what this step does.\n' },
    };
  if (issue.code === 'CONFIG_LOCKED' && field && fieldAt(document, field.of, field.path) !== undefined)
    return { label: `Leave out ${field.path.join('.')}`, edit: { edit: 'field.set', of: field.of, path: field.path } };
  const valueFix = field && fixOfValue(document, issue, field);
  if (valueFix) return valueFix;
  if (exit !== null) return exitFix(document, issue, exit, field);
  if (edge !== null) return edgeFix(document, issue, edge);
  if (loop !== null) return loopFix(document, issue, loop, place);
  if (field && 'loadout' in field.of && field.path[0] === 'entry') return entryFix(document);
  if (socket !== undefined && field && 'socket' in field.of) return socketFix(document, issue, socket, field.path);
  if (issue.code === 'UNREACHABLE_SOCKET' && socket !== undefined)
    return { label: `Remove ${nameOf(document, socket)}`, edit: { edit: 'socket.remove', sockets: [socket] } };
  return null;
}

/** A misspelt field gets its right name; one that nothing reads is removed. */
function unknownField(document: EditorDocument, issue: Issue, { of, path }: FieldPlace): Fix {
  const name = String(path.at(-1));
  const [, meant] = /Did you mean (\w+)\?/.exec(issue.message) ?? [];
  const remove: Edit = { edit: 'field.set', of, path };
  const value = fieldAt(document, of, path);
  if (meant === undefined || value === undefined) return { label: `Remove ${name}`, edit: remove };
  if ('loadout' in of && meant === 'entry') {
    if (!isString(value) || socketAt(document, value) === null) return { label: `Remove ${name}`, edit: remove };
    return { label: `Call it ${meant}`, edit: { edit: 'all', edits: [{ edit: 'entry.set', socket: value }, remove] } };
  }
  const write: Edit = { edit: 'field.set', of, path: [...path.slice(0, -1), meant], value };
  return { label: `Call it ${meant}`, edit: { edit: 'all', edits: [write, remove] } };
}

/** A value that is none of those that fit: the one that was meant, or none at all where the message says that it can be left out. */
function fixOfValue(document: EditorDocument, { message }: Issue, { of, path }: FieldPlace): Fix {
  const name = String(path.at(-1));
  if (fieldAt(document, of, path) === undefined || !message.startsWith(`${name} is `)) return null;
  const [, meant] = / Did you mean ([\w-]+)\?/.exec(message) ?? [];
  if (meant !== undefined) return { label: `Use ${meant}`, edit: { edit: 'field.set', of, path, value: meant } };
  const isLeftOut = /leave (?:the field|it) out|^\w+ is [^.]+\. Write (?:\{|a list)/.test(message);
  // A count of an edge has a repair of its own.
  if (!isLeftOut || path[0] === 'edges') return null;
  return { label: `Leave out ${name}`, edit: { edit: 'field.set', of, path } };
}

function exitFix(document: EditorDocument, { message }: Issue, exit: string, field: FieldPlace | null): Fix {
  const found = exitsIn(document).find((each) => each.exit === exit);
  if (found && /plain text/.test(message)) return asJson(found.from);
  // Without an id of its own it gets one from what it leaves and when.
  if (field?.path.at(-1) === 'id' && exitsIn(document).filter((each) => each.exit === exit).length > 1)
    return { label: 'Give it an id of its own', edit: { edit: 'field.set', of: field.of, path: field.path } };
  return { label: 'Remove the exit', edit: { edit: 'exit.remove', exit } };
}

/** The socket that people call so. */
function socketCalled(document: EditorDocument, name: string): string | undefined {
  return Object.keys(socketsOf(document)).find((id) => nameOf(document, id) === name);
}

function edgeFix(document: EditorDocument, issue: Issue, edge: EdgeRef): Fix {
  const edges = listAt(socketAt(document, edge.from) ?? {}, 'edges');
  const written = isObject(edges[edge.index]) ? (edges[edge.index] as Record<string, never>) : {};
  const when = given(written, 'when');
  const remove: Fix = { label: 'Remove the edge', edit: { edit: 'edge.remove', edge } };
  const to = stringAt(written, 'to') ?? '';
  const called = socketCalled(document, to);
  if (issue.path.endsWith('.to') && called !== undefined)
    return { label: `Lead to ${to}`, edit: { edit: 'edge.set', edge, to: called } };
  switch (issue.code) {
    case 'UNKNOWN_ENDPOINT':
    case 'MISSING_ENDPOINT':
    case 'INVALID_SOCKET_ID':
    case 'ITEMS_LEFT':
      return remove;
    case 'UNREACHABLE_EDGE':
      return issue.level === 'error' && when !== 'always'
        ? { label: 'Move it before always', edit: { edit: 'edge.move', edge, to: 0 } }
        : remove;
    case 'INVALID_EDGE_CONDITION': {
      const near = typeof when === 'string' ? nearestName(when, CONDITIONS) : null;
      if (/plain text|Plain text/.test(issue.message)) return asJson(edge.from);
      if (isCondition(when)) return null;
      const next: Condition = isCondition(near) ? near : 'always';
      return { label: `Write ${next}`, edit: { edit: 'edge.set', edge, when: next } };
    }
    case 'INVALID_CONFIG':
      if (issue.path.endsWith('.then') && given(written, 'maxTraversals') === undefined)
        return { label: 'At most 3 for an item', edit: { edit: 'edge.set', edge, maxTraversals: 3 } };
      if (issue.path.endsWith('.then')) return { label: 'Ask a person', edit: { edit: 'edge.set', edge, then: 'ask' } };
      if (issue.path.endsWith('.maxTraversals'))
        return { label: 'At most 3 for an item', edit: { edit: 'edge.set', edge, maxTraversals: 3 } };
      return null;
    default:
      return null;
  }
}

function isCondition(value: unknown): value is Condition {
  return CONDITIONS.some((each) => each === value);
}

function asJson(socket: string): Fix {
  return {
    label: 'Let it answer in JSON',
    edit: { edit: 'field.set', of: { socket }, path: ['parse'], value: 'json' },
  };
}

function loopFix(document: EditorDocument, issue: Issue, loop: string, { field }: IssuePlace): Fix {
  const written = loopAt(document, loop) ?? {};
  const members = listAt(written, 'sockets').filter((id) => typeof id === 'string');
  const there = members.filter((id) => socketAt(document, id) !== null);
  const [head, second] = field?.path ?? [];
  if (head === 'sockets' && there.length < members.length && there.length > 0)
    return { label: 'Take it out of the loop', edit: { edit: 'loop.set', loop, sockets: there } };
  if (members.length === 0) return { label: 'Remove the loop', edit: { edit: 'loop.break', loop } };
  if (head === 'sockets' && /never lead back/.test(issue.message)) {
    const [from, to] = [members.at(-1) ?? '', members[0] ?? ''];
    return { label: `Lead ${nameOf(document, from)} back`, edit: { edit: 'edge.add', from, to } };
  }
  if (head === 'consumes' && second === 'output')
    return { label: 'Leave out output', edit: { edit: 'field.set', of: { loop }, path: ['consumes', 'output'] } };
  if (head === 'consumes' && second === 'from' && /is not a generator/.test(issue.message)) {
    const id = stringAt(socketAt(document, stringAt(objectAt(written, 'consumes'), 'from') ?? '') ?? {}, 'materia');
    if (id === null || !Object.hasOwn(materiaOf(document), id)) return null;
    const edit: Edit = { edit: 'field.set', of: { materia: id }, path: ['generator'], value: true };
    return { label: `Let ${id} make items`, edit };
  }
  if (head === 'consumes' && second === 'from' && /found none/.test(issue.message)) {
    const from = stringAt(objectAt(written, 'consumes'), 'from') ?? '';
    const to = members[0] ?? '';
    if (socketAt(document, from) === null || socketAt(document, to) === null) return null;
    const always = listAt(socketAt(document, from) ?? {}, 'edges').findIndex(
      (each) => isObject(each) && each.when === 'always',
    );
    const edit: Edit =
      always === -1 ? { edit: 'edge.add', from, to } : { edit: 'edge.set', edge: { from, index: always }, to };
    return { label: `Lead ${nameOf(document, from)} to ${nameOf(document, to)}`, edit };
  }
  return null;
}

function entryFix(document: EditorDocument): Fix {
  const entry = stringAt(loadoutOf(document), 'entry');
  const next = Object.keys(socketsOf(document)).find((id) => id !== entry);
  if (next === undefined) return null;
  return { label: `Start at ${nameOf(document, next)}`, edit: { edit: 'entry.set', socket: next } };
}

function socketFix(document: EditorDocument, issue: Issue, socket: string, path: ValuePath): Fix {
  const [head] = path;
  const written = socketAt(document, socket) ?? {};
  const of = { socket };
  if (head === 'materia' && issue.code === 'UNKNOWN_MATERIA') {
    const near = nearestName(stringAt(written, 'materia') ?? '', Object.keys(materiaOf(document)));
    return near === null ? null : { label: `Use ${near}`, edit: { edit: 'materia.set', socket, materia: near } };
  }
  if (/plain text|Plain text/.test(issue.message)) return asJson(socket);
  if (issue.code === 'INVALID_GENERATOR' && head === 'parse') return asJson(socket);
  if (head === 'advance' && path[1] === 'cursor') {
    const [, cursor] = /Write "([^"]+)"/.exec(issue.message) ?? [];
    if (cursor !== undefined)
      return {
        label: `Count with ${cursor}`,
        edit: { edit: 'field.set', of, path: ['advance', 'cursor'], value: cursor },
      };
  }
  if ((head === 'parse' || head === 'strict') && issue.code === 'INVALID_CONFIG')
    return { label: `Remove ${head}`, edit: { edit: 'field.set', of, path: [head] } };
  if (head === 'checkers' && issue.level === 'warning')
    return { label: 'Remove the checkers', edit: { edit: 'field.set', of, path: ['checkers'] } };
  if (head === 'edges' && issue.code === 'NO_EDGE_MATCHES')
    return { label: 'Lead on to the end', edit: { edit: 'edge.add', from: socket, to: 'end', when: 'always' } };
  return null;
}
