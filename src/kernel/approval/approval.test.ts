// Approvals in the kernel: from the request over a person's decision to the one use, and everything that is refused.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withSeals } from '../../../test/seal-requests.ts';
import { dialects } from '../../dialects/index.ts';
import { apply } from '../apply.ts';
import type { Code } from '../codes.ts';
import { decide } from '../decide.ts';
import type { Fact } from '../fact.ts';
import type { Input, Request } from '../input.ts';
import { newPen } from '../pen.ts';
import { emptyState, type State } from '../state.ts';
import type { Verdict } from '../verdict.ts';
import { requestApproval } from './decide.ts';
import {
  type Difference,
  type Executor,
  isApprovalFact,
  type Presented,
  type SealedCommand,
  type SealedRequest,
} from './request.ts';
import { approvalKeysNeeded, approvalKeysUsedBy } from './settle.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const MINUTE = 60_000;
const CHANGED = 'ENVIRONMENT_CHANGED';
const T0 = Date.parse('2026-01-01T00:00:00Z');

function command(name: string, over: Partial<SealedCommand> = {}): SealedCommand {
  const marks = name.split(' ').map((word, index) => `${index}:${word}`);
  const common = { display: name, digest: 'd', seal: `seal ${name}`, tier: 'T3', because: 'it does' } as const;
  const programs = { deploy: { path: '/bin/deploy', digest: 'sha256:1' } };
  const more = { places: { '/w/f': '/w/f' }, files: { '/w/f': 'sha256:2' } };
  return { ...common, argv: name.split(' '), marks, programs, ...more, ...over };
}

function sealed(id: string, over: Partial<SealedRequest> = {}): SealedRequest {
  return {
    id,
    commands: [command('deploy prod')],
    cwd: '/w',
    env: ['HOME'],
    envMarks: { HOME: 'h', LD_PRELOAD: null },
    path: '/bin',
    files: {},
    policy: 'policy',
    log: 'log',
    requester: 'a1',
    operation: 'deploy',
    scope: 'prod',
    riskLevel: 'HIGH',
    rationale: 'needed',
    rollback: null,
    verification: 'look',
    expiresAt: T0 + 60 * MINUTE,
    grantMs: 10 * MINUTE,
    fingerprint: `print of ${over.commands?.map(({ display }) => display).join() ?? 'deploy prod'}`,
    keyId: 'key',
    relays: null,
    refusal: null,
    ...over,
  };
}

function presented(name = 'deploy prod', over: Partial<Presented> = {}): Presented {
  const { argv, marks, seal, programs, places, files } = command(name);
  const scene = { cwd: '/w', envMarks: { HOME: 'h', LD_PRELOAD: null }, policy: 'policy', log: 'log', keyId: 'key' };
  return { argv, marks, seal, programs, places, files, ...scene, decision: null, ...over };
}

const executor = { host: 'h', pid: 7, startTime: 's' };

/** Whoever carries something out is gone when somebody looks, unless something runs. */
function goneBut(running: readonly number[] = []): readonly Executor[] {
  return running.length > 0 ? [] : [executor];
}

