import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Workspace } from '../app/workspace.ts';
import { CODES } from '../kernel/codes.ts';
import type { JsonObject } from '../kernel/json.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { callTool, MCP_TOOLS, toolsFor } from './server.ts';
import type { CurrentCall, ToolContext } from './tool.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const current: CurrentCall = { signal: new AbortController().signal, progress: async () => undefined };

const dir = mkdtempSync(join(tmpdir(), 'baton-tools-'));
const located = { dir, configFile: join(dir, 'config.json'), stateDir: join(dir, 'state') };
// What does not check starts no cast.
writeFileSync(located.configFile, '{}');
const workspace = new Workspace(located, { env: {} });

/** A workspace without a log. */
function contextFor(isAgent: boolean): ToolContext {
  const attempt = isAgent ? { cast: 'C', turn: 1, attempt: 1, fence: null, task: null, dir: '/nowhere' } : null;
  return {
    workspace,
    actor: { name: isAgent ? 'agent:a@C-1.1' : 'user:ann', kind: isAgent ? 'agent' : 'person', role: null, attempt },
    attempt,
    isAgent,
    isOwn: async () => true,
    cast: async () => null,
  };
}

/** Which tools an agent of a cast is offered, and which a client outside. */
const OFFERED: readonly [string, boolean, boolean][] = [
  ['submit_handoff', true, false],
  ['request_approval', true, false],
  ['run_approved', true, false],
  ['read_context', true, true],
  ['task_list', true, true],
  ['task_claim', true, true],
  ['task_next', true, true],
  ['task_finish', true, true],
  ['task_create', true, true],
  ['task_move', true, true],
  ['task_apply', true, true],
  ['heartbeat', true, true],
  ['worklog_add', true, true],
  ['lock_check', true, true],
  ['lock_request', true, false],
  ['cast_start', false, true],
  ['cast_link', false, true],
  ['cast_wait', false, true],
  ['cast_answer', false, true],
  ['cast_talk', false, true],
  ['cast_say', false, true],
  ['cast_continue', false, true],
  ['cast_abort', false, true],
  ['cast_merge', false, true],
  ['cast_diff', false, true],
  ['cast_show', false, true],
  ['cast_why', false, true],
  ['cast_list', false, true],
  ['approvals_list', false, true],
  ['graph', false, true],
  ['init', false, true],
  ['doctor', false, true],
  ['agents_list', false, true],
  ['agents_test', false, true],
  ['install', false, true],
  ['quest_add', false, true],
  ['quest_list', false, true],
  ['quest_reorder', false, true],
  ['quest_stop', false, true],
  ['quest_requeue', false, true],
  ['quest_remove', false, true],
  ['loadout_draft', false, true],
  ['config_explain', false, true],
  ['approval_approve', false, false],
  ['approval_reject', false, false],
];

test.each(OFFERED)('%s is for an agent: %s, for a client outside: %s', (name, agent, outside) => {
  const isOffered = (isAgent: boolean) => toolsFor({ isAgent }).some((tool) => tool.name === name);
  expect([isOffered(true), isOffered(false)]).toEqual([agent, outside]);
});

test.each<[string, Verdict | null, boolean, boolean]>([
  ["a person's token and a client that shows forms", allow(), true, true],
  ['a token that was revoked', deny('TOKEN_REVOKED', 'x'), true, false],
  ['no token', null, true, false],
  ['a client that shows no forms', allow(), false, false],
])('with %s a decision is offered to a person, and never to an agent', (_, token, canAsk, isOffered) => {
  const caller = { canAsk, ...(token ? { personToken: () => token } : {}) };
  const decisions = MCP_TOOLS.filter(({ isDecision }) => isDecision);
  const offered = (isAgent: boolean) => toolsFor({ ...caller, isAgent }, decisions).length > 0;
  expect([decisions.length, offered(false), offered(true)]).toEqual([2, isOffered, false]);
});

test('every tool has a name of its own, and those without a row above are for a client outside alone', () => {
  const names = MCP_TOOLS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const rows = OFFERED.map(([name]) => name);
  expect(rows.filter((name) => !names.includes(name))).toEqual([]);
  const others = MCP_TOOLS.filter(({ name, isDecision }) => !rows.includes(name) && !isDecision);
  expect(others.filter((tool) => tool.audience !== 'person').map(({ name }) => name)).toEqual([]);
});

test('what is kept from an agent is not even begun', async () => {
  const told: unknown[] = [];
  const onRefused = ({ details }: { details: JsonObject }) => void told.push(details.tool);
  const kept = MCP_TOOLS.filter(({ audience }) => audience === 'person');
  for (const tool of kept) {
    const inside = { ...contextFor(true), onRefused };
    const verdict = await callTool(inside, tool, { cast: 'C', answer: 'yes', request: 'x' }, current);
    expect(verdict.code).toBe('APPROVER_IS_AGENT');
  }
  expect(told).toEqual(kept.map(({ name }) => name));
});

const word = fc.oneof(fc.string(), fc.constantFrom('--json', '-C', '--', '--owner=x', 'latest'));
const given = fc.record(
  {
    task: word,
    owner: word,
    run: word,
    cast: word,
    answer: word,
    request: word,
    loadout: word,
    fence: fc.oneof(fc.nat(), word),
    paths: fc.oneof(fc.array(word, { minLength: 1, maxLength: 3 }), word),
    result: fc.oneof(fc.jsonValue(), word),
    entry: fc.oneof(fc.dictionary(word, word), word),
    handoff: fc.jsonValue(),
    path: word,
    limit: fc.nat(10),
  },
  { requiredKeys: [] },
);

test('the answer is a verdict, whatever a client sends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...MCP_TOOLS), given, fc.boolean(), async (tool, sent, isAgent) => {
      const members = Object.keys(tool.input.properties as JsonObject);
      const fitting = Object.fromEntries(Object.entries(sent).filter(([name]) => members.includes(name)));
      const verdict = await callTool(contextFor(isAgent), tool, fitting as JsonObject, current);
      expect(verdict.allow ? verdict.code : Object.hasOwn(CODES, verdict.code)).toBe(verdict.allow ? 'OK' : true);
    }),
    { numRuns: RUNS },
  );
});
