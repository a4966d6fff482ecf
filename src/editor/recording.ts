// A recorded trial as a test of a loadout: played again, it takes the same path to the same end. It names steps, because sockets are
// renumbered when a step is inserted.
import { isObject, isString, isText, type Json } from '../kernel/json.ts';
import { utf8Length } from '../kernel/text.ts';
import { type EditorDocument, nameOf, socketsOf } from './document.ts';
import { playTrial, TRIAL_ANSWERS_MAX } from './trial.ts';
import type { TrialAnswer, TrialRecording } from './trial-script.ts';

/** What a file of `.baton/tests` holds. */
export type LoadoutTest = TrialRecording & {
  readonly test: string;
  /** What each socket of the path was called. */
  readonly steps: Readonly<Record<string, string>>;
};

type TestResult = {
  readonly passed: boolean;
  /** The path now, in names. */
  readonly path: readonly string[];
  readonly end: string;
  /** What differs, each a sentence; the first is where the paths part. */
  readonly differences: readonly string[];
};

export function testOf(document: EditorDocument, recording: TrialRecording, test: string): LoadoutTest {
  const sockets = new Set([...recording.path, ...recording.answers.map(({ socket }) => socket)]);
  const { loadout, request, answers, path, end, code } = recording;
  const steps = Object.fromEntries([...sockets].map((id) => [id, nameOf(document, id)]));
  return { test, loadout, request, steps, answers, path, end, code };
}

const TEST_BYTES_MAX = 4 * 1024 * 1024;

/** A test as somebody sent or wrote it, or what is wrong with it. */
export function readTest(
  value: Json,
): { readonly ok: true; readonly test: LoadoutTest } | { readonly ok: false; readonly why: string } {
  const wrong = (why: string) => ({ ok: false, why }) as const;
  if (!isObject(value)) return wrong('it is no object');
  if (utf8Length(JSON.stringify(value)) > TEST_BYTES_MAX) return wrong(`it has more than ${TEST_BYTES_MAX} bytes`);
  const { test, loadout, request, steps = {}, answers, path, end, code = null } = value;
  if (!isText(test) || !isText(loadout)) return wrong('test and loadout are names');
  if (!isString(request)) return wrong('request is the text of the request');
  if (!Array.isArray(answers) || answers.length > TRIAL_ANSWERS_MAX || !answers.every(isAnswer))
    return wrong(`answers is a list of at most ${TRIAL_ANSWERS_MAX} {"socket", "text"}`);
  if (!Array.isArray(path) || !path.every(isString)) return wrong('path is a list of sockets');
  if (!isString(end) || (code !== null && !isString(code))) return wrong('end and code say how the cast ended');
  if (!isObject(steps) || !Object.values(steps).every(isString)) return wrong('steps are names by socket');
  return { ok: true, test: { test, loadout, request, steps, answers, path, end, code } as unknown as LoadoutTest };
}

function isAnswer(value: unknown): value is TrialAnswer {
  return isObject(value) && isString(value.socket) && (value.text === null || isString(value.text));
}

/** Plays the test on the loadout as it is now. */
export function runTest(document: EditorDocument, test: LoadoutTest): TestResult {
  const lost: string[] = [];
  const socketNow = socketsNow(document, test, lost);
  const answers = test.answers.map(({ socket, text }) => ({ socket: socketNow(socket), text }));
  const played = playTrial(document, { request: test.request, answers });
  if (!played.ok) {
    const [first] = played.issues;
    return { passed: false, path: [], end: 'not started', differences: [`It does not start: ${first?.message ?? ''}`] };
  }
  const { path, status, code, script, reason } = played.trial;
  const names = path.map((id) => nameOf(document, id));
  const expected = test.path.map((id) => test.steps[id] ?? id);
  const differences = [
    ...lost,
    ...pathDifference(expected, names),
    ...(status === test.end && code === test.code
      ? []
      : [
          `It ends ${ending(status, code)}, and not ${ending(test.end, test.code)}.${reason === '' ? '' : ` ${reason}`}`,
        ]),
    ...(script.answers.length < answers.length && lost.length === 0
      ? [`${answers.length - script.answers.length} of ${answers.length} answers are not asked for any more.`]
      : []),
  ];
  return { passed: differences.length === 0, path: names, end: status, differences };
}

function ending(status: string, code: string | null): string {
  return code === null ? status : `${status} (${code})`;
}

/** Steps are found by the name they had, and by their number where they have no other name. */
function socketsNow(document: EditorDocument, { steps }: LoadoutTest, lost: string[]): (socket: string) => string {
  const ids = Object.keys(socketsOf(document));
  const found = new Map<string, string>();
  for (const [socket, name] of Object.entries(steps)) {
    const named = ids.filter((id) => nameOf(document, id) === name);
    const [only] = named;
    if (named.includes(socket) || only === undefined) found.set(socket, socket);
    else found.set(socket, only);
    if (only === undefined) lost.push(`There is no step ${name} any more.`);
  }
  return (socket) => found.get(socket) ?? socket;
}

function pathDifference(expected: readonly string[], path: readonly string[]): readonly string[] {
  const at = expected.findIndex((name, index) => path[index] !== name);
  const place = at === -1 ? expected.length : at;
  if (at === -1 && path.length === expected.length) return [];
  const [was, is] = [expected[place], path[place]];
  const before = place === 0 ? 'At the start' : `After ${expected.slice(Math.max(0, place - 3), place).join(', ')}`;
  if (was === undefined) return [`${before} it goes on to ${is}, where it ended before.`];
  return [
    is === undefined
      ? `${before} it stops, where it went on to ${was}.`
      : `${before} it goes to ${is}, and not to ${was}.`,
  ];
}

/** The name of the file of a test. */
export function testFileOf({ loadout, test }: LoadoutTest): string {
  return `tests/${slug(loadout)}/${slug(test)}.json`;
}

function slug(text: string): string {
  const letters = text.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  return letters === '' ? 'test' : letters.slice(0, 80);
}
