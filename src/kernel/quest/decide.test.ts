// The queue: what may be added and moved, which quest starts next, and what becomes of it with its cast.
import { expect, test } from 'vitest';
import { graph } from '../../../test/loadouts.ts';
import { dialects } from '../../dialects/index.ts';
import { decide } from '../decide.ts';
import { resolve } from '../graph/resolve.ts';
import type { Request } from '../input.ts';
import { emptyState, type State } from '../state.ts';
import type { Verdict } from '../verdict.ts';
import type { QuestPlace, QuestRequest } from './state.ts';

const AT = Date.parse('2026-03-02T12:00:00.000Z');
const RULES = resolve(graph({ 'Socket-1': { materia: 'Write', parse: 'text' } }), 'Flow');

/** A queue without a disk; `now` is set by the test. */
class Queue {
  readonly state: State = emptyState();
  now = AT;

  tell(request: Request): Verdict {
    return decide(dialects, this.state, { ...request, at: this.now, by: 'user:ada' }).verdict;
  }

  add(title: string, more: Partial<Extract<QuestRequest, { kind: 'quest.add' }>> = {}): Verdict {
    return this.tell({ kind: 'quest.add', title, request: title, loadout: null, priority: 'normal', ...more });
  }

  start(id: string, cast: string, more: { atOnce?: number; isNamed?: boolean } = {}): Verdict {
    const common = { cast, request: 'x', loadout: 'Flow', rules: RULES, script: null };
    return this.tell({ kind: 'cast.start', ...common, quest: { id, atOnce: 1, ...more } });
  }

  /** Its next time is the same time of the next day. */
  ring(): Verdict {
    const { dueAt } = this.state.quests.schedules['S-1'] ?? { dueAt: 0 };
    const next = dueAt + (Math.floor(Math.max(0, this.now - dueAt) / DAY_MS) + 1) * DAY_MS;
    return this.tell({ kind: 'quest.ring', schedule: 'S-1', next });
  }

  abort(cast: string): Verdict {
    return this.tell({ kind: 'cast.abort', cast, reason: 'enough' });
  }

  complete(cast: string): Verdict {
    this.tell({ kind: 'turn.prepared', cast, turn: 1, attempt: 1 });
    return this.tell({ kind: 'attempt.output', cast, turn: 1, attempt: 1, output: 'done' });
  }

  get order(): string {
    return this.state.quests.order.join(' ');
  }

  status(id: string): string {
    const quest = this.state.quests.all[id];
    return quest ? `${quest.status} ${quest.attempts} ${quest.code ?? ''}`.trim() : 'gone';
  }
}

function queue(...titles: readonly string[]): Queue {
  const made = new Queue();
  for (const title of titles) made.add(title);
  return made;
}

test('a priority decides where a quest is put, and among equals the order in which they came', () => {
  const made = queue('a', 'b');
  made.add('c', { priority: 'high' });
  made.add('d', { priority: 'low' });
  made.add('e');
  made.add('f', { priority: 'critical' });
  expect(made.order).toBe('Q-6 Q-3 Q-1 Q-2 Q-5 Q-4');
});

test.each<[QuestPlace, string, string]>([
  [{ at: 'first' }, 'Q-3 Q-4 Q-1 Q-2', 'high'],
  [{ at: 'last' }, 'Q-4 Q-1 Q-2 Q-3', 'normal'],
  [{ before: 'Q-2' }, 'Q-4 Q-1 Q-3 Q-2', 'normal'],
  [{ after: 'Q-1' }, 'Q-4 Q-1 Q-3 Q-2', 'normal'],
  [{ after: 'Q-4' }, 'Q-4 Q-3 Q-1 Q-2', 'high'],
  [{ priority: 'critical' }, 'Q-3 Q-4 Q-1 Q-2', 'critical'],
  [{ priority: 'low' }, 'Q-4 Q-1 Q-2 Q-3', 'low'],
])('moved to %o: %s, with priority %s', (to, order, priority) => {
  const made = queue('a', 'b', 'c');
  made.add('d', { priority: 'high' });
  expect(made.tell({ kind: 'quest.move', quest: 'Q-3', to }).code).toBe('OK');
  expect([made.order, made.state.quests.all['Q-3']?.priority]).toEqual([order, priority]);
});

