// Events: those that outputs emit become facts with the handoff, and sinks take what fits their names.
import { expect, test } from 'vitest';
import { always, graph } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import { eventOf, takes } from './event.ts';
import type { Json } from './json.ts';

const told = {
  type: 'result.pr_created',
  severity: 'warning',
  message: 'It is open.',
  payload: { n: 7 },
  source: { materia: 'A' },
};

function telling(...outputs: readonly Json[]) {
  const sockets = {
    'Socket-1': { materia: 'A', parse: 'json', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'A', parse: 'json' },
  };
  const config = graph(sockets, { materia: { A: { tools: 'none', prompt: 'x' } } });
  return play({ config, agents: { A: [...outputs] } });
}

test('the events of an output are facts of the commit that accepts it, counted over the cast', () => {
  const cast = telling({ context: 'a', event: [told, { type: 'note' }] }, { event: [{ type: 'last' }] });
  expect(cast.all('event.emitted')).toEqual([
    {
      ...{
        kind: 'event.emitted',
        cast: 'c',
        turn: 1,
        socket: 'Socket-1',
        item: null,
        sequence: 1,
        type: 'result.pr_created',
      },
      ...{ severity: 'warning', message: 'It is open.', payload: { n: 7 }, more: { source: { materia: 'A' } } },
    },
    {
      kind: 'event.emitted',
      cast: 'c',
      turn: 1,
      socket: 'Socket-1',
      item: null,
      sequence: 2,
      type: 'note',
      severity: 'info',
    },
    {
      kind: 'event.emitted',
      cast: 'c',
      turn: 2,
      socket: 'Socket-2',
      item: null,
      sequence: 3,
      type: 'last',
      severity: 'info',
    },
  ]);
  const kinds = cast.facts.map(({ kind }) => kind);
  expect(kinds.indexOf('event.emitted')).toBe(kinds.indexOf('turn.accepted') + 1);
  expect(cast.all('turn.accepted')[0]?.handoff).toEqual({
    outcome: 'done',
    satisfied: null,
    payload: { context: 'a' },
  });
});

test('an output that is refused emits nothing, and its repair emits once', () => {
  const cast = telling({ context: 7, event: [told] }, { context: 'a', event: [told] }, {});
  expect(cast.all('attempt.refused')).toHaveLength(1);
  expect(cast.all('event.emitted')).toHaveLength(1);
});

test('a secret in an event is not stored', () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const cast = telling({ event: [{ type: 'a', message: secret, payload: { key: secret } }] }, {});
  expect(JSON.stringify(cast.facts.slice(1))).not.toContain(secret);
  expect(cast.all('turn.accepted')[0]?.scrubbed).toEqual(['github-token']);
});

test.each([
  [
    'cast.failed',
    { kind: 'cast.failed', cast: 'c', code: 'AGENT_FAILED', reason: 'no', details: {}, turn: 1, stand: null },
    'lifecycle.cast.failed',
  ],
  ['cast.aborted', { kind: 'cast.aborted', cast: 'c', reason: 'no' }, 'lifecycle.cast.cancelled'],
  [
    'quest.ended',
    { kind: 'quest.ended', quest: 'Q-1', castId: 'c', status: 'succeeded', code: null, reason: '' },
    'lifecycle.quest.ended',
  ],
] as const)('%s is an event of its cast', (_kind, fact, type) => {
  expect(eventOf({ seq: 7, at: '2026-01-01T00:00:00.000Z', fact })).toMatchObject({
    id: 'evt-7',
    type,
    cast: 'c',
    sequence: null,
  });
});

test('the start and the end of a turn say the same socket, turn and item', () => {
  const config = graph(
    {
      'Socket-1': { materia: 'P', parse: 'json', edges: [always('Socket-2')] },
      'Socket-2': {
        ...{ materia: 'A', parse: 'json', edges: [always('Socket-2')] },
        advance: { cursor: 'workItemIndex', items: 'state.workItems' },
      },
    },
    {
      materia: { P: { tools: 'none', prompt: 'x', generator: true }, A: { tools: 'none', prompt: 'x' } },
      loops: { each: { sockets: ['Socket-2'], consumes: { from: 'Socket-1' } } },
    },
  );
  const cast = play({ config, agents: { P: [{ workItems: [{ title: 'a', context: 'b' }] }], A: [{}] } });
  const about = (kind: string) =>
    cast.facts.flatMap((fact) => {
      const event = fact.kind === kind ? eventOf({ seq: 1, at: '', fact }) : null;
      return event ? [[event.socket, event.turn, event.item]] : [];
    });
  expect(about('turn.accepted')).toEqual([
    ['Socket-1', 1, null],
    ['Socket-2', 2, 'WI-1'],
  ]);
  expect(about('turn.accepted')).toEqual(about('turn.started'));
});

test('an event of the queue names its quest', () => {
  const errand = { title: 'x', request: 'x', loadout: null, priority: 'normal', after: [] } as const;
  const fact = { kind: 'quest.added', quest: 'Q-1', ...errand } as const;
  expect(eventOf({ seq: 1, at: '', fact })).toMatchObject({ quest: 'Q-1', cast: null });
});

test('the failure of a cast names the socket at which it failed', () => {
  const config = graph(
    { 'Socket-1': { materia: 'A', parse: 'json' } },
    { materia: { A: { tools: 'none', prompt: 'x' } } },
  );
  const [fact] = play({ config, agents: { A: ['junk', 'junk'] } }).all('cast.failed');
  expect(fact && eventOf({ seq: 1, at: '', fact })).toMatchObject({ socket: 'Socket-1', turn: 1 });
});

test('what is no event is none', () => {
  expect(eventOf({ seq: 1, at: '', fact: { kind: 'turn.dropped', cast: 'c', turn: 1 } })).toBe(null);
});

test.each<[string, string[] | undefined, string[] | undefined, boolean]>([
  ['result.pr_created', undefined, undefined, true],
  ['result.pr_created', ['result.*'], undefined, true],
  ['result', ['result.*'], undefined, false],
  ['lifecycle.cast.failed', ['lifecycle.*.failed'], undefined, true],
  ['lifecycle.failed', ['lifecycle.*.failed'], undefined, false],
  ['a.b.c', ['*.b.*'], undefined, true],
  ['abc', ['abc'], undefined, true],
  ['abcd', ['abc'], undefined, false],
  ['aa', ['a*a*a'], undefined, false],
  ['note', ['*'], ['note'], false],
  ['a.(x+)+', ['a.(x+)+'], undefined, true],
])('%s with include %o and exclude %o: %s', (type, include, exclude, taken) => {
  expect(takes({ ...(include ? { include } : {}), ...(exclude ? { exclude } : {}) }, type)).toBe(taken);
});
