// Commands on payloads, configurations, the registry and agents.
import type { Command } from '../command.ts';
import { MANY, oneOperation, operationCommand } from '../operation-command.ts';

export const CONTRACTS_COMMANDS: readonly Command[] = [
  oneOperation('check', {
    note: 'Exit: 0 no errors, 1 errors.',
  }),
  oneOperation('config.explain', {
    group: 'contracts',
    note: `Layers, from the lowest: bundled, administrator (/etc/baton/config.json), user, project, file (--file), flags (--set).
An object is merged member by member, null deletes, and a key in \`locked\` of the user or administrator may be set by no higher layer.`,
  }),
  operationCommand(
    {
      name: 'import',
      group: 'contracts',
      summary:
        'take a configuration of another program over; shows what it becomes, and what could not be carried over',
      note: `An existing .baton/config.json keeps what it has; new entries are added with --replace.
Exit: 0 written, 1 refused, 2 not written.`,
      shownBy: () => import('../commands/propose.ts').then((file) => file.importCommand),
    },
    ['import.materia'],
  ),
  oneOperation('compile'),
  oneOperation('loadout.list', {
    summary: 'the loadouts that `cast -l` takes here: your own, and those that come with Baton',
  }),
  operationCommand(
    {
      name: 'loadout',
      group: 'contracts',
      summary: 'loadouts as the editor of the page works on them: open, check, print, save, duplicate',
      note: `FILE holds what \`loadout open\` answers, changed: the document, with the digests of the files that it was read from. A file
that changed meanwhile is a conflict and stays. Comments, order and unknown x_ fields stay, too.`,
    },
    ['loadout.open', 'loadout.check', 'loadout.print', 'loadout.save', 'loadout.duplicate'],
  ),
  operationCommand(
    {
      name: 'test',
      group: 'contracts',
      summary: 'recorded trials of loadouts, played again: the same answers must take the same path',
      note: 'No agent and no command is run. Exit: 0 all passed, 1 a path differs.',
    },
    ['loadout.test', 'loadout.record'],
  ),
  oneOperation('graph', {
    summary: 'a picture of a loadout, or of a cast and the way it took',
  }),
  {
    name: 'completion',
    group: 'contracts',
    act: 'look',
    args: 'bash | zsh | fish',
    words: [1, MANY],
    summary: 'a script that completes commands, options and their values in your shell',
    help: `Add the line to the start file of the shell: eval "$(baton completion bash)"; for fish: baton completion fish | source
The script asks \`baton completion words -- WORD…\` what may come next: one value on each line, a tab, what it means.`,
    example: 'baton completion bash',
    options: {},
    load: () => import('../completion.ts').then((file) => file.completionCommand),
  },
  oneOperation('validate', {
    note: `--jsonl         answer every line of standard input, {"id", "input" | "input_raw", "options"?}, in order
The answer is always JSON. Exit: 0 allowed, 1 denied.`,
    options: { jsonl: { type: 'boolean' } },
    shownBy: () => import('../commands/streams.ts').then((file) => file.validateCommand),
  }),
  operationCommand(
    {
      name: 'registry',
      group: 'contracts',
      summary: 'who exists, which prompts are pinned, what is blocked until a person has looked',
      note: 'Exit: 0 allowed, 1 denied.',
    },
    [
      'registry.lock',
      'registry.accept',
      'registry.verify',
      'registry.list',
      'registry.quarantine',
      'registry.release',
      'registry.import',
    ],
  ),
  operationCommand(
    {
      name: 'handoff',
      group: 'contracts',
      summary: 'judge a foreign handoff envelope, once; the verdict is written to the log',
      note: 'The answer is one verdict, as JSON. Exit: 0 allowed, 1 denied.',
    },
    ['handoff.verify'],
  ),
  operationCommand(
    {
      name: 'context',
      group: 'contracts',
      otherwise: 'context.show',
      summary: 'what the workspace knows, section by section, and how it came to be',
      note: 'Agents write with update_contracts in their reports; set and revert are for people. Exit: 0 done, 1 denied.',
    },
    ['context.show', 'context.diff', 'context.history', 'context.revert', 'context.set'],
  ),
  operationCommand(
    {
      name: 'memory',
      group: 'contracts',
      otherwise: 'memory.list',
      summary: 'what agents suggest to remember, for a person to accept or to drop',
      note: 'Only a person decides. Exit: 0 done, 1 denied.',
    },
    ['memory.list', 'memory.accept', 'memory.drop'],
  ),
  oneOperation('explain'),
  {
    name: 'serve',
    group: 'contracts',
    act: 'govern',
    args: '[--port N] [--public-url URL (--tls-cert FILE --tls-key FILE | --behind-proxy) [--host ADDRESS]]',
    words: [0, 0],
    summary: 'the server of the workspace: its page, its HTTP API and MCP on one port',
    help: `--port          the port; without it 4187, or a free one where that is taken
--host          the address to listen on (default: 127.0.0.1, this machine alone)
--public-url    the https address by which others call it
--tls-cert, --tls-key
                the certificate and its key; needed beyond this machine
--behind-proxy  another program adds TLS and passes requests on
Every request carries a token: one of \`baton token create\`, with its role; or that of BATON_MCP_TOKEN, else a new one
that is shown once, with which you act as yourself. An agent of a cast is refused. It runs until Ctrl-C.`,
    example: 'baton serve --port 8808',
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      'public-url': { type: 'string' },
      'tls-cert': { type: 'string' },
      'tls-key': { type: 'string' },
      'behind-proxy': { type: 'boolean' },
    },
    load: () => import('../serving.ts').then((file) => file.serveCommand),
  },
  {
    name: 'mcp',
    group: 'contracts',
    act: 'look',
    args: '[--http PORT]',
    words: [0, 0],
    summary: 'an MCP server: agents hand in their work by tool call, other clients start and follow casts',
    help: `--http          streamable HTTP on 127.0.0.1 instead of standard input and output; 0 takes a free port
Over HTTP every request carries a token: one of \`baton token create\`, with its role; or that of BATON_MCP_TOKEN, else a
new one that is shown once, with which you act as yourself.
With BATON_TOKEN the server acts as that token, within its role; --http takes the role admin.
Started by an agent of a cast, it offers that agent its own tools and none that steer casts.`,
    example: 'baton mcp --http 8808',
    options: { http: { type: 'string' } },
    load: () => import('../commands/mcp.ts').then((file) => (call) => file.serveMcp(call, null)),
  },
  operationCommand(
    {
      name: 'token',
      group: 'contracts',
      summary: 'who may use the HTTP server, and for what',
      note: 'For people only: refused to whatever an agent of a cast started.',
    },
    ['token.create', 'token.list', 'token.revoke'],
  ),
  oneOperation('hook', {
    group: 'contracts',
    note: `The event comes on standard input.
The protocol of Claude Code: exit 0 lets it through, exit 2 refuses with the reason on standard error. A fault refuses, too.`,
    shownBy: () => import('../commands/hook.ts').then((file) => file.hookCommand),
  }),
  oneOperation('install', {
    group: 'contracts',
    note: `--verify        claude: start Claude Code, try one forbidden write, and report whether the hook refused it
What is there stays, byte by byte. Nothing is written through a link.
Exit: 0 written, in place or refused as it should be; 1 refused, or --verify failed; 2 not written.`,
    options: { verify: { type: 'boolean' } },
    shownBy: () => import('../commands/setup.ts').then((file) => file.installCommand),
  }),
];