const DAY_MS = 86_400_000;
const CRON = { cron: '0 3 * * *', zone: 'UTC', dueAt: AT + 15 * 3_600_000 };

test.each<[string, (made: Queue) => Verdict, string]>([
  ['a quest after one that is not there', (made) => made.add('x', { after: ['Q-9'] }), 'UNKNOWN_QUEST'],
  ['one called like a part of every object', (made) => made.add('x', { after: ['constructor'] }), 'UNKNOWN_QUEST'],
  ['a schedule that cannot be read', (made) => made.add('x', { every: { ...CRON, cron: 'often' } }), 'BAD_USAGE'],
  ['a schedule after a quest', (made) => made.add('x', { every: CRON, after: ['Q-1'] }), 'BAD_USAGE'],
  [
    'a move of nothing',
    (made) => made.tell({ kind: 'quest.move', quest: 'Q-9', to: { at: 'first' } }),
    'UNKNOWN_QUEST',
  ],
  [
    'a move before itself',
    (made) => made.tell({ kind: 'quest.move', quest: 'Q-1', to: { before: 'Q-1' } }),
    'NOT_ALLOWED_NOW',
  ],
  ['the start of a quest that is not next', (made) => made.start('Q-2', 'c'), 'NOT_ALLOWED_NOW'],
  ['the start of nothing', (made) => made.start('Q-9', 'c'), 'UNKNOWN_QUEST'],
  [
    'a pending one that is queued again',
    (made) => made.tell({ kind: 'quest.requeue', quest: 'Q-1', reason: '' }),
    'NOT_ALLOWED_NOW',
  ],
  [
    'taking out what others come after',
    (made) => made.tell({ kind: 'quest.remove', quest: 'Q-1', reason: '' }),
    'NOT_ALLOWED_NOW',
  ],
  ['taking out nothing', (made) => made.tell({ kind: 'quest.remove', quest: 'S-1', reason: '' }), 'UNKNOWN_QUEST'],
  ['a ring of nothing', (made) => made.ring(), 'UNKNOWN_QUEST'],
])('%s is refused, and nothing changes', (_what, ask, code) => {
  const made = queue('a', 'b');
  made.add('c', { after: ['Q-1'] });
  const before = structuredClone(made.state);
  expect([ask(made).code, made.state]).toEqual([code, before]);
});

test('one is at work at a time, and of two that start the same quest one gets it', () => {
  const made = queue('a', 'b');
  expect([made.start('Q-1', 'c1'), made.start('Q-1', 'c2'), made.start('Q-2', 'c3')].map(({ code }) => code)).toEqual([
    'OK',
    'NOT_ALLOWED_NOW',
    'NOT_ALLOWED_NOW',
  ]);
  expect(Object.keys(made.state.casts)).toEqual(['c1']);
  expect(made.start('Q-2', 'c3', { atOnce: 2 }).code).toBe('OK');
});

test('a quest succeeds with its cast, and those that come after it may start', () => {
  const made = queue('a');
  made.add('b', { after: ['Q-1'], priority: 'high' });
  expect(made.start('Q-2', 'c', { isNamed: true }).reason).toContain('comes after Q-1, which is pending');
  made.start('Q-1', 'c1');
  made.complete('c1');
  expect([made.status('Q-1'), made.start('Q-2', 'c2').code]).toEqual(['succeeded 1', 'OK']);
});

test('a quest fails with its cast, keeps those after it back, and goes on with a recast', () => {
  const made = queue('a', 'b');
  made.add('c', { after: ['Q-1'] });
  made.start('Q-1', 'c1');
  made.abort('c1');
  expect([made.status('Q-1'), made.start('Q-3', 'c', { isNamed: true }).code]).toEqual([
    'failed 1 ABORTED',
    'NOT_ALLOWED_NOW',
  ]);
  made.tell({ kind: 'cast.recast', cast: 'c1' });
  expect([made.status('Q-1'), made.start('Q-2', 'c2').code]).toEqual(['running 1', 'NOT_ALLOWED_NOW']);
  made.complete('c1');
  expect(made.status('Q-1')).toBe('succeeded 1');
});

