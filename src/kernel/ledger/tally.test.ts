import { expect, test } from 'vitest';
import { graph } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import type { Entry } from '../fact.ts';
import { resolve } from '../graph/resolve.ts';
import { openBook, RUN } from './fixtures/book.ts';
import { count, metricsOf, newTally } from './history.ts';

type Told = Pick<Entry, 'at' | 'fact'>;

function tallied(entries: readonly Told[]) {
  const tally = newTally();
  for (const entry of entries) count(tally, entry);
  return tally;
}

/** What is counted of a cast: refusals by code, lock conflicts, refused packets. */
function counted({ entries }: Pick<Play, 'entries'>, run = 'c') {
  const { ledger } = tallied(entries);
  const counts = ledger.runs[`${run}/`]?.counts;
  return { denies: counts?.denies, conflicts: counts?.conflicts, packetsRefused: counts?.packetsRefused };
}

const NONE = { denies: {}, conflicts: 0, packetsRefused: 0 };
const JSON_SOCKET = graph({ 'Socket-1': { materia: 'Judge', parse: 'json' } });
const WRITER = graph({ 'Socket-1': { materia: 'Write' } });
const SCRIPT = { Write: ['x', '$repeat'] };

test('of a ledger by hand the numbers are the same as those it keeps itself', () => {
  const book = openBook();
  for (const id of ['T-1', 'T-2', 'T-1']) book.create(id, { lock_scope: ['work'] });
  book.start('T-1');
  book.claim('T-2');
  book.move('T-1', 'blocked');
  const { ledger, began } = tallied(book.facts.map(({ fact, at }) => ({ fact, at: new Date(at).toISOString() })));
  expect(metricsOf(ledger, RUN)).toEqual(metricsOf(book.ledger, RUN));
  expect(began.get(RUN)).toBe('2026-01-01T00:00:00.000Z');
});

test.each<[string, readonly string[], object]>([
  ['kept its contract', ['{"satisfied":true}'], NONE],
  ['was mended', ['oops', '{"satisfied":true}'], { ...NONE, denies: { NOT_JSON: 1 } }],
  ['was refused for good', ['oops', 'oops'], { ...NONE, denies: { NOT_JSON: 2 } }],
])('an answer that %s', (_, said, wanted) => {
  expect(counted(play({ config: JSON_SOCKET, agents: { Judge: said } }))).toEqual(wanted);
});

test('an agent that failed was not refused', () => {
  const crash = { $turn: { output: '', fail: 'crash' } };
  const cast = play({ config: JSON_SOCKET, agents: { Judge: [crash, crash] } });
  expect([cast.cast.status, counted(cast)]).toEqual(['failed', NONE]);
});

test('a start that a lock put off is one conflict, though ledger and cast both tell of it', () => {
  const cast = play({ config: WRITER, agents: SCRIPT, hold: true });
  const start = { kind: 'cast.start', cast: 'd', request: 'x', loadout: 'Flow', script: SCRIPT } as const;
  cast.tell({ ...start, rules: resolve(WRITER, 'Flow') });
  expect(cast.all('turn.held')).toHaveLength(1);
  expect(counted(cast, 'd')).toEqual({ denies: { LOCK_CONFLICT: 1 }, conflicts: 1, packetsRefused: 0 });
});

test('a start that a person put off is told by the cast alone', () => {
  const cast = play({ config: WRITER, agents: SCRIPT, hold: true });
  cast.tell({ kind: 'ledger.hold', reason: 'release day' });
  const start = { kind: 'cast.start', cast: 'd', request: 'x', loadout: 'Flow', script: SCRIPT } as const;
  cast.tell({ ...start, rules: resolve(WRITER, 'Flow') });
  expect(counted(cast, 'd').denies).toEqual({ NOT_ALLOWED_NOW: 1 });
});

test('a cast that a gate stopped before a dispatch was refused with its code', () => {
  const cast = play({ config: JSON_SOCKET });
  const stopped = { code: 'HASH_MISMATCH', reason: 'another prompt', details: {}, turn: 1, stand: null };
  const failed = { at: '2026-01-01T00:00:01.000Z', fact: { kind: 'cast.failed', cast: 'c', ...stopped } } as const;
  const denies = () => tallied([...cast.entries, failed]).ledger.runs['c/']?.counts.denies;
  expect([cast.turn.phase, denies()]).toEqual(['owed', { HASH_MISMATCH: 1 }]);
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  expect([cast.turn.phase, denies()]).toEqual(['running', {}]);
});

test('a refused plan of an orchestrator is a refused packet; a refused result is not', () => {
  const lead = envelope({ id: 'T-1' });
  const cast = play({ config: TEAM, agents: { Lead: ['no plan', lead], Worker: [result('T-1')], Sum: ['ok'] } });
  expect([cast.cast.status, counted(cast).packetsRefused]).toEqual(['completed', 1]);
  const other = play({ config: TEAM, agents: { Lead: [lead], Worker: ['x', result('T-1')], Sum: ['ok'] } });
  expect([other.cast.status, counted(other).packetsRefused]).toEqual(['completed', 0]);
  const { objectives, byStatus } = metricsOf(tallied(cast.entries).ledger, 'c') ?? {};
  expect([objectives?.[0]?.value, byStatus?.done]).toEqual([0.5, 1]);
});
