// Between reading an output and accepting it, what the turn did beside it is verified.
import { expect, test } from 'vitest';
import { replayed } from '../../../test/play.ts';
import { dialects } from '../../dialects/index.ts';
import { decide } from '../decide.ts';
import type { Entry } from '../fact.ts';
import { resolve } from '../graph/resolve.ts';
import type { Request } from '../input.ts';
import { pending } from '../pending.ts';
import { emptyState } from '../state.ts';
import type { Cast } from './state.ts';

/** A cast of one utility, whose turns are prepared with a seal. */
function sealed() {
  const config = {
    materia: { Tool: { type: 'utility', command: ['tool'], parse: 'json' } },
    loadouts: { One: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Tool' } } } },
  };
  const state = emptyState();
  const entries: Entry[] = [];
  const say = (request: Request) => {
    const { verdict, facts } = decide(dialects, state, { ...request, at: 0, by: 'test' });
    for (const fact of facts)
      entries.push({ v: 1, seq: entries.length + 1, at: '1970-01-01T00:00:00.000Z', prev: '', by: 'test', fact });
    return verdict.code;
  };
  const at = { cast: 'c', turn: 1, attempt: 1 } as const;
  say({ kind: 'cast.start', cast: 'c', request: 'x', loadout: 'One', rules: resolve(config, 'One'), script: null });
  say({ kind: 'turn.prepared', ...at, seal: 'before' });
  return {
    say,
    at,
    entries,
    state,
    cast: () => state.casts.c as Cast,
    owed: () => pending(state.casts.c as Cast).map(({ kind }) => kind),
  };
}

test('an output that was read is not accepted before it is verified', () => {
  const { say, at, cast, owed, entries, state } = sealed();
  expect(say({ kind: 'attempt.output', ...at, output: '{"satisfied":true}' })).toBe('OK');
  expect(owed()).toEqual(['verify']);
  expect([cast().status, cast().turnsAccepted]).toEqual(['running', 0]);
  expect(replayed(entries)).toEqual(state);
  expect(say({ kind: 'turn.verified', ...at, seal: 'before' })).toBe('OK');
  expect([cast().status, cast().turnsAccepted]).toEqual(['completed', 1]);
});

test('a turn that changed what governs it is refused by the gate, and nothing of it is kept', () => {
  const { say, at, cast, entries, state } = sealed();
  say({ kind: 'attempt.output', ...at, output: '{"state":{"x":1}}' });
  expect(say({ kind: 'turn.verified', ...at, seal: 'after' })).toBe('SCOPE_VIOLATION');
  expect([cast().status, cast().code, cast().data]).toEqual(['failed', 'SCOPE_VIOLATION', {}]);
  expect(replayed(entries)).toEqual(state);
});

test('a broken output is refused before anything is verified', () => {
  const { say, at, cast } = sealed();
  expect(say({ kind: 'attempt.output', ...at, output: 'oops' })).toBe('NOT_JSON');
  expect(cast().code).toBe('CONTRACT_VIOLATION');
});

test('a verification nobody asked for, or of another attempt, changes nothing', () => {
  const { say, at, cast } = sealed();
  expect(say({ kind: 'turn.verified', ...at, seal: 'before' })).toBe('STALE_ATTEMPT');
  say({ kind: 'attempt.output', ...at, output: '{}' });
  expect(say({ kind: 'turn.verified', ...at, attempt: 2, seal: 'before' })).toBe('STALE_ATTEMPT');
  expect(cast().turnsAccepted).toBe(0);
});

test('a second attempt does not cover up what the first one changed', () => {
  const { say, at, cast } = sealed();
  say({ kind: 'attempt.lost', ...at, mayHaveRun: true, reason: 'crash' });
  say({ kind: 'turn.prepared', ...at, attempt: 2, seal: 'after' });
  say({ kind: 'attempt.output', ...at, attempt: 2, output: '{}' });
  say({ kind: 'turn.verified', ...at, attempt: 2, seal: 'after' });
  expect(cast().code).toBe('SCOPE_VIOLATION');
});
