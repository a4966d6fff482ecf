import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { claimedCommands } from '../../kernel/report/commands.ts';
import { lacksVerbatimOutput } from './checks.ts';
import { consolidationRequired } from './contract.ts';

const COMMAND_ROWS: [Json, string[]][] = [
  [['npm test'], ['npm test']],
  [[{ command: 'npm test', result: 'ok' }], ['npm test']],
  [[{ cmd: 'npm test' }], ['npm test']],
  [[{ result: 'ok' }, null, '', '  '], []],
  ['npm test', ['npm test']],
  [['none', 'None', 'not run', 'Not executed', 'N/A', 'skipped'], []],
  [['npm test (not executed)', 'lint was skipped', 'tests: not run', 'lint: n/a'], []],
  [
    ['nonesuch --help', 'run skippedish'],
    ['nonesuch --help', 'run skippedish'],
  ],
  [null, []],
];

test.each(COMMAND_ROWS)('of %j these were run: %j', (commands_run, expected) => {
  expect(claimedCommands({ evidence_report: { commands_run } })).toEqual(expected);
});

const VERBATIM_ROWS: [Json, Json, boolean][] = [
  [['npm test'], ['ok 12'], false],
  [['npm test'], [], true],
  [['npm test'], ['none', 'No output captured.', '-'], true],
  [['npm test'], [null], true],
  [['npm test'], null, true],
  [['npm test'], '', true],
  [['npm test'], 'ok 12', false],
  [['not run'], [], false],
];

test.each(VERBATIM_ROWS)('commands %j with outputs %j lack output: %j', (commands_run, verbatim_outputs, lacks) => {
  expect(lacksVerbatimOutput({ evidence_report: { commands_run, verbatim_outputs } })).toBe(lacks);
});

const PLACEHOLDERS = [
  ...['', '[]', '-', 'N/A', 'NA', 'none', 'no output', 'no output captured', 'no output to capture'],
  ...[
    'not applicable',
    'not available',
    'no command run',
    'no commands run',
    'no command(s) run',
    'no verbatim output',
  ],
];

test.each(PLACEHOLDERS)('%j in the place of an output is none, in any case and with a full stop', (word) => {
  for (const text of [word, `${word}.`, word.toUpperCase(), ` ${word} `]) {
    const report = { evidence_report: { commands_run: ['npm test'], verbatim_outputs: [text] } };
    expect([text, lacksVerbatimOutput(report)]).toEqual([text, true]);
  }
});

const REQUIRED_ROWS: [JsonObject | null, boolean][] = [
  [null, false],
  [{}, false],
  [{ agent_contract_handoff: { consolidation_required: true } }, true],
  [{ agent_contract_handoff: { cross_check_required: true } }, true],
  [{ investigation_brief: { consolidation_required: true } }, true],
  [{ investigation_brief: { cross_check_required: 1 } }, true],
  [{ surface_routing: { multi_surface: true } }, true],
  [{ surface_routing: { multi_surface: 'false' } }, true],
  [{ surface_routing: { multi_surface: 0 } }, false],
  [{ surface_routing: { multi_surface: '' } }, false],
  [{ surface_routing: { multi_surface: [] } }, false],
  [{ surface_routing: { active_surfaces: ['a', 'b'] } }, false],
  [{ surface_routing: 'multi_surface', agent_contract_handoff: null }, false],
  [{ metadata: { multi_surface: true, consolidation_required: true } }, false],
];

test.each(REQUIRED_ROWS)('the INPUT %j asks for consolidation: %j', (input, required) => {
  expect(consolidationRequired(input)).toBe(required);
});