/** A log of its own: keys that may be used once are kept as the log keeps them. */
function play() {
  const state = emptyState();
  const facts: Fact[] = [];
  const used: Record<string, number> = {};
  let at = T0;
  const submit = (request: Request): Verdict => {
    const wanted = approvalKeysNeeded(request, state.approvals).filter((key) => Object.hasOwn(used, key));
    const known = Object.fromEntries(wanted.map((key) => [key, used[key] ?? 0]));
    const sealed = withSeals(state.approvals, request, 'user:ann', at);
    const input = { ...sealed, at, by: 'user:ann', used: known } as Input;
    const decided = decide(dialects, state, input);
    for (const fact of decided.facts) {
      facts.push(fact);
      for (const key of approvalKeysUsedBy(fact)) {
        if (Object.hasOwn(used, key)) throw new Error(`${key} is used twice`);
        used[key] = facts.length;
      }
    }
    return decided.verdict;
  };
  return {
    state,
    facts,
    kinds: () => facts.map(({ kind }) => kind.replace('approval.', '')),
    wait: (ms: number): undefined => {
      at += ms;
    },
    ask: (request: SealedRequest) => submit({ kind: 'approval.request', sealed: request, from: null }),
    say: (
      id: string,
      choice: 'approve' | 'reject',
      { running, ...more }: { again?: boolean; isAgent?: boolean; running?: number[] } = {},
    ) =>
      submit({
        kind: 'approval.decide',
        id,
        choice,
        reason: 'because',
        isAgent: false,
        gone: goneBut(running),
        ...more,
      }),
    use: (
      id: string,
      what: Presented | null = presented(),
      {
        running,
        ...more
      }: {
        requester?: string;
        running?: number[];
        dry?: boolean;
        executor?: Executor;
        around?: readonly Difference[];
      } = {},
    ) =>
      submit({ kind: 'approval.use', id, requester: 'a1', presented: what, executor, gone: goneBut(running), ...more }),
    finish: (id: string, index = 0, by = executor) =>
      submit({ kind: 'approval.finish', id, index, executor: by, exit: 0 }),
    sweep: () => submit({ kind: 'approval.sweep' }),
  };
}

/** What the last step of a story was answered with. */
function last(...verdicts: (Verdict | undefined)[]): Verdict {
  return verdicts.at(-1) as Verdict;
}

function approved() {
  const log = play();
  log.ask(sealed('P-1'));
  log.say('P-1', 'approve');
  return log;
}

test('what is asked, approved and run once is over', () => {
  const log = play();
  expect(log.ask(sealed('P-1'))).toMatchObject({ allow: true, details: { approval: 'P-1', status: 'pending' } });
  expect(log.say('P-1', 'approve').code).toBe('OK');
  expect(log.use('P-1')).toMatchObject({ allow: true, details: { index: 0 } });
  expect(log.finish('P-1').code).toBe('OK');
  expect(log.kinds()).toEqual(['requested', 'approved', 'used', 'finished']);
  expect(log.state.approvals).toEqual({});
  expect(log.facts[1]).toMatchObject({ by: 'user:ann', until: T0 + 10 * MINUTE });
});

test.each<[string, (log: ReturnType<typeof play>) => Verdict, string]>([
  ['an id that nobody knows', (log) => log.use('P-9', null), 'UNKNOWN_APPROVAL'],
  ['deciding about such an id', (log) => log.say('P-9', 'approve'), 'UNKNOWN_APPROVAL'],
  [
    'before a decision',
    (log) => last(log.ask(sealed('P-2', { fingerprint: 'x' })), log.use('P-2')),
    'APPROVAL_PENDING',
  ],
  ['after a rejection', (log) => last(log.say('P-1', 'reject'), log.use('P-1', null)), 'APPROVAL_REJECTED'],
  ['rejecting twice', (log) => last(log.say('P-1', 'reject'), log.say('P-1', 'reject')), 'APPROVAL_REJECTED'],
  ['approving twice', (log) => log.say('P-1', 'approve'), 'NOT_ALLOWED_NOW'],
  ['when the grant is over', (log) => last(log.wait(10 * MINUTE), log.use('P-1')), 'APPROVAL_EXPIRED'],
  ['later still', (log) => last(log.wait(10 * MINUTE), log.sweep(), log.use('P-1', null)), 'APPROVAL_EXPIRED'],
  ['deciding when it is over', (log) => last(log.wait(10 * MINUTE), log.say('P-1', 'reject')), 'APPROVAL_EXPIRED'],
  [
    'a second time while it runs',
    (log) => last(log.use('P-1'), log.use('P-1', presented(), { running: [0] })),
    'APPROVAL_USED',
  ],
  [
    'a second time after it ran',
    (log) => last(log.use('P-1'), log.finish('P-1'), log.use('P-1', null)),
    'APPROVAL_USED',
  ],
  ['a second time after a crash', (log) => last(log.use('P-1'), log.use('P-1')), 'OUTCOME_UNKNOWN'],
  [
    'approving what was cut off, without a word',
    (log) => last(log.use('P-1'), log.say('P-1', 'approve')),
    'OUTCOME_UNKNOWN',
  ],
  [
    'approving again what runs',
    (log) => last(log.use('P-1'), log.say('P-1', 'approve', { again: true, running: [0] })),
    'NOT_ALLOWED_NOW',
  ],
  [
    'an agent that approves',
    (log) => last(log.ask(sealed('P-2', { fingerprint: 'x' })), log.say('P-2', 'approve', { isAgent: true })),
    'APPROVER_IS_AGENT',
  ],
  ['an agent that rejects', (log) => log.say('P-1', 'reject', { isAgent: true }), 'APPROVER_IS_AGENT'],
  ['another requester', (log) => log.use('P-1', presented(), { requester: 'a2' }), 'APPROVAL_MISMATCH'],
  ['finishing what does not run', (log) => log.finish('P-1'), 'NOT_ALLOWED_NOW'],
  [
    'what can never be approved',
    (log) => log.ask(sealed('P-2', { refusal: { allow: false, code: 'COMMAND_BLOCKED', reason: 'no', details: {} } })),
    'COMMAND_BLOCKED',
  ],
])('%s: refused', (_, story, code) => {
  expect(story(approved()).code).toBe(code);
});