test('a failed quest is done again by a new cast, and its old one has no say any more', () => {
  const made = queue('a', 'b');
  made.start('Q-1', 'c1');
  made.abort('c1');
  expect(made.tell({ kind: 'quest.requeue', quest: 'Q-1', reason: 'fixed' }).code).toBe('OK');
  expect(made.order).toBe('Q-2 Q-1');
  made.tell({ kind: 'cast.recast', cast: 'c1' });
  expect(made.status('Q-1')).toBe('pending 1');
  made.start('Q-1', 'c2', { isNamed: true });
  made.abort('c1');
  expect(made.status('Q-1')).toBe('running 2');
});

test('a quest whose cast is paused leaves its place, and cannot be taken out', () => {
  const made = queue('a', 'b');
  made.start('Q-1', 'c1');
  made.tell({ kind: 'cast.pause', cast: 'c1', reason: '' });
  expect(made.start('Q-2', 'c2').code).toBe('OK');
  expect(made.tell({ kind: 'quest.remove', quest: 'Q-1', reason: '' }).reason).toContain('baton abort c1');
});

test('a schedule adds one quest for all the times that were missed, and none while its last one is open', () => {
  const made = new Queue();
  made.add('nightly', { every: CRON });
  expect(made.ring().code).toBe('NOT_ALLOWED_NOW');
  made.now = AT + 5 * 86_400_000;
  expect([made.ring().details.quest, made.order]).toEqual(['Q-1', 'Q-1']);
  expect(made.ring().code).toBe('NOT_ALLOWED_NOW');
  made.now += 86_400_000;
  expect([made.ring().code, made.order]).toEqual(['OK', 'Q-1']);
  made.start('Q-1', 'c1');
  made.complete('c1');
  made.now += 86_400_000;
  made.ring();
  expect(made.order).toBe('Q-2');
});

test('a clock that is set back makes no schedule ring twice', () => {
  const made = new Queue();
  made.add('nightly', { every: CRON });
  made.now = AT + 86_400_000;
  made.ring();
  const { dueAt } = made.state.quests.schedules['S-1'] ?? { dueAt: 0 };
  made.now = AT;
  expect([made.ring().code, made.order]).toEqual(['NOT_ALLOWED_NOW', 'Q-1']);
  expect(dueAt).toBeGreaterThan(AT + 86_400_000);
});

test('the queue holds no more than it can, and forgets only what succeeded', () => {
  const made = new Queue();
  for (let count = 0; count < 205; count++) {
    made.add(`quest ${count}`);
    made.start(`Q-${count + 1}`, `c${count}`);
    made.now += 1_000;
    if (count === 0) made.abort('c0');
    else made.complete(`c${count}`);
  }
  expect([made.status('Q-1'), made.status('Q-2'), made.status('Q-205')]).toEqual([
    'failed 1 ABORTED',
    'gone',
    'succeeded 1',
  ]);
  expect(Object.keys(made.state.quests.all)).toHaveLength(201);
  for (let count = 0; count < 999; count++) made.add('more');
  expect([made.add('one too many').code, made.order.split(' ')]).toEqual(['NOT_ALLOWED_NOW', expect.any(Array)]);
});

test('how its cast is started stays with a quest, through a schedule and a second try, and holds no secret', () => {
  const made = queue();
  const how = { runner: 'codex', inputs: { note: `ghp_${'a1B2'.repeat(9)}` } };
  const clean = { runner: 'codex', inputs: { note: expect.not.stringContaining('ghp_') } };
  made.add('a', { how });
  made.start('Q-1', 'c');
  made.abort('c');
  made.tell({ kind: 'quest.requeue', quest: 'Q-1', reason: '' });
  made.add('b', { how, every: { cron: '0 12 * * *', zone: 'UTC', dueAt: AT + DAY_MS } });
  made.now += DAY_MS;
  made.ring();
  made.add('c');
  const { all, schedules } = made.state.quests;
  expect([all['Q-1']?.how, schedules['S-1']?.how, all['Q-2']?.how, all['Q-3']?.how]).toEqual([
    ...[clean, clean, clean],
    undefined,
  ]);
});
