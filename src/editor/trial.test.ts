import { expect, test } from 'vitest';
import config from '../../examples/graph-semantics-loadout.json' with { type: 'json' };
import type { Json, JsonObject } from '../kernel/json.ts';
import { emptyDocument, openDocument } from './document.ts';
import { applyEdit } from './edit.ts';
import { briefOf, playTrial } from './trial.ts';
import { recordingOf, type Trial, type TrialAnswer } from './trial-script.ts';

const document = openDocument(config as unknown as JsonObject, 'Software-Workflow');

function played(...answers: readonly (readonly [socket: number, answer: Json])[]): Trial {
  const script = answers.map(([n, answer]): TrialAnswer => {
    return { socket: `Socket-${n}`, text: typeof answer === 'string' ? answer : JSON.stringify(answer) };
  });
  const start = playTrial(document, { request: 'Add a login', answers: script });
  if (!start.ok) throw new Error(JSON.stringify(start.issues));
  return start.trial;
}

const PLAN = { workItems: [1, 2].map((n) => ({ title: `Item ${n}`, context: 'c' })) };
const TO_THE_LOOP = [
  [1, { added: [] }],
  [2, { vcs: 'git' }],
  [3, PLAN],
] as const;

test('each step waits for its answer, with the brief that its agent would read and an answer that leads on', () => {
  const [open, ...others] = played(...TO_THE_LOOP).open;
  expect(others).toEqual([]);
  expect(open).toMatchObject({ socket: 'Socket-4', name: 'Build', item: { number: 1, title: 'Item 1' }, attempt: 1 });
  expect(open?.brief).toContain('Build the current work item, and only it.');
  expect(open?.brief).toContain('Item 1');
  const [review] = played(...TO_THE_LOOP, [4, 'built']).open;
  expect(JSON.parse(review?.usual ?? '')).toEqual({ satisfied: true });
});

test('work that is sent back comes again with the reason, and the data of the cast is there at every step', () => {
  const trial = played(...TO_THE_LOOP, [4, 'built'], [5, { satisfied: false, context: 'no tests' }]);
  expect(trial.done.at(-1)).toMatchObject({ outcome: 'accepted', says: ['It leads to Build.'] });
  expect(trial.open[0]?.brief).toContain('no tests');
  expect(trial.done.map(({ data }) => Object.keys(data).includes('workItems'))).toEqual([
    ...[false, false, true, true, true],
  ]);
});

test('an answer that breaks the contract is refused once, then the cast fails', () => {
  const once = played(...TO_THE_LOOP, [4, 'built'], [5, 'fine by me']);
  expect(once.done.at(-1)?.outcome).toBe('refused');
  expect(once.open[0]).toMatchObject({ socket: 'Socket-5', attempt: 2, refusal: expect.any(String) });
  const twice = played(...TO_THE_LOOP, [4, 'built'], [5, 'fine by me'], [5, 'still fine']);
  expect(twice).toMatchObject({ status: 'failed', code: 'CONTRACT_VIOLATION', open: [] });
});

test('usual answers lead to the end, by the exit of the loop', () => {
  const start = playTrial(document, { request: 'Add a login', answers: [] }, true);
  if (!start.ok) throw new Error('the draft is unsound');
  expect(start.trial.open).toEqual([]);
  expect(recordingOf(document.name, start.trial)).toMatchObject({
    loadout: 'Software-Workflow',
    end: 'completed',
    code: null,
    path: [1, 2, 3, 4, 5, 6, 4, 5, 6, 7].map((n) => `Socket-${n}`),
  });
});

test('a step back is one answer less, and an answer for a step that is not there is left out', () => {
  const long = played(...TO_THE_LOOP, [4, 'built']);
  const short = played(...TO_THE_LOOP);
  const again = playTrial(document, { request: 'Add a login', answers: long.script.answers.slice(0, -1) });
  expect(again.ok && again.trial).toEqual(short);
  expect(played([7, 'too early'], ...TO_THE_LOOP).script.answers).toHaveLength(3);
});

test('an attempt that fails says so', () => {
  const start = playTrial(document, { request: 'x', answers: [{ socket: 'Socket-1', text: null }] });
  expect(start.ok && start.trial.done[0]).toMatchObject({ outcome: 'failed' });
});

test('a draft that is not sound is not tried; its errors are named', () => {
  const start = playTrial(emptyDocument('Team', { materia: {} }), { request: 'x', answers: [] });
  expect(start).toMatchObject({ ok: false, issues: [{ level: 'error' }] });
});

test('the brief of a socket is there before anything runs, and follows the prompt', () => {
  expect(briefOf(document, 'Socket-5')).toContain('Check the current work item.');
  const edited = applyEdit(document, { edit: 'prompt.set', materia: 'Auto-Eval', text: 'Judge {{item.title}}.' });
  expect(edited.allow && briefOf(edited.document, 'Socket-5')).toContain('Judge Item 1.');
  expect(briefOf(emptyDocument('Team'), 'Socket-1')).toBeNull();
});