test.each<[string, Presented, Code?]>([
  ['argument 1', presented('deploy test')],
  ['argument 2', presented('deploy prod now')],
  ['folder cwd', presented('deploy prod', { cwd: '/other', seal: 'x' })],
  ['program deploy', presented('deploy prod', { programs: { deploy: { path: '/x', digest: 'sha256:1' } } })],
  ['program deploy', presented('deploy prod', { programs: { deploy: { path: '/bin/deploy', digest: 'sha256:9' } } })],
  ['program deploy', presented('deploy prod', { programs: {} })],
  ['place /w/f', presented('deploy prod', { places: { '/w/f': '/etc/f' } })],
  ['file /w/f', presented('deploy prod', { files: { '/w/f': 'sha256:9' } })],
  ['file /w/f', presented('deploy prod', { files: {} })],
  ['environment HOME', presented('deploy prod', { envMarks: { HOME: 'other', LD_PRELOAD: null } }), CHANGED],
  ['environment HOME', presented('deploy prod', { envMarks: { LD_PRELOAD: null } }), CHANGED],
  ['environment LD_PRELOAD', presented('deploy prod', { envMarks: { HOME: 'h', LD_PRELOAD: 'x' } }), CHANGED],
  ['policy policy', presented('deploy prod', { policy: 'other' })],
  ['seal key', presented('deploy prod', { keyId: 'other' })],
  ['seal seal', presented('deploy prod', { seal: 'forged' })],
])('%s differs, and is told', (name, what, code = 'APPROVAL_MISMATCH') => {
  const log = approved();
  const verdict = log.use('P-1', what);
  expect(verdict.code).toBe(code);
  const last = log.facts.at(-1);
  expect(last).toMatchObject({ kind: 'approval.refused', code });
  const told = last?.kind === 'approval.refused' ? last.differences.map((one) => `${one.part} ${one.name}`) : [];
  expect(told).toEqual([name]);
  expect(log.use('P-1').code).toBe('OK');
});

test('a call with something around it is refused with that, and uses nothing up', () => {
  const log = approved();
  const around = [{ part: 'line', name: 'after', approved: 'nothing', given: '; rm x' }] as const;
  for (const what of [null, presented()]) {
    expect(log.use('P-1', what, { around })).toMatchObject({
      code: 'APPROVAL_MISMATCH',
      details: { differences: around },
    });
  }
  expect(log.use('P-1').code).toBe('OK');
});

