import { expect, test } from 'vitest';
import { sealed } from '../../../test/wishes.ts';
import type { ApprovalFact, SealedRequest } from '../../kernel/approval/request.ts';
import type { AgentNote } from '../../kernel/cast/state.ts';
import type { Entry } from '../../kernel/fact.ts';
import { differencesIn, foldCommand, foldReport, noCommands, noReports, notRunOf } from './reported.ts';

function told(payload: object | null, ...agents: readonly AgentNote[]): readonly Entry[] {
  const ends = agents.map((agent, index) => ({
    kind: 'attempt.refused',
    turn: 1,
    attempt: index + 1,
    usage: {},
    agent,
  }));
  const facts = [
    ...ends,
    { kind: 'turn.reported', turn: 1, attempt: 9, output: '', ...(payload ? { payload } : {}) },
    { kind: 'report.noted', turn: 1, note: { agent: 'Spec' } },
  ];
  return facts.map((fact) => ({ at: '', fact })) as unknown as readonly Entry[];
}

const names = (...commands: string[]) => ({ evidence_report: { commands_run: commands } });
const push = { commands: ['git push'], unapproved: ['git push'] };

test.each<[string, readonly Entry[], object[]]>([
  ['although it is named', told(names('git push'), push), [{ notRun: [], unnamed: [], unapproved: ['git push'] }]],
  ['and not named', told(names(), push), [{ notRun: [], unnamed: ['git push'], unapproved: ['git push'] }]],
  ['with only the text of a report', told(null, push), [{ notRun: [], unnamed: [], unapproved: ['git push'] }]],
  [
    'in an earlier attempt, once',
    told(names('git push'), push, push, { commands: [] }),
    [{ notRun: [], unnamed: [], unapproved: ['git push'] }],
  ],
  ['nothing', told(names('ls'), { commands: ['ls'] }), []],
])('run without approval: %s', (_what, entries, differences) => {
  const record = noReports();
  for (const entry of entries) foldReport(record, entry);
  expect(differencesIn(record)).toEqual(differences.map((each) => ({ turn: 1, agent: 'Spec', ...each })));
});

const asked = (id = 'P-1', over: Partial<SealedRequest> = {}): ApprovalFact => ({
  ...{ kind: 'approval.requested', id, sealed: sealed(id, over) },
});
const command = sealed('P').commands[0];
const list = command && [command, { ...command, display: 'second', digest: 'd2' }];
const yes: ApprovalFact = { kind: 'approval.approved', id: 'P-1', by: 'ann', reason: '', until: 1 };
const no: ApprovalFact = { kind: 'approval.rejected', id: 'P-1', by: 'ann', reason: '' };
const executor = { host: 'h', pid: 1, startTime: 's' };
const used: ApprovalFact = { kind: 'approval.used', id: 'P-1', index: 0, round: 0, requester: 'a1', executor };
const ended = (exit: number | null): ApprovalFact => ({ kind: 'approval.finished', id: 'P-1', index: 0, exit });
const over = (kind: 'approval.expired' | 'approval.withdrawn', what: 'request' | 'grant'): ApprovalFact => ({
  ...{ kind, id: 'P-1', what, reason: '' },
});

test.each<[string, readonly ApprovalFact[], readonly string[]]>([
  ['it ran', [asked(), yes, used, ended(0)], []],
  ['it ran and failed', [asked(), yes, used, ended(1)], []],
  ['nobody decided', [asked()], ['waits']],
  ['it was approved', [asked(), yes], ['approved and not run']],
  ['its yes expired', [asked(), yes, over('approval.expired', 'grant')], ['approved and not run']],
  ['its yes was withdrawn', [asked(), yes, over('approval.withdrawn', 'grant')], ['approved and not run']],
  ['it was refused', [asked(), no], ['refused']],
  ['its yes was taken back', [asked(), yes, no], ['refused']],
  ['nobody decided in time', [asked(), over('approval.expired', 'request')], ['expired']],
  ['its turn went on', [asked(), over('approval.withdrawn', 'request')], ['not decided']],
  ['it began and nobody knows more', [asked(), yes, used], []],
  ['it ended by a signal', [asked(), yes, used, ended(null)], ['ended without an exit code']],
  ['it ran under another approval', [asked('P-0'), asked(), yes, used, ended(0)], []],
  [
    'the second of a list did not run',
    [asked('P-1', { commands: list ?? [] }), yes, used, ended(0)],
    ['approved and not run'],
  ],
  ['it is a permission in words', [asked('P-1', { commands: [] }), yes], []],
  ['the fact is about no approval of the cast', [yes], []],
])('%s', (_what, facts, outcomes) => {
  const record = noCommands();
  foldCommand(record, { kind: 'cast.resumed', cast: 'c', reason: '' });
  for (const fact of facts) foldCommand(record, fact);
  expect(notRunOf(record).map(({ outcome }) => outcome)).toEqual(outcomes);
});
