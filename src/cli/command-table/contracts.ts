// Commands on payloads, configurations, the registry and agents.
import type { Command } from '../command.ts';
import { operationCommand } from '../operation-command.ts';

export const CONTRACTS_COMMANDS: readonly Command[] = [
  operationCommand(
    {
      name: 'check',
      summary: 'static checks of loadouts and materia, all issues at once',
      note: 'Exit: 0 no errors, 1 errors.',
    },
    ['check'],
  ),
  operationCommand(
    {
      name: 'validate',
      summary: 'check one payload against a contract',
      note: `--jsonl         answer every line of standard input, {"id", "input" | "input_raw", "options"?}, in order
The answer is always JSON. Exit: 0 allowed, 1 denied.`,
      options: { jsonl: { type: 'boolean' } },
      shownBy: () => import('../commands/validate.ts'),
    },
    ['validate'],
  ),
  {
    name: 'registry',
    group: 'contracts',
    act: { verify: 'look', list: 'look', quarantine: 'look', release: 'decide', lock: 'govern', import: 'govern' },
    args: 'lock | verify | list | quarantine | release ID --reason TEXT | import DIR',
    words: [1, 2],
    summary: 'who exists, which prompts are pinned, what is blocked until a person has looked',
    help: `lock            pin every prompt to the bytes it has now; covers the manifest, and what each agent runs with
verify          compare manifest, lock and prompts; report what differs from what was approved (--strict: warnings deny)
list            every agent with version, prompt, model, and whether the model is one exact release
quarantine      what is blocked, since when and why
release ID      --reason TEXT: let go what was blocked, once everything agrees again; only a person can
import DIR      take over a registry from another folder, in any of the known shapes, and lock it

--reason        why, for the log
--outcome       what was found: tampering, stale_sender, legitimate_change, checkout_artifact or harmless
Exit: 0 allowed, 1 denied.`,
    example: 'baton registry release domain-02-build --reason "prompt restored from git"',
    options: { reason: { type: 'string' }, outcome: { type: 'string' }, strict: { type: 'boolean' } },
    load: () => import('../commands/registry.ts'),
  },
  {
    name: 'handoff',
    group: 'contracts',
    act: 'steer',
    args: 'verify FILE [--registry DIR] [--max-age-s N] [--max-skew-s N]',
    words: [2, 2],
    summary: 'judge a foreign handoff envelope, once; the verdict is written to the log',
    help: `--registry      the folder of the registry (default: .baton)
--max-age-s     how old an envelope may be (default 300)
--max-skew-s    how far ahead of this clock it may be (default 60)
FILE may be -, for standard input. The same id is judged once only. The answer is one verdict, as JSON. Exit: 0 allowed, 1 denied.`,
    example: 'baton handoff verify envelope.json',
    options: { registry: { type: 'string' }, 'max-age-s': { type: 'string' }, 'max-skew-s': { type: 'string' } },
    load: () => import('../commands/handoff.ts'),
  },
  {
    name: 'context',
    group: 'contracts',
    act: { '': 'look', set: 'decide', revert: 'decide' },
    args: 'show [SECTION] | diff SECTION [V1 [V2]] | history SECTION | revert SECTION --to V [--reason TEXT] | set SECTION FILE',
    words: [0, 4],
    summary: 'what the workspace knows, section by section, and how it came to be',
    help: `show            the sections, or the one that is named
diff            what its last version changed; what came since V1; what differs between V1 and V2
history         every version, and every write that was refused: who, when, in which turn
revert          --to V [--reason TEXT]: give it the value of an earlier version again; 0 is nothing at all
set             merge a JSON object from FILE into it (- is standard input); with --replace in its place

--to            the version to go back to
--reason        why, for the log
--replace       with set: what is not in FILE goes
Agents write with update_contracts in their reports; set and revert are for people. Exit: 0 done, 1 denied.`,
    example: 'baton context revert services --to 3 --reason "the port was a guess"',
    options: { to: { type: 'string' }, reason: { type: 'string' }, replace: { type: 'boolean' } },
    load: () => import('../commands/context.ts'),
  },
  {
    name: 'memory',
    group: 'contracts',
    act: { '': 'look', accept: 'decide', drop: 'decide' },
    args: 'list [--all] | accept ID [--section SECTION] | drop ID [--reason TEXT]',
    words: [0, 2],
    summary: 'what agents suggest to remember, for a person to accept or to drop',
    help: `list            what waits for a decision
accept          later turns are told it: with SECTION those that may read it, else all
drop            it is not taken, or not to be remembered any more; it is not suggested again

--all           with list: what was accepted, too
--section       with accept: the section it belongs to
--reason        with drop: why, for the log
Only a person decides. Exit: 0 done, 1 denied.`,
    example: 'baton memory accept m7 --section services',
    options: { all: { type: 'boolean' }, section: { type: 'string' }, reason: { type: 'string' } },
    load: () => import('../commands/memory.ts'),
  },
  operationCommand(
    { name: 'explain', summary: 'what a code means and what to do about it; without CODE, all of them' },
    ['explain'],
  ),
  {
    name: 'mcp',
    group: 'contracts',
    act: 'govern',
    args: '[--http PORT]',
    words: [0, 0],
    summary: 'an MCP server: agents hand in their work by tool call, other clients start and follow casts',
    help: `--http          streamable HTTP on 127.0.0.1 instead of standard input and output; 0 takes a free port
Over HTTP every request carries a token: one of \`baton token create\`, with its role; or that of BATON_MCP_TOKEN, else a
new one that is shown once, with which you act as yourself.
Started by an agent of a cast, it offers that agent its own tools and none that steer casts.`,
    example: 'baton mcp --http 8808',
    options: { http: { type: 'string' } },
    load: () => import('../commands/mcp.ts'),
  },
  {
    name: 'token',
    group: 'contracts',
    act: 'govern',
    args: 'create --role ROLE [--name NAME] [--expires WHEN] | list | revoke NAME',
    words: [1, 2],
    summary: 'who may use the HTTP server, and for what',
    help: `create          make a token and show it, once; only its digest is kept
list            every token with its role, and whether it can still be used
revoke NAME     from then on nobody acts under it; its name is never given again
--role          viewer looks; operator also starts casts and works on the ledger; approver also decides what waits for a
                person; admin may do everything
--name          what the log calls whoever uses it: token:NAME
--expires       a time, or a span such as 12h or 30d; without it the token is good until it is revoked
For people only: refused to whatever an agent of a cast started.`,
    example: 'baton token create --role operator --name ci --expires 30d',
    options: { role: { type: 'string' }, name: { type: 'string' }, expires: { type: 'string' } },
    load: () => import('../commands/token.ts'),
  },
  {
    name: 'hook',
    group: 'contracts',
    act: 'steer',
    args: 'EVENT [--report-only]',
    words: [1, 1],
    summary: 'decide one event of Claude Code: locks, scopes, contracts and dangerous commands, without a cast',
    help: `EVENT is PreToolUse, PostToolUse, UserPromptSubmit, Stop, SubagentStop, SessionStart, …; its input comes on standard input
--report-only   let everything through, and write to state/hooks.jsonl what would have been refused
The host's protocol: exit 0 lets it through, exit 2 refuses with the reason on standard error. Whatever goes wrong refuses too.`,
    example: 'baton hook PreToolUse < event.json',
    options: { 'report-only': { type: 'boolean' } },
    load: () => import('../commands/hook.ts'),
  },
  {
    name: 'install',
    group: 'contracts',
    act: 'govern',
    args: 'claude|codex|pi [--shared] [--report-only | --skill] [--undo | --verify] [--yes]',
    words: [1, 1],
    summary: 'write the hooks and the MCP server into the settings of an agent, after showing what changes',
    help: `--shared        claude: write the settings of the project for the whole team, not yours alone
--verify        claude: start Claude Code, try one forbidden write, and report whether the hook refused it
--report-only   hooks that let everything through and write down what they would have refused
--skill         claude: instead, a skill file that teaches how to report with an agent_contract_handoff
--undo          take everything back: files that were not touched since become what they were
--yes           write without asking; without a terminal nothing is written otherwise
What is there stays, byte by byte. Nothing is written through a link.
Exit: 0 written, in place or refused as it should be; 1 refused, or --verify failed; 2 not written.`,
    example: 'baton install claude',
    options: {
      'report-only': { type: 'boolean' },
      shared: { type: 'boolean' },
      verify: { type: 'boolean' },
      skill: { type: 'boolean' },
      undo: { type: 'boolean' },
      yes: { type: 'boolean' },
    },
    load: () => import('../commands/install.ts'),
  },
];
