// No secret reaches the log, the data or another agent.
import { expect, test } from 'vitest';
import { type Play, play } from '../../../test/play.ts';

const KEY = `sk-ant-${'a1B2'.repeat(8)}`;
const config = {
  materia: { Ask: { tools: 'none', prompt: 'Ask.' }, Tell: { tools: 'none', prompt: 'Tell.' } },
  loadouts: {
    Two: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': {
          materia: 'Ask',
          parse: 'json',
          assign: { all: '$' },
          edges: [{ when: 'always', to: 'Socket-2' }],
        },
        'Socket-2': { materia: 'Tell', parse: 'text' },
      },
    },
  },
};

/** Everything that is stored, except the script itself, which is the test's own. */
const stored = ({ facts }: Play) => JSON.stringify(facts.map((fact) => ({ ...fact, script: null })));

test('a secret in an accepted output is taken out of the output, the data and every later brief', () => {
  const cast = play({ config, agents: { Ask: [{ context: `use ${KEY}`, note: KEY }], Tell: [`done with ${KEY}`] } });
  expect(cast.cast.status).toBe('completed');
  expect(stored(cast)).not.toContain(KEY);
  expect(cast.cast.data.all).toEqual({ context: 'use [secret:anthropic-key]', note: '[secret:anthropic-key]' });
  expect(cast.briefs('Socket-2')[0]).toContain('use [secret:anthropic-key]');
  const accepted = cast.facts.filter((fact) => fact.kind === 'turn.accepted');
  expect(accepted.map(({ scrubbed }) => scrubbed)).toEqual([['anthropic-key'], ['anthropic-key']]);
});

test('a secret in the reason and the details of a refused handoff is taken out of both, and of the repair brief', () => {
  const strict = {
    ...config,
    loadouts: { Two: { ...config.loadouts.Two, sockets: { 'Socket-1': { materia: 'Ask', parse: 'json' } } } },
  };
  const cast = play({ config: strict, agents: { Ask: [{ [KEY]: 1 }, { [KEY]: 1 }], Tell: [] } });
  const [refused] = cast.all('attempt.refused');
  expect(refused?.verdict).toMatchObject({
    code: 'CONTRACT_VIOLATION',
    reason: expect.stringContaining('$.[secret:anthropic-key]'),
    details: { issues: [{ path: '$.[secret:anthropic-key]' }] },
  });
  expect(stored(cast)).not.toContain(KEY.slice(0, 30));
});

test('a secret in a refused output, a fault or the request is not stored either', () => {
  const agents = { Ask: [`no json, but ${KEY}`, `again ${KEY}`], Tell: [] };
  const refused = play({ config, agents, request: `log in with ${KEY}` });
  expect(refused.cast.code).toBe('CONTRACT_VIOLATION');
  expect(stored(refused)).not.toContain(KEY);
  expect(refused.cast.request).toBe('log in with [secret:anthropic-key]');
});
