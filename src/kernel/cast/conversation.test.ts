// Agents that talk with a person before they answer, and what a person says to a cast that goes on.
import { describe, expect, test } from 'vitest';
import { always, graph, no, notSatisfied, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { play, replayed, type Stage } from '../../../test/play.ts';
import { CAPABILITIES } from '../capabilities.ts';
import type { JsonObject } from '../json.ts';
import { packetOf, watchOf } from './packet.ts';

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
  const running = (stage: Partial<Stage> = {}, materia: JsonObject = Build) => {
    const cast = play({
      config: graph(
        { 'Socket-1': { materia: 'Build', parse: 'json', edges: [satisfied('end')] } },
        { materia: { Build: materia } },
      ),
      ...stage,
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

  const interrupt = { kind: 'cast.say', cast: 'c', item: null, text: 'Use tabs.', interrupt: true } as const;
  const usage = { input: 30, output: 5, cost: 0.5 };

  test('with an interrupt the attempt is ended, its use counts, and the turn goes on in the same conversation', () => {
    const cast = running({ capabilities: CAPABILITIES });
    expect(cast.tell(interrupt)).toMatchObject({
      ...{ allow: true, reason: 'Build is interrupted and goes on with it', details: { interrupts: [1] } },
    });
    expect([cast.turn.phase, cast.owed]).toEqual([
      'running',
      [expect.objectContaining({ kind: 'interrupt', attempt: 1 })],
    ]);
    cast.tell({ kind: 'attempt.interrupted', cast: 'c', turn: 1, attempt: 1, usage, agent: { session } });
    expect(cast.turn).toMatchObject({ phase: 'owed', session });
    expect(cast.cast.usage).toMatchObject(usage);
    // What it changed so far is kept: the next attempt goes on with it.
    expect(watchOf(cast.state, cast.cast, cast.turn).begins).toBe('on');
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
    expect(cast.turn.brief).toMatch(/What is new[\s\S]*You were interrupted[\s\S]*A person says[\s\S]*Use tabs\./);
    expect(cast.turn.brief).not.toContain('Build it.');
    expect(cast.owed).toEqual([expect.objectContaining({ kind: 'dispatch', attempt: 2 })]);
    expect(packetOf(cast.cast, cast.turn).session).toEqual(session);
    cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 2, output: '{"satisfied":true}' });
    expect([cast.cast.status, cast.all('attempt.lost')]).toEqual(['completed', []]);
    expect(replayed(cast.entries)).toEqual(cast.state);
  });

  test('where the runner keeps no conversation the whole brief is sent again, with what was said', () => {
    const cast = running({ capabilities: CAPABILITIES });
    cast.tell(interrupt);
    cast.tell({ kind: 'attempt.interrupted', cast: 'c', turn: 1, attempt: 1 });
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
    expect(cast.turn.brief).toMatch(/Build it\.[\s\S]*You were interrupted[\s\S]*Use tabs\./);
  });

  test('an answer that comes before the attempt has ended counts, and the next agent is told', () => {
    const cast = running({ capabilities: CAPABILITIES });
    cast.tell(interrupt);
    cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'no JSON', agent: { session } });
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
    expect(cast.owed).toEqual([expect.objectContaining({ kind: 'dispatch', attempt: 2 })]);
    expect(cast.turn.brief).toContain('Use tabs.');
    const late = { kind: 'attempt.interrupted', cast: 'c', turn: 1 } as const;
    expect(cast.tell({ ...late, attempt: 1, usage }).code).toBe('STALE_ATTEMPT');
    expect(cast.tell({ ...late, attempt: 2, usage }).code).toBe('NOT_ALLOWED_NOW');
  });

  test.each([
    ['command', { command: ['run', '{{prompt}}'] }, 'its runner command cannot be: '],
    ['openai', { model: 'm' }, 'its runner openai cannot be: '],
    [
      ...(['claude', { tools: 'coding', onCrash: 'wait' }] as const),
      'its turn must not run twice: the next tool of Baton that it calls answers with it, ',
    ],
  ])(
    '%s with %j is not interrupted: its next brief holds what was said, and the person learns that',
    (runner, more, why) => {
      const cast = running({ capabilities: CAPABILITIES }, { ...Build, runner, ...more });
      const { reason, details } = cast.tell(interrupt);
      expect(reason).toBe(
        `Build is not interrupted, because ${why}its next brief has it, or the next agent of the cast gets it`,
      );
      expect(details).not.toHaveProperty('interrupts');
      expect(cast.owed).toEqual([expect.objectContaining({ kind: 'dispatch' })]);
    },
  );

  test('where no agent is at work there is nothing to interrupt', () => {
    const cast = play({ config, capabilities: CAPABILITIES });
    expect(cast.tell(interrupt)).toMatchObject({
      reason: 'no agent is at work on it now; the next agent of the cast gets it',
    });
    expect(cast.all('cast.said')).toEqual([{ kind: 'cast.said', cast: 'c', item: null, text: 'Use tabs.' }]);
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

describe('rework', () => {
  const Coder = { tools: 'coding', prompt: 'Build it.', runner: 'claude', model: 'm-1', fallbacks: [{ model: 'm-2' }] };
  const Judge = { tools: 'none', prompt: 'Judge it.', runner: 'claude' };
  const loop = (materia: JsonObject = Coder) =>
    graph(
      {
        'Socket-1': { materia: 'Coder', parse: 'json', edges: [always('Socket-2')] },
        'Socket-2': { materia: 'Judge', parse: 'json', edges: [satisfied('end'), notSatisfied('Socket-1')] },
      },
      { materia: { Coder: materia, Judge } },
    );
  const usage = { input: 40, output: 10, cost: 0 };
  const kept = { runner: 'claude', id: 's-1', usage };
  const REASON = 'The test fails for an empty list.';

  /** A cast whose work was rejected once; the turn of the rework is owed. */
  function rejected(stage: Partial<Stage> = {}, note: object = { session: kept }) {
    const cast = play({ config: loop(), capabilities: CAPABILITIES, root: '/worktree', ...stage });
    const prepare = () =>
      cast.tell({ kind: 'turn.prepared', cast: 'c', turn: cast.turn.id, attempt: cast.turn.attempt + 1 });
    const says = (output: string, agent: object = {}) =>
      cast.tell({ kind: 'attempt.output', cast: 'c', turn: cast.turn.id, attempt: cast.turn.attempt, output, agent });
    prepare();
    says('{"context":"done"}', note);
    prepare();
    says(JSON.stringify({ satisfied: false, context: REASON }), { session: { runner: 'claude', id: 's-judge' } });
    return { cast, prepare, says };
  }

  test('an agent gets its work back in its own conversation, with the reason and without its first brief', () => {
    const { cast, prepare, says } = rejected();
    prepare();
    expect(cast.all('attempt.started').map(({ session }) => session)).toEqual([undefined, undefined, kept]);
    expect(packetOf(cast.cast, cast.turn).session).toEqual(kept);
    const { brief } = cast.turn;
    expect(brief).toContain(REASON);
    expect(brief).toContain('earlier in this conversation');
    expect(brief).toContain('## Your answer');
    expect(brief).not.toContain('Build it.');
    // Its judge did no work that was rejected, so it judges afresh.
    says('{"context":"done"}', { session: { runner: 'claude', id: 's-2' } });
    prepare();
    expect(cast.turn.session).toBeNull();
    expect(cast.turn.brief).toContain('Judge it.');
    expect(replayed(cast.entries)).toEqual(cast.state);
  });

  test('where the conversation is gone, the whole brief is sent in a new one', () => {
    const { cast, prepare } = rejected();
    prepare();
    const lost = { fault: 'crash', reason: 'no conversation found', code: 'SESSION_LOST' } as const;
    cast.tell({ kind: 'attempt.failed', cast: 'c', turn: 3, attempt: 1, ...lost });
    prepare();
    expect(cast.turn).toMatchObject({ attempt: 2, session: null });
    expect(cast.turn.brief).toMatch(new RegExp(`Build it\\.[\\s\\S]*${REASON}`));
    expect(cast.turn.brief).not.toContain('earlier in this conversation');
  });

  test('after a fault of its provider the rework goes on in the same conversation, with the reason once more', () => {
    const { cast, prepare } = rejected();
    prepare();
    cast.tell({ kind: 'attempt.failed', cast: 'c', turn: 3, attempt: 1, fault: 'transport', reason: 'cut' });
    prepare();
    expect(cast.turn.session).toEqual(kept);
    expect(cast.turn.brief).toContain(REASON);
  });

  test('an attempt that was cut off in a worktree leaves the conversation: its files are put back', () => {
    const { cast, prepare } = rejected();
    prepare();
    cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 3, attempt: 1, mayHaveRun: true, reason: 'killed' });
    prepare();
    expect(cast.all('attempt.started').at(-1)).toMatchObject({ attempt: 2, session: null });
    expect(cast.turn.session).toBeNull();
    expect(cast.turn.brief).toMatch(new RegExp(`Build it\\.[\\s\\S]*${REASON}`));
    expect(replayed(cast.entries)).toEqual(cast.state);
  });

  test('in the folder itself nothing is put back, and the conversation goes on', () => {
    const cast = play({ config: loop(), capabilities: CAPABILITIES });
    const prepare = (turn: number, attempt: number) => cast.tell({ kind: 'turn.prepared', cast: 'c', turn, attempt });
    const says = (turn: number, output: string, agent: object) =>
      cast.tell({ kind: 'attempt.output', cast: 'c', turn, attempt: 1, output, agent });
    prepare(1, 1);
    says(1, '{"context":"done"}', { session: kept });
    prepare(2, 1);
    says(2, JSON.stringify({ satisfied: false, context: REASON }), {});
    prepare(3, 1);
    cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 3, attempt: 1, mayHaveRun: true, reason: 'killed' });
    prepare(3, 2);
    expect(cast.turn.session).toEqual(kept);
  });

  test.each<[string, () => ReturnType<typeof rejected>]>([
    [
      'the work was done with another model',
      () => {
        const cast = play({ config: loop(), capabilities: CAPABILITIES });
        const prepare = () =>
          cast.tell({ kind: 'turn.prepared', cast: 'c', turn: cast.turn.id, attempt: cast.turn.attempt + 1 });
        const says = (output: string, agent: object = {}) =>
          cast.tell({
            kind: 'attempt.output',
            cast: 'c',
            turn: cast.turn.id,
            attempt: cast.turn.attempt,
            output,
            agent,
          });
        prepare();
        const fault = { fault: 'refused', reason: 'no such model', code: 'MODEL_UNAVAILABLE' } as const;
        cast.tell({ kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 1, ...fault });
        prepare();
        says('{"context":"done"}', { session: kept });
        prepare();
        says(JSON.stringify({ satisfied: false, context: REASON }));
        return { cast, prepare, says };
      },
    ],
    ['it was another runner', () => rejected({}, { session: { ...kept, runner: 'codex' } })],
    ['its program told no conversation', () => rejected({}, {})],
    [
      'its agent runs in a sandbox, which keeps none',
      () => rejected({ config: loop({ tools: 'coding', prompt: 'Build it.', runner: 'claude', sandbox: 'bwrap' }) }),
    ],
    [
      'its runner keeps none',
      () =>
        rejected(
          { config: loop({ tools: 'coding', prompt: 'Build it.', runner: 'command', command: ['run', '{{prompt}}'] }) },
          { session: { runner: 'command', id: 's-1' } },
        ),
    ],
  ])('where %s, rework begins afresh', (_what, begin) => {
    const { cast, prepare } = begin();
    prepare();
    expect(cast.turn).toMatchObject({ id: 3, session: null });
    expect(cast.turn.brief).toMatch(new RegExp(`Build it\\.[\\s\\S]*${REASON}`));
  });

  test('the conversation about one item is not used for the next, and is forgotten with its item', () => {
    const cast = play({ config: workflow(), capabilities: CAPABILITIES });
    const step = (output: unknown, agent: object = {}) => {
      const { id, attempt } = cast.turn;
      if (cast.turn.phase === 'owed') cast.tell({ kind: 'turn.prepared', cast: 'c', turn: id, attempt: attempt + 1 });
      const where = { cast: 'c', turn: id, attempt: cast.turn.attempt } as const;
      cast.tell({ kind: 'attempt.output', ...where, output: JSON.stringify(output), agent });
      if (cast.turn.phase === 'verifying') cast.tell({ kind: 'turn.verified', ...where, seal: '' });
    };
    const sessions = () => Object.keys(cast.cast.sessions ?? {});
    step(plan(2));
    step({}, { session: kept });
    expect(sessions()).toEqual(['Socket-2@WI-1']);
    step(no());
    expect(cast.turn.socket).toBe('Socket-2');
    step({}, { session: kept });
    expect(cast.all('attempt.started').at(-1)?.session).toEqual(kept);
    step(yes);
    step(yes);
    expect([cast.turn.socket, cast.turn.item?.key, sessions()]).toEqual(['Socket-2', 'WI-2', []]);
  });

  test('side by side, each item is reworked in its own conversation', () => {
    const parallel = workflow({ 'loops.main.parallel': { maxConcurrency: 2 } });
    const cast = play({ config: parallel, capabilities: CAPABILITIES, root: '/worktree' });
    const on = (key: string | null) => {
      const turn = Object.values(cast.cast.turns).find(({ item }) => (item?.key ?? null) === key);
      if (!turn) throw new Error(`there is no turn of ${key}`);
      return turn;
    };
    const begins = (key: string | null) => {
      const { id, attempt } = on(key);
      cast.tell({ kind: 'turn.prepared', cast: 'c', turn: id, attempt: attempt + 1 });
      return on(key);
    };
    const says = (key: string | null, output: unknown, session?: string) => {
      const { id, attempt } = on(key).phase === 'owed' ? begins(key) : on(key);
      const where = { cast: 'c', turn: id, attempt } as const;
      const agent = session === undefined ? {} : { session: { runner: 'claude', id: session, usage } };
      cast.tell({ kind: 'attempt.output', ...where, output: JSON.stringify(output), agent });
      if (cast.cast.turns[id]?.phase === 'verifying') cast.tell({ kind: 'turn.verified', ...where, seal: '' });
      if (cast.cast.turns[id]?.phase === 'merging')
        cast.tell({ kind: 'turn.merged', ...where, merge: { ok: true, commit: null } });
    };
    says(null, plan(2));
    expect(Object.values(cast.cast.turns).map(({ item }) => item?.key)).toEqual(['WI-1', 'WI-2']);
    says('WI-1', {}, 's-one');
    says('WI-2', {}, 's-two');
    // The second one is rejected first, and their agents are at work again at the same time.
    says('WI-2', no('two is wrong'));
    says('WI-1', no('one is wrong'));
    const reworked = ['WI-2', 'WI-1'].map(begins);
    expect(reworked.map(({ socket, session }) => [socket, session?.id])).toEqual([
      ['Socket-2', 's-two'],
      ['Socket-2', 's-one'],
    ]);
    expect(reworked.map(({ brief }) => /(?:one|two) is wrong/g.exec(brief ?? '')?.[0])).toEqual([
      'two is wrong',
      'one is wrong',
    ]);
    for (const { brief } of reworked) expect(brief).toContain('earlier in this conversation');
    expect(reworked.map((turn) => packetOf(cast.cast, turn).session?.id)).toEqual(['s-two', 's-one']);
    says('WI-1', {}, 's-one');
    says('WI-1', yes);
    says('WI-1', yes);
    // The end of one item leaves the conversation of the other.
    expect(Object.keys(cast.cast.sessions ?? {})).toEqual(['Socket-2@WI-2']);
    expect(replayed(cast.entries)).toEqual(cast.state);
  });
});
