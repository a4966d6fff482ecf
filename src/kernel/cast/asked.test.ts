// Turns that a person takes.
import { expect, test } from 'vitest';
import { always, graph, notSatisfied, satisfied, yes } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';

const Decide = { tools: 'none', prompt: 'Decide it.', parse: 'json', runner: 'person' };
const edges = [satisfied('Socket-2'), notSatisfied('end')];
const config = graph(
  { 'Socket-1': { materia: 'Decide', edges }, 'Socket-2': { materia: 'Decide', edges: [satisfied('end')] } },
  { materia: { Decide } },
);

function waiting() {
  const cast = play({ config });
  cast.run();
  return cast;
}
const answer = (output: string, turn?: number) =>
  ({ kind: 'turn.answer', cast: 'c', output, ...(turn === undefined ? {} : { turn }) }) as const;

test("a person's turn is briefed and then waits, and nothing is dispatched for it", () => {
  const cast = waiting();
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
  expect(cast.cast.reason).toContain('baton answer c --turn 1');
  expect(cast.turn).toMatchObject({ phase: 'asked', attempt: 1 });
  expect(cast.turn.brief).toContain('Decide it.');
  expect(cast.owed).toEqual([]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what the person says carries the cast on like any other output', () => {
  const cast = waiting();
  expect(cast.say(answer(JSON.stringify(yes))).allow).toBe(true);
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
  cast.say(answer(JSON.stringify(yes), 2));
  expect(cast.cast.status).toBe('completed');
  expect(cast.path).toEqual(['Socket-1', 'Socket-2']);
});

test('whether it is taken or refused, it is noted that a person answered', () => {
  const cast = waiting();
  cast.say(answer('no JSON'));
  cast.say(answer(JSON.stringify(yes)));
  expect(cast.all('attempt.refused')).toMatchObject([{ agent: { runner: 'person' } }]);
  expect(cast.all('turn.accepted')).toMatchObject([{ agent: { runner: 'person' } }]);
});

test('a refused answer is asked for again with what is wrong, as often as it takes', () => {
  const cast = waiting();
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    expect(cast.say(answer('oops')).code).toBe('NOT_JSON');
    expect(cast.cast).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
    expect(cast.turn).toMatchObject({ phase: 'asked', attempt: attempt + 1 });
    expect(cast.turn.brief).toContain('was invalid');
  }
  expect(cast.cast.reason).toContain('refused');
  expect(cast.path).toEqual(['Socket-1']);
});

test.each([
  ['a turn that does not wait', answer('x', 7), 'NOT_ALLOWED_NOW'],
  ['a cast that does not exist', { ...answer('x'), cast: 'nobody' }, 'UNKNOWN_CAST'],
] as const)('%s takes no answer', (_what, request, code) => {
  expect(waiting().tell(request).code).toBe(code);
});

test('a cast that is over takes no answer', () => {
  const cast = waiting();
  cast.say({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect(cast.tell(answer('x'))).toMatchObject({ code: 'NOT_ALLOWED_NOW', reason: expect.stringContaining('recast') });
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
});

test('a script speaks for the person where it has a turn', () => {
  const cast = play({ config, agents: { Decide: [yes, '$repeat'] } });
  expect(cast.cast.status).toBe('completed');
  expect(cast.all('turn.asked')).toEqual([]);
});

test('a fallback to a person waits for one', () => {
  const Ask = { tools: 'none', prompt: 'Ask.', runner: 'codex', fallbacks: [{ runner: 'person' }] };
  const cast = play({
    config: graph({ 'Socket-1': { materia: 'Ask', edges: [always('end')] } }, { materia: { Ask } }),
  });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  const common = { cast: 'c', turn: 1, attempt: 1, reason: 'not there' };
  cast.tell({ kind: 'attempt.failed', ...common, fault: 'refused', code: 'AGENT_UNAVAILABLE' });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
  cast.say(answer('I did it.'));
  expect(cast.cast.status).toBe('completed');
});
