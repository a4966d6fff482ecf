// What was run without approval stands beside what a report leaves out, whether that report was kept apart or not.
import { expect, test } from 'vitest';
import type { AgentNote } from '../../kernel/cast/state.ts';
import type { Entry } from '../../kernel/fact.ts';
import { differencesIn, foldReport, noReports } from './reported.ts';

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
