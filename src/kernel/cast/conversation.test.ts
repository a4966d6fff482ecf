// Agents that talk with a person before they answer, and what a person says to a cast that goes on.
import { describe, expect, test } from 'vitest';
import { always, graph, satisfied } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';

const Plan = { tools: 'none', prompt: 'Plan it.', generator: true, multiTurn: true, runner: 'claude' };
const Build = { tools: 'none', prompt: 'Build it.', runner: 'claude' };
const config = graph(
  {
    'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Build', parse: 'json', edges: [satisfied('end')] },
  },
  { materia: { Plan, Build } },
);
const PLAN = '{"workItems":[{"title":"One","context":"the first"}]}';
const session = { runner: 'claude', id: 's-1' };

function talking() {
  const cast = play({ config });
  const prepared = () => cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: cast.turn.attempt + 1 });
  const says = (output: string) => {
    if (cast.turn.phase === 'owed') prepared();
    const where = { cast: 'c', turn: 1, attempt: cast.turn.attempt } as const;
    return cast.tell({ kind: 'attempt.output', ...where, output, agent: { runner: 'claude', session } });
  };
  const answers = (output: string) => {
    const verdict = cast.tell({ kind: 'turn.answer', cast: 'c', output });
    prepared();
    return verdict;
  };
  const finishes = () => {
    const verdict = cast.tell({ kind: 'turn.finish', cast: 'c' });
    if (verdict.allow) prepared();
    return verdict;
  };
  return { cast, prepared, says, answers, finishes };
}

describe('a conversation', () => {
  test('each answer starts another turn in the same session, and nothing is parsed, whatever it reads like', () => {
    const { cast, prepared, says, answers } = talking();
    prepared();
    expect(cast.turn.brief).toContain('You talk with a person');
    expect(cast.turn.brief).not.toContain('workItems');
    for (const said of [PLAN, 'no JSON', '{"broken": ']) {
      expect(says(said).allow).toBe(true);
      expect(cast.cast).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
      expect(cast.cast.reason).toContain('baton talk c');
      expect(cast.turn).toMatchObject({ phase: 'asked', session });
      answers('looks good, continue');
      expect(cast.turn.phase).toBe('running');
      expect(cast.turn.brief).toContain('looks good, continue');
      expect(cast.turn.brief).not.toContain('Plan it.');
    }
    expect(cast.path).toEqual(['Socket-1']);
    expect(cast.all('turn.accepted')).toEqual([]);
    expect(replayed(cast.entries)).toEqual(cast.state);
  });

  test('ending it starts one turn that asks for the format; its answer is repaired and accepted like any other', () => {
    const { cast, prepared, says, finishes } = talking();
    says('What colour?');
    expect(finishes().allow).toBe(true);
    expect(cast.turn.brief).toContain('The conversation is over');
    expect(cast.turn.brief).toContain('workItems');
    expect(says('it is agreed')).toMatchObject({ allow: false, code: 'NOT_JSON' });
    expect(cast.turn).toMatchObject({ phase: 'owed', repairs: 1 });
    prepared();
    expect(cast.turn.brief).toContain('was invalid');
    expect(says(PLAN).allow).toBe(true);
    expect(cast.all('turn.accepted')).toHaveLength(1);
    expect(cast.cast.data).toMatchObject({ workItems: [{ title: 'One' }] });
    expect(replayed(cast.entries)).toEqual(cast.state);
  });

  test('it cannot be ended while an answer is pending, nor twice', () => {
    const { cast, prepared, says, finishes } = talking();
    prepared();
    const before = cast.entries.length;
    expect(finishes()).toMatchObject({ code: 'NOT_ALLOWED_NOW', reason: expect.stringContaining('has not answered') });
    expect(cast.entries).toHaveLength(before);
    says('Well?');
    finishes();
    expect(finishes()).toMatchObject({ code: 'NOT_ALLOWED_NOW', reason: expect.stringContaining('no conversation') });
  });

  test('without a session the whole conversation is in the brief', () => {
    const cast = play({ config });
    const words = ['red', 'green', 'blue', 'black', 'white', 'grey'];
    for (const [at, word] of words.entries()) {
      cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: at + 1 });
      cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: at + 1, output: `Is it ${word}?` });
      cast.tell({ kind: 'turn.answer', cast: 'c', output: `not ${word}` });
    }
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: words.length + 1 });
    for (const word of words) expect(cast.turn.brief).toMatch(new RegExp(`Is it ${word}\\?[\\s\\S]*not ${word}`));
    expect(cast.turn.brief).toContain('Plan it.');
  });

  test('a script talks for the person, and ends it', () => {
    const turns = ['What colour?', { $answer: 'red' }, 'Red it is.', '$continue', PLAN];
    const cast = play({ config, agents: { Plan: turns, Build: ['{"satisfied":true}'] } });
    expect(cast.cast.status).toBe('completed');
    expect(cast.all('turn.answered')).toMatchObject([
      { from: 'person', text: 'red' },
      { from: 'runtime', finalizes: true },
    ]);
    expect(cast.path).toEqual(['Socket-1', 'Socket-2']);
  });

  test('five turns, and a recast after a failed end goes on with the final answer', () => {
    const { cast, prepared, says, answers, finishes } = talking();
    for (let turn = 1; turn <= 5; turn += 1) {
      says(`Question ${turn}`);
      answers(`Answer ${turn}`);
    }
    says('Done?');
    finishes();
    says('no JSON');
    prepared();
    says('no JSON');
    expect(cast.cast).toMatchObject({ status: 'failed', code: 'CONTRACT_VIOLATION' });
    cast.tell({ kind: 'cast.recast', cast: 'c' });
    prepared();
    expect(cast.turn.brief).toContain('workItems');
    expect(says(PLAN).allow).toBe(true);
    expect(cast.all('turn.accepted')).toHaveLength(1);
  });
});

describe('what a person says to a cast', () => {
  const running = () => {
    const cast = play({
      config: graph(
        { 'Socket-1': { materia: 'Build', parse: 'json', edges: [satisfied('end')] } },
        { materia: { Build } },
      ),
    });
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
    return cast;
  };

  test('it is in the log and in the next brief, once; the agent at work goes on', () => {
    const cast = running();
    expect(cast.turn.brief).not.toContain('A person says');
    expect(cast.tell({ kind: 'cast.say', cast: 'c', item: null, text: 'Use tabs.' }).allow).toBe(true);
    expect(cast.turn.phase).toBe('running');
    cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'no JSON', agent: { session } });
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
    expect(cast.turn.brief).toMatch(/## A person says\n[\s\S]*Use tabs\./);
    expect(cast.all('attempt.started').at(-1)).toMatchObject({ told: ['Use tabs.'] });
    expect(cast.cast.said).toBeUndefined();
    expect(replayed(cast.entries)).toEqual(cast.state);
  });

  test.each([
    ['an item that is not there', 'WI-7', 'NOT_ALLOWED_NOW'],
    ['a cast that is over', null, 'NOT_ALLOWED_NOW'],
  ] as const)('%s is told nothing', (_what, item, code) => {
    const cast = running();
    if (item === null) cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
    expect(cast.tell({ kind: 'cast.say', cast: 'c', item, text: 'x' }).code).toBe(code);
  });
});
