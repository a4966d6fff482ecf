// Every command, in the order of the help. A command's module is loaded when it is called, so that a short one starts fast.
import type { Command, Options } from './command.ts';
import { LEDGER_COMMANDS } from './ledger-commands.ts';

const MANY = Number.POSITIVE_INFINITY;
const TURNS: Options = { turns: { type: 'boolean' } };
const TURNS_HELP = '--turns         with --json: add every attempt with its brief, output and verdict';
const EXITS = 'Exit: 0 completed, 1 failed, aborted or paused, 4 waiting for a person.';

export const COMMANDS: readonly Command[] = [
  {
    name: 'init',
    group: 'everyday',
    act: 'govern',
    args: '[--force]',
    words: [0, 0],
    summary: 'scaffold .baton/ with an example loadout, prompts and lock',
    help: '--force         replace config.json; the old one is kept beside it',
    example: 'baton init',
    options: { force: { type: 'boolean' } },
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'cast',
    group: 'everyday',
    act: 'steer',
    args: '[-l LOADOUT] [--file CONFIG] [--agents SCRIPT] [--in-place] [--detach] [--dry-run] [--turns] REQUEST…',
    words: [1, MANY],
    summary: 'run a loadout on a request, with live progress',
    help: `--loadout, -l   which loadout (default: activeLoadout of the configuration)
--file          a configuration file instead of .baton/config.json
--agents        a script of agents' turns, for a cast without a model
--in-place      work in the directory itself; in a git repository agents otherwise get a worktree on a branch of their own
--detach        give the cast to a background process and return
--dry-run       show the first briefs and what would run, start nothing
${TURNS_HELP}
The request follows -- when it begins with a dash. ${EXITS}`,
    example: 'baton cast -l Full-Auto "Add a --version flag"',
    options: {
      loadout: { type: 'string', short: 'l' },
      file: { type: 'string' },
      agents: { type: 'string' },
      'in-place': { type: 'boolean' },
      detach: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      ...TURNS,
    },
    load: () => import('./commands/cast.ts'),
  },
  {
    name: 'status',
    group: 'everyday',
    act: 'look',
    args: '[--metrics]',
    words: [0, 0],
    summary: 'what runs, waits and ended last in this workspace',
    help: '--metrics       how the runs of the ledger went, one by one and over time, beside the levels aimed at',
    example: 'baton status',
    options: { metrics: { type: 'boolean' } },
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'continue',
    group: 'everyday',
    act: 'steer',
    args: '[CAST] [--turns]',
    words: [0, 1],
    summary: 'do the obvious thing for a cast that stands',
    help: `A crashed or paused cast is resumed, a failed or aborted one is recast; at a spent allowance you are asked first.
Without CAST: the newest that runs no more, is paused or waits, else the latest one.
${TURNS_HELP}
${EXITS}`,
    example: 'baton continue latest',
    options: TURNS,
    load: () => import('./commands/continue.ts'),
  },
  {
    name: 'demo',
    group: 'try',
    act: 'steer',
    args: '[--fast]',
    words: [0, 0],
    summary: 'a whole workflow on scripted agents, in a temporary workspace; no key, no network',
    help: '--fast          without the pauses that make it pleasant to watch',
    example: 'baton demo',
    options: { fast: { type: 'boolean' } },
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'agents',
    group: 'try',
    act: { '': 'look', test: 'steer' },
    args: '[test [NAME]] [--model MODEL] [--base-url URL]',
    words: [0, 2],
    summary: 'which agents are installed and signed in; with test, whether they answer',
    help: `test            one prompt to each installed agent, or to NAME: claude, codex, pi, anthropic, openai
--model         with test: the model to ask; anthropic and openai need one
--base-url      with test: where the model is, when it is not the provider's own place
Looking asks no network; test does, and costs a few tokens. Exit of test: 0 when all answered, else 1.`,
    example: 'baton agents test claude',
    options: { model: { type: 'string' }, 'base-url': { type: 'string' } },
    load: () => import('./commands/agents.ts'),
  },
  {
    name: 'doctor',
    group: 'try',
    act: 'look',
    args: '',
    words: [0, 0],
    summary: 'check everything a cast needs, and say how to mend it',
    help: 'Looks at Node, git, the agents, the disk, the state folder, the clock and the configuration. Exit: 0 nothing is broken, else 1.',
    example: 'baton doctor',
    options: {},
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'casts',
    group: 'casts',
    act: 'look',
    args: '',
    words: [0, 0],
    summary: 'list the casts of this workspace, newest first',
    example: 'baton casts --json',
    options: {},
    load: () => import('./commands/casts.ts'),
  },
  {
    name: 'show',
    group: 'casts',
    act: 'look',
    args: '[CAST] [--turn N | --turns]',
    words: [0, 1],
    summary: 'one cast: where it went, what it holds, what it used; or one turn of it in full',
    help: `Without CAST: the latest one. With --json: the same object as \`baton cast --json\`, also while it runs.
--turn          one turn in full: INPUT, briefs, reports, questions and answers, evidence, what it wrote for others
${TURNS_HELP}`,
    example: 'baton show latest --json',
    options: { turn: { type: 'string' }, ...TURNS },
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'why',
    group: 'casts',
    act: 'look',
    args: '[CAST]',
    words: [0, 1],
    summary: 'why a cast stands where it stands, since when, and the commands that carry it on',
    help: 'Without CAST: the latest one. It looks, and changes nothing.',
    example: 'baton why latest',
    options: {},
    load: () => import('./commands/why.ts'),
  },
  {
    name: 'watch',
    group: 'casts',
    act: 'look',
    args: '[CAST] [--turns] [--jsonl [--facts]]',
    words: [0, 1],
    summary: 'follow a cast that another process drives',
    help: `Without CAST: the latest one. It ends when the cast stands, or when nobody drives it any more (exit 1).
--jsonl         a JSON line for each word, tool call, refused tool or pause of an agent, as it happens:
                {"turn", "attempt", "socket", "event"}; some may be missed. The last line is the cast, as with --json
--facts         with --jsonl: also a line for each entry of the log, from the first one on, as \`baton log --json\` has it
${TURNS_HELP}
${EXITS}`,
    example: 'baton watch latest',
    options: { ...TURNS, jsonl: { type: 'boolean' }, facts: { type: 'boolean' } },
    load: () => import('./commands/watch.ts'),
  },
  {
    name: 'resume',
    group: 'casts',
    act: 'steer',
    args: '[CAST] [--turns]',
    words: [0, 1],
    summary: 'carry on a cast after a crash or a pause',
    help: `Without CAST: the newest one that was cut off or paused.
${TURNS_HELP}
${EXITS}`,
    example: 'baton resume',
    options: TURNS,
    load: () => import('./commands/resume.ts'),
  },
  {
    name: 'recast',
    group: 'casts',
    act: 'steer',
    args: '[CAST] [--turns]',
    words: [0, 1],
    summary: 'run a failed or aborted cast on from where it stands',
    help: `Without CAST: the newest one that failed or was aborted.
${TURNS_HELP}
${EXITS}`,
    example: 'baton recast latest',
    options: TURNS,
    load: () => import('./commands/recast.ts'),
  },
  {
    name: 'revive',
    group: 'casts',
    act: 'steer',
    args: '[CAST] [--turns]',
    words: [0, 1],
    summary: 'like recast, and what was spent, an edge or a budget, gets as much again',
    help: `Without CAST: the newest one that stands at a spent edge.
${TURNS_HELP}
${EXITS}`,
    example: 'baton revive latest',
    options: TURNS,
    load: () => import('./commands/revive.ts'),
  },
  {
    name: 'budget',
    group: 'casts',
    act: 'decide',
    args: '[CAST] [--tokens N] [--cost X] [--minutes N]',
    words: [0, 1],
    summary: 'show or change what a cast may use',
    help: `--tokens        input and output tokens together
--cost          in the currency of the usage that agents report
--minutes       running time
Without any of them: what is used, and of how much. Each is the new limit, not an addition.`,
    example: 'baton budget latest --tokens 500000',
    options: { tokens: { type: 'string' }, cost: { type: 'string' }, minutes: { type: 'string' } },
    load: () => import('./commands/budget.ts'),
  },
  {
    name: 'decide',
    group: 'casts',
    act: 'decide',
    args: 'TURN rerun|accept|fail [--output FILE] [--reason TEXT] [--turns]',
    words: [2, 2],
    summary: 'decide about a turn of unknown outcome, or whose agent asks or is blocked; TURN is CAST:NUMBER',
    help: `rerun           it did not happen, or may happen twice: dispatch it again
accept          it happened: go on as if it had answered
fail            it went wrong: fail the cast
--output        with accept: the file with what it answered
--reason        why, for the log
${TURNS_HELP}
${EXITS}`,
    example: 'baton decide latest:7 rerun',
    options: { output: { type: 'string' }, reason: { type: 'string' }, ...TURNS },
    load: () => import('./commands/decide.ts'),
  },
  {
    name: 'abort',
    group: 'casts',
    act: 'steer',
    args: '[CAST | --all] [--reason TEXT]',
    words: [0, 1],
    summary: 'stop a cast and its running agents',
    help: `--all           every cast that runs, is paused or waits
--reason        why, for the log
Without CAST: the one that is open, if it is the only one.`,
    example: 'baton abort --all',
    options: { all: { type: 'boolean' }, reason: { type: 'string' } },
    load: () => import('./commands/abort.ts'),
  },
  {
    name: 'answer',
    group: 'casts',
    act: 'decide',
    args: 'CAST [--turn N] [TEXT… | --file FILE] [--turns]',
    words: [1, MANY],
    summary: 'answer in a turn of your own, or an agent that asks or is blocked, and carry the cast on',
    help: `--turn          which turn, where several wait
--file          the file with the answer; - is standard input
Without TEXT and --file: standard input; in a terminal the brief is shown first. The answer is read like an agent's:
one that does not keep the contract is refused with what is wrong, and the turn waits again. An empty answer is wrong usage.
${TURNS_HELP}
${EXITS}`,
    example: 'baton answer latest \'{"satisfied": true}\'',
    options: { turn: { type: 'string' }, file: { type: 'string' }, ...TURNS },
    load: () => import('./commands/answer.ts'),
  },
  {
    name: 'approvals',
    group: 'casts',
    act: { '': 'look', request: 'steer' },
    args: '[request FILE]',
    words: [0, 2],
    summary: 'what waits for a person to approve: the exact command, its scope, its risk and how to undo it',
    help: `request FILE    for agents and scripts: ask for what an approval_request says, as JSON; - is standard input. The answer is one verdict
What has waited for an hour is marked stale. What expired is said in the log, and whoever asked is told.`,
    example: 'baton approvals --json',
    options: {},
    load: () => import('./commands/approvals.ts'),
  },
  {
    name: 'approve',
    group: 'everyday',
    act: 'decide',
    args: 'ID [--reason TEXT] [--again] [--turns]',
    words: [1, 1],
    summary: 'say yes to what an agent asks for, once and exactly as it is sealed, and carry its cast on',
    help: `--reason        why, for the log
--again         it was cut off and nobody knows whether it ran: let it run once more
ID may be shortened to 8 digits or more that only one has. An agent cannot approve anything.
${TURNS_HELP}
${EXITS}`,
    example: 'baton approve P-0c2f81d4',
    options: { reason: { type: 'string' }, again: { type: 'boolean' }, ...TURNS },
    load: () => import('./commands/approve.ts'),
  },
  {
    name: 'reject',
    group: 'casts',
    act: 'decide',
    args: 'ID --reason TEXT [--turns]',
    words: [1, 1],
    summary: 'say no to what an agent asks for, or take back what was approved and not used; the agent is told why',
    help: `--reason        why, for the log and for the agent
${TURNS_HELP}
${EXITS}`,
    example: 'baton reject P-0c2f81d4 --reason "not on a Friday"',
    options: { reason: { type: 'string' }, ...TURNS },
    load: () => import('./commands/reject.ts'),
  },
  {
    name: 'exec',
    group: 'casts',
    act: 'steer',
    args: '--approval ID -- ARGV…',
    words: [1, MANY],
    summary: 'run a command that a person approved, exactly as it was approved, once',
    help: `--approval      the approval
Arguments, folder, programs, files, variables, policy and requester are compared with what was sealed; what differs is
refused and told. It runs without a shell. Exit: that of the command; 1 refused; 127 it could not be started.`,
    example: 'baton exec --approval P-0c2f81d4 -- terraform apply plan.out',
    options: { approval: { type: 'string' } },
    load: () => import('./commands/exec.ts'),
  },
  {
    name: 'diff',
    group: 'casts',
    act: 'look',
    args: '[CAST] [--stat] [--lane N]',
    words: [0, 1],
    summary: 'what a cast changed, also while it runs',
    help: `--stat          the files and how much of each, instead of the patch
--lane          what an item did that has a worktree of its own, while it is not merged
Without CAST: the latest one. The patch can be given to \`git apply\`.`,
    example: 'baton diff latest --stat',
    options: { stat: { type: 'boolean' }, lane: { type: 'string' } },
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'merge',
    group: 'casts',
    act: 'decide',
    args: '[CAST] [--yes]',
    words: [0, 1],
    summary: 'take what a cast did over into the current branch, and clear its worktree away',
    help: `--yes           also of a cast that is not completed: what was accepted so far, and its worktree stays
Without CAST: the latest one. Where git finds a conflict nothing is changed and the files are named. Exit: 0 merged, 1 not.`,
    example: 'baton merge latest',
    options: { yes: { type: 'boolean' } },
    load: () => import('./commands/merge.ts'),
  },
  {
    name: 'undo',
    group: 'casts',
    act: 'decide',
    args: '[CAST] [--yes]',
    words: [0, 1],
    summary: 'take back what a cast did: its worktree and branch, or the files it changed in place',
    help: `--yes           without asking, also where work would be lost
Without CAST: the latest one. Files that were changed again since, or of which nobody kept what they were, stay.`,
    example: 'baton undo latest',
    options: { yes: { type: 'boolean' } },
    load: () => import('./commands/undo.ts'),
  },
  ...LEDGER_COMMANDS,
  {
    name: 'check',
    group: 'contracts',
    act: 'look',
    args: '[FILE] [--strict]',
    words: [0, 1],
    summary: 'static checks of loadouts and materia, all issues at once',
    help: `--strict        warnings count as errors
Without FILE: .baton/config.json, or what comes with baton where there is none. Exit: 0 no errors, 1 errors.`,
    example: 'baton check .baton/config.json --strict',
    options: { strict: { type: 'boolean' } },
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'validate',
    group: 'contracts',
    act: 'look',
    args: 'KIND [--strict] [--jsonl] [--registry DIR] [--options JSON] [FILE]',
    words: [1, 2],
    summary: 'check one payload against a contract',
    help: `--strict        operator/*: refuse unknown fields without x_; governed/handoff: refuse unknown members;
                no effect on materia and gaia
--jsonl         answer every line of standard input, {"id", "input" | "input_raw", "options"?}, in order
--registry      the folder of the registry, for governed/handoff
--options       the options of the kind, as a JSON object
Without FILE, or with -: standard input. The answer is always JSON. Exit: 0 allowed, 1 denied.`,
    example: 'baton validate materia answer.txt',
    options: {
      strict: { type: 'boolean' },
      jsonl: { type: 'boolean' },
      registry: { type: 'string' },
      options: { type: 'string' },
    },
    load: () => import('./commands/validate.ts'),
  },
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
    load: () => import('./commands/registry.ts'),
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
    load: () => import('./commands/handoff.ts'),
  },
  {
    name: 'context',
    group: 'contracts',
    act: { '': 'look', set: 'decide', revert: 'decide' },
    args: 'show [SECTION] | diff SECTION [V1 [V2]] | history SECTION | revert SECTION --to V --reason TEXT | set SECTION FILE',
    words: [0, 4],
    summary: 'what the workspace knows, section by section, and how it came to be',
    help: `show            the sections, or the one that is named
diff            what its last version changed; what came since V1; what differs between V1 and V2
history         every version, and every write that was refused: who, when, in which turn
revert          --to V --reason TEXT: give it the value of an earlier version again; 0 is nothing at all
set             merge a JSON object from FILE into it (- is standard input); with --replace in its place

--to            the version to go back to
--reason        why, for the log
--replace       with set: what is not in FILE goes
Agents write with update_contracts in their reports; set and revert are for people. Exit: 0 done, 1 denied.`,
    example: 'baton context revert services --to 3 --reason "the port was a guess"',
    options: { to: { type: 'string' }, reason: { type: 'string' }, replace: { type: 'boolean' } },
    load: () => import('./commands/context.ts'),
  },
  {
    name: 'memory',
    group: 'contracts',
    act: { '': 'look', accept: 'decide', drop: 'decide' },
    args: 'list [--all] | accept ID [--section SECTION] | drop ID --reason TEXT',
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
    load: () => import('./commands/memory.ts'),
  },
  {
    name: 'explain',
    group: 'contracts',
    act: 'look',
    args: '[CODE]',
    words: [0, 1],
    summary: 'what a code means and what to do about it; without CODE, all of them',
    example: 'baton explain LOCK_CONFLICT',
    options: {},
    load: () => import('./commands/explain.ts'),
  },
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
    load: () => import('./commands/mcp.ts'),
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
    load: () => import('./commands/token.ts'),
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
    load: () => import('./commands/hook.ts'),
  },
  {
    name: 'install',
    group: 'contracts',
    act: 'govern',
    args: 'claude|codex|pi [--report-only | --skill] [--undo] [--yes]',
    words: [1, 1],
    summary: 'write the hooks and the MCP server into the settings of an agent, after showing what changes',
    help: `--report-only   hooks that let everything through and write down what they would have refused
--skill         claude: instead, a skill file that teaches how to report with an agent_contract_handoff
--undo          take everything back: files that were not touched since become what they were
--yes           write without asking; without a terminal nothing is written otherwise
What is there stays. Nothing is written through a link. Exit: 0 written or in place, 2 not written.`,
    example: 'baton install claude',
    options: {
      'report-only': { type: 'boolean' },
      skill: { type: 'boolean' },
      undo: { type: 'boolean' },
      yes: { type: 'boolean' },
    },
    load: () => import('./commands/install.ts'),
  },
  {
    name: 'log',
    group: 'history',
    act: 'look',
    args: '[--after N] [--cast CAST]',
    words: [0, 0],
    summary: 'what happened, entry by entry',
    help: `--after         the entries after this sequence number; 0 is everything
--cast          of one cast only
Without either: the last 50; with --json everything.`,
    example: 'baton log --after 0 --json',
    options: { after: { type: 'string' }, cast: { type: 'string' } },
    load: () => import('./commands/log.ts'),
  },
  {
    name: 'audit',
    group: 'history',
    act: { '': 'look', checkpoint: 'steer' },
    args: 'verify | prove SEQ [--to SIZE] | prove --from SIZE [--to SIZE] | checkpoint | key',
    words: [1, 2],
    summary: 'whether the history is as it was written; proofs and signed checkpoints of it',
    help: `verify          everything: chain, texts, indexes, and every signed checkpoint that is known here
prove SEQ       that an entry is in the log, for whoever has a checkpoint of it and not the log
prove --from    that the log of --to SIZE entries begins with that of --from SIZE entries
checkpoint      sign the log as it stands; every cast that ends does it too
key             the public key of this user, for whoever is to check what he signed
--checkpoint    a file with checkpoints that were kept elsewhere, to verify against
--key           a public key to trust, beside your own and those of trusted-keys.txt
Denied (TAMPERED) with details.seq and details.kind where something is wrong; a copy outside that is gone is a warning.
Exit: 0 whole, 1 denied.`,
    example: 'baton audit verify',
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      checkpoint: { type: 'string' },
      key: { type: 'string' },
    },
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'export',
    group: 'history',
    act: 'govern',
    args: 'CAST -o FILE [--redact DIGEST|TEXT|secrets]…',
    words: [1, 1],
    summary: 'one cast as evidence, in one file that anybody can verify offline',
    help: `--output, -o    the file to write, such as run.baton
--redact        leave out the text with this digest, every text and fact that holds these words, or, with the word
                secrets, whatever looks like a credential; may be said several times
What is left out is replaced by its digest, and the file verifies all the same. Denied where a credential would go out in clear.`,
    example: 'baton export latest -o run.baton',
    options: { output: { type: 'string', short: 'o' }, redact: { type: 'string', multiple: true } },
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'verify',
    group: 'history',
    act: 'look',
    args: 'FILE [--key KEY]',
    words: [1, 1],
    summary: 'whether an exported file is what was signed',
    help: `--key           the public key that must have signed it, as \`baton audit key\` prints it
Without it: whether the key is one that you trust is told and not required. verifier/verify.mjs checks the same without baton.
Exit: 0 whole, 1 denied.`,
    example: 'baton verify run.baton',
    options: { key: { type: 'string' } },
    load: () => import('./commands/verify.ts'),
  },
  {
    name: 'trace',
    group: 'history',
    act: 'look',
    args: 'FILE | CAST | DIGEST | HANDOFF',
    words: [1, 1],
    summary: 'from a changed file or a result back to what is behind it, and forward from a prompt',
    help: `FILE            the turns that changed it, and those that handed on to them, with prompt, brief, model and decisions
CAST            all turns of a cast in the same way
DIGEST          sha256:… of a prompt, a brief, an output or a file: every turn it took part in, and the files they changed;
                of a prompt, as the lock names it, also every foreign handoff that claims it
HANDOFF         the turn that was handed to under this id and those that it led to, or what became of a foreign handoff
Digests are those of the log; \`baton audit prove\` proves the entries that are named.`,
    example: 'baton trace src/api.ts',
    options: {},
    load: () => import('./commands/trace.ts'),
  },
  {
    name: 'gc',
    group: 'history',
    act: 'govern',
    args: '[--older-than AGE] [--stopped] [--digest DIGEST]… [--worktrees [--force]] [--dry-run]',
    words: [0, 0],
    summary: 'erase old texts of casts that are over, without breaking any proof, and clear their worktrees away',
    help: `--older-than    casts that ended before, such as 12h, 30d (the default) or 8w
--stopped       failed and aborted casts too; they cannot be carried on afterwards
--digest        this text, wherever what it belongs to is over, whatever its age; may be said several times. Refused where it
                is nowhere, or only where something is not over
--worktrees     only worktrees, of any age unless it is said; one with work that is nowhere else stays
--force         with --worktrees: also where unmerged commits or uncommitted files are lost
--dry-run       say what would go, and let it be
Each text that goes is said in the log by its digest, and reads [erased] from then on.`,
    example: 'baton gc --older-than 90d --dry-run',
    options: {
      'older-than': { type: 'string' },
      stopped: { type: 'boolean' },
      digest: { type: 'string', multiple: true },
      worktrees: { type: 'boolean' },
      force: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
    },
    load: () => import('./commands/gc.ts'),
  },
];