test('characters that look alike are told apart in the difference', () => {
  expect(approved().use('P-1', presented('deploy pr\u043ed')).reason).toContain('pr\\u{43e}d');
});

test('the same wish that waits is the same approval; once it is decided it is a new one', () => {
  const log = play();
  log.ask(sealed('P-1'));
  expect(log.ask(sealed('P-2'))).toMatchObject({ details: { approval: 'P-1', status: 'pending' } });
  log.say('P-1', 'approve');
  expect(log.ask(sealed('P-2'))).toMatchObject({ details: { approval: 'P-1', status: 'approved' } });
  log.use('P-1');
  log.finish('P-1');
  expect(log.ask(sealed('P-3'))).toMatchObject({ details: { approval: 'P-3' } });
  expect(log.kinds()).toEqual(['requested', 'approved', 'used', 'finished', 'requested']);
});

test('each command of a list runs once, in any order', () => {
  const log = play();
  const commands = [command('deploy one'), command('deploy two')];
  log.ask(sealed('P-1', { commands }));
  log.say('P-1', 'approve');
  expect(log.use('P-1', presented('deploy two')).details).toMatchObject({ index: 1 });
  log.finish('P-1', 1);
  expect(log.use('P-1', presented('deploy two')).code).toBe('APPROVAL_USED');
  expect(log.use('P-1', presented('deploy one')).details).toMatchObject({ index: 0 });
  log.finish('P-1', 0);
  expect(log.state.approvals).toEqual({});
});

test('what was cut off runs again only when a person says so, and then once', () => {
  const log = approved();
  log.use('P-1');
  log.wait(60 * MINUTE);
  expect(log.sweep().details).toEqual({ expired: [] });
  expect(log.use('P-1').code).toBe('OUTCOME_UNKNOWN');
  expect(log.use('P-1').code).toBe('OUTCOME_UNKNOWN');
  expect(log.say('P-1', 'approve', { again: true }).code).toBe('OK');
  expect(log.use('P-1').code).toBe('OK');
  log.finish('P-1');
  expect(log.use('P-1', null).code).toBe('APPROVAL_USED');
  expect(log.kinds().filter((kind) => kind === 'unknown')).toHaveLength(1);
});

test('what was cut off can be left at that', () => {
  const log = approved();
  log.use('P-1');
  expect(log.say('P-1', 'reject').code).toBe('OK');
  expect(log.use('P-1', null).code).toBe('APPROVAL_REJECTED');
});

test('a look does not use anything up', () => {
  const log = approved();
  expect(log.use('P-1', presented(), { dry: true }).code).toBe('OK');
  expect(log.use('P-1').code).toBe('OK');
});

test('permission in words covers no command, and is over with its time', () => {
  const log = play();
  log.ask(sealed('P-1', { commands: [] }));
  log.say('P-1', 'approve');
  expect(log.use('P-1')).toMatchObject({ code: 'APPROVAL_IN_WORDS', reason: expect.stringContaining('no command') });
  expect(log.say('P-1', 'approve').code).toBe('NOT_ALLOWED_NOW');
  log.wait(10 * MINUTE);
  log.sweep();
  expect(log.state.approvals).toEqual({});
});

test('what nobody decides in time is over, and whoever asks next gets a new one', () => {
  const log = play();
  log.ask(sealed('P-1'));
  log.wait(60 * MINUTE);
  expect(log.ask(sealed('P-2', { expiresAt: T0 + 120 * MINUTE }))).toMatchObject({ details: { approval: 'P-2' } });
  expect(log.kinds()).toEqual(['requested', 'expired', 'requested']);
});

type Step = readonly [string, number];

