// The command line and the tools keep the same things from agents: every command that changes something is for people only,
// or is named here with the reason why an agent may use it.
import { expect, test } from 'vitest';
import { actOfForm } from '../../src/access/rights.ts';
import { formOf } from '../../src/app/operation.ts';
import { OPERATIONS } from '../../src/app/operations/table.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { MCP_TOOLS, refusalFor } from '../../src/mcp/server.ts';

/** What an operation keeps from agents, by its command. A form with an option is part of another command. */
const PEOPLE_ONLY: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(OPERATIONS).flatMap((entry) =>
    'peopleOnly' in entry && !formOf(entry).includes(' --') ? [[formOf(entry), entry.peopleOnly]] : [],
  ),
);

/** What changes something and is open to agents: the work of a turn, or what the log itself decides about them. */
const AGENTS_MAY: Readonly<Record<string, string>> = {
  'approvals request': 'asks a person',
  exec: 'runs what a person approved',
  approve: 'the log refuses it, and keeps that it was tried',
  reject: 'the log refuses it, and keeps that it was tried',
  'registry release': 'the log refuses it, and keeps that it was tried',
  'context set': 'the log refuses it',
  'context revert': 'the log refuses it',
  'memory accept': 'the log refuses it',
  'memory drop': 'the log refuses it',
  'handoff verify': 'judges an envelope and decides nothing about a cast',
  hook: 'is what holds an agent',
  demo: 'starts a cast, which is refused',
  serve: 'the server refuses to start for an agent',
  ui: 'the server refuses to start for an agent',
  budget: 'an agent may look; the operation refuses a change',
  'task create': 'the ledger is worked on by agents, under their fences',
  'task claim': 'the ledger is worked on by agents, under their fences',
  'task next': 'the ledger is worked on by agents, under their fences',
  'task finish': 'the ledger is worked on by agents, under their fences',
  'task move': 'the ledger is worked on by agents, under their fences',
  'task apply': 'the ledger is worked on by agents, under their fences',
  heartbeat: 'says that an agent lives',
  watchdog: 'frees tasks of owners that are silent, by the rules',
  'worklog add': 'is what an agent did',
  'audit checkpoint': 'signs what is in the log',
  export: 'copies what can be read anyway',
};

/** Every form that is told apart, with what it does. */
const FORMS = COMMANDS.flatMap(({ name, act }) => {
  if (typeof act === 'string') return [[name, act] as const];
  return Object.keys(act).map((word) => [`${name} ${word}`.trim(), actOfForm(act, word)] as const);
});

test('every command that changes something is for people only, or says why it is not', () => {
  const changing = FORMS.filter(([, act]) => act !== 'look').map(([form]) => form);
  const known = [...Object.keys(PEOPLE_ONLY), ...Object.keys(AGENTS_MAY)];
  expect(changing.filter((form) => !known.includes(form))).toEqual([]);
  expect(known.filter((form) => !changing.includes(form))).toEqual([]);
  expect(Object.keys(PEOPLE_ONLY).filter((form) => form in AGENTS_MAY)).toEqual([]);
});

test('what a tool is refused for is refused by its command, unless it only looks', () => {
  const kept = MCP_TOOLS.filter((tool) => refusalFor({ isAgent: true }, tool) !== null);
  expect(kept.map(({ name }) => name)).toEqual([
    'cast_list',
    'cast_show',
    'cast_why',
    'cast_wait',
    'cast_start',
    'cast_link',
    'cast_continue',
    'cast_answer',
    'cast_talk',
    'cast_say',
    'approval_approve',
    'approval_reject',
    'cast_abort',
    'quest_add',
    'quest_list',
    'quest_reorder',
    'quest_stop',
    'quest_requeue',
    'quest_remove',
    'test_loadouts',
    'graph',
    'events_list',
    'approvals_list',
    'cast_diff',
    'cast_merge',
    'init',
    'doctor',
    'agents_list',
    'agents_test',
    'install',
    'config_explain',
    'loadout_draft',
  ]);
  for (const tool of kept) {
    const { name, act } = tool;
    const entry = Object.values(OPERATIONS).find(({ mcp }) => 'name' in mcp && mcp.name === name);
    const command = entry ? formOf(entry) : '';
    expect([name, FORMS.find(([form]) => form === command)?.[1] ?? act]).toEqual([name, act]);
    // The log refuses a decision of an agent, so its command is not refused before.
    expect([name, command in PEOPLE_ONLY || tool.isDecision === true]).toEqual([name, act !== 'look']);
    const may = PEOPLE_ONLY[command] ?? tool.peopleOnly ?? 'look at casts from outside';
    expect(refusalFor({ isAgent: true }, tool)?.reason).toContain(`only a person may ${may};`);
  }
});

test('a tool that agents may use is no operation that is for people only', () => {
  const open = MCP_TOOLS.filter((tool) => refusalFor({ isAgent: true }, tool) === null);
  expect(open.filter(({ peopleOnly }) => peopleOnly !== undefined)).toEqual([]);
  const forms = Object.values(OPERATIONS).flatMap((entry) =>
    'name' in entry.mcp && open.some(({ name }) => 'name' in entry.mcp && name === entry.mcp.name)
      ? [formOf(entry)]
      : [],
  );
  expect(forms.length).toBeGreaterThan(5);
  expect(forms.filter((form) => form in PEOPLE_ONLY)).toEqual([]);
});