test('whatever is asked in whatever order, no command runs more often than people said, and replay gives the same', () => {
  const step = fc.tuple(
    fc.constantFrom('ask', 'approve', 'again', 'reject', 'use', 'crashed', 'finish', 'wait', 'wrong'),
    fc.nat(2),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps: readonly Step[]) => {
      const log = play();
      for (const [what, n] of steps) take(log, what, `P-${n}`);
      const replayed: State = emptyState();
      for (const fact of log.facts) apply(replayed, { at: new Date(T0).toISOString(), fact });
      expect(Object.keys(replayed.approvals)).toEqual(Object.keys(log.state.approvals));
      for (const id of ['P-0', 'P-1', 'P-2']) {
        const of = (kind: string) =>
          log.facts.filter((fact) => isApprovalFact(fact) && fact.id === id && fact.kind === kind);
        expect(of('approval.used').length).toBeLessThanOrEqual(of('approval.approved').length);
      }
    }),
    { numRuns: RUNS },
  );
});

function take(log: ReturnType<typeof play>, what: string, id: string): Verdict | undefined {
  switch (what) {
    case 'ask':
      return log.facts.some((fact) => isApprovalFact(fact) && fact.id === id)
        ? undefined
        : log.ask(sealed(id, { fingerprint: id, expiresAt: T0 + 1e9 }));
    case 'approve':
      return log.say(id, 'approve');
    case 'again':
      return log.say(id, 'approve', { again: true });
    case 'reject':
      return log.say(id, 'reject');
    case 'use':
      return log.use(id, log.state.approvals[id] ? presented() : null);
    case 'crashed':
      return log.use(id, log.state.approvals[id] ? presented() : null, { running: [0] });
    case 'finish':
      return log.finish(id);
    case 'wrong':
      return log.use(id, log.state.approvals[id] ? presented('deploy other') : null);
    default:
      log.wait(4 * MINUTE);
      return undefined;
  }
}

function reported(before: (log: ReturnType<typeof play>) => void, request: SealedRequest, turn = 4) {
  const log = play();
  before(log);
  const pen = newPen(log.state, T0, dialects);
  const asked = requestApproval(pen, request, { cast: 'c', turn, attempt: 1 });
  return { asked, log, pen };
}

const given = (id: string) => (log: ReturnType<typeof play>) => log.ask(sealed(id));

test('a report is tied to the approval that its agent was given, and not to anybody else’s', () => {
  const tied = reported(given('P-1'), sealed('P-2', { relays: 'P-1', fingerprint: 'other folder' }));
  expect(tied.asked).toMatchObject({ id: 'P-1', status: 'pending' });
  expect(tied.asked.facts).toEqual([{ kind: 'approval.linked', id: 'P-1', cast: 'c', turn: 4, attempt: 1 }]);
  expect(tied.log.say('P-1', 'approve').code).toBe('OK');
  expect(tied.log.facts.at(-1)).toMatchObject({ kind: 'approval.approved', cast: 'c', turn: 4 });
  const foreign = sealed('P-2', { relays: 'P-1', requester: 'a2', fingerprint: 'x' });
  expect(reported(given('P-1'), foreign).asked.id).toBe('P-2');
  const other = sealed('P-2', { relays: 'P-1', commands: [command('deploy test')] });
  expect(reported(given('P-1'), other).asked.id).toBe('P-2');
});

test('what a report says of the approval that it names is shown to the person, and changes nothing that was sealed', () => {
  const bare = { operation: 'held back', scope: 'deploy', rollback: null, verification: null };
  const before = (log: ReturnType<typeof play>) => log.ask(sealed('P-1', bare));
  const words = { operation: 'deploy it', rollback: 'deploy the last one', verification: 'look' };
  const { asked, log } = reported(before, sealed('P-2', { relays: 'P-1', ...words, scope: 'not said' }));
  expect(asked.facts).toMatchObject([{ kind: 'approval.linked', id: 'P-1', words }]);
  expect(log.state.approvals['P-1']?.sealed).toEqual(sealed('P-1', { ...bare, ...words }));
  log.say('P-1', 'approve');
  expect(log.use('P-1').code).toBe('OK');
});

test('a person who was faster than the report is heard, once', () => {
  const isApproved = (log: ReturnType<typeof play>) => {
    log.ask(sealed('P-1'));
    log.say('P-1', 'approve');
  };
  const { asked, pen } = reported(isApproved, sealed('P-2', { relays: 'P-1' }));
  expect(asked).toMatchObject({ id: 'P-1', status: 'approved' });
  expect(asked.facts.map(({ kind }) => kind)).toEqual(['approval.linked', 'approval.approved']);
  const twice = requestApproval(pen, sealed('P-3', { relays: 'P-1' }), { cast: 'c', turn: 4, attempt: 2 });
  expect(twice).toMatchObject({ id: 'P-3', status: 'pending' });
});

test('who began after somebody looked is not taken for lost, and who was given up on says nothing about the next', () => {
  const log = approved();
  log.use('P-1');
  log.say('P-1', 'approve', { again: true });
  const next = { host: 'h', pid: 8, startTime: 't' };
  expect(log.use('P-1', presented(), { executor: next }).code).toBe('OK');
  // Both were looked for when only the first had begun.
  expect(log.say('P-1', 'approve', { again: true })).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    reason: expect.stringContaining('it runs at this moment'),
  });
  expect(log.use('P-1')).toMatchObject({ code: 'APPROVAL_USED', reason: expect.stringContaining('at this moment') });
  expect(log.finish('P-1').code).toBe('NOT_ALLOWED_NOW');
  expect(log.finish('P-1', 0, next).code).toBe('OK');
});

const LIST = ['slow one', 'deploy two', 'deploy three'];
function begunList() {
  const log = play();
  log.ask(sealed('P-1', { commands: LIST.map((name) => command(name)) }));
  log.say('P-1', 'approve');
  expect(log.use('P-1', presented('slow one')).code).toBe('OK');
  return log;
}

test.each([
  ['was cut off', []],
  ['runs', [0]],
])('a list of which one command %s is over in its time for all others', (_what, running) => {
  const log = begunList();
  log.wait(10 * MINUTE - 1);
  expect(log.use('P-1', presented('deploy two'), { running }).code).toBe('OK');
  expect(log.finish('P-1', 1).code).toBe('OK');
  log.wait(1);
  for (const dry of [true, false])
    expect(log.use('P-1', presented('deploy three'), { running, dry }).code).toBe('APPROVAL_EXPIRED');
  expect(log.facts.at(-1)).toMatchObject({ kind: 'approval.refused', code: 'APPROVAL_EXPIRED' });
  const again = log.use('P-1', presented('slow one'), { running });
  expect(again.code).toBe(running.length > 0 ? 'APPROVAL_USED' : 'OUTCOME_UNKNOWN');
  if (running.length > 0) expect(again.reason).toContain('P-1 runs at this moment');
  // As soon as it is settled nothing is left of it.
  log.finish('P-1', 0);
  log.sweep();
  expect(log.state.approvals).toEqual({});
});

test('what can never be approved is rejected by the policy as soon as a report asks for it', () => {
  const refusal = { allow: false, code: 'COMMAND_BLOCKED', reason: 'no', details: {} } as const;
  const { asked, log } = reported(() => undefined, sealed('P-1', { refusal }));
  expect(asked.facts).toMatchObject([
    { kind: 'approval.requested' },
    { kind: 'approval.rejected', by: 'policy', turn: 4 },
  ]);
  expect(log.state.approvals).toEqual({});
});

test('two turns that want the same wait each for their own', () => {
  const { pen, asked } = reported(() => undefined, sealed('P-1'));
  const other = requestApproval(pen, sealed('P-2'), { cast: 'c', turn: 5, attempt: 1 });
  expect([asked.id, other.id]).toEqual(['P-1', 'P-2']);
  expect(requestApproval(pen, sealed('P-3'), { cast: 'c', turn: 4, attempt: 2 })).toMatchObject({
    id: 'P-1',
    facts: [],
  });
});
