// Commands on the log: reading, proving, exporting, tracing, erasing.
import type { Command } from '../command.ts';
import { operationCommand, showBy } from '../operation-command.ts';

/** People get the last entries unless they say which ones; scripts get all. */
const SHOWN_BY_DEFAULT = 50;

export const HISTORY_COMMANDS: readonly Command[] = [
  operationCommand(
    {
      name: 'log',
      summary: 'what happened, entry by entry',
      note: 'Without either: the last 50; with --json everything.',
      shownBy: showBy(({ json }) => ({ name: 'log', ...(json ? {} : { more: { last: SHOWN_BY_DEFAULT } }) })),
    },
    ['log'],
  ),
  operationCommand({ name: 'usage', summary: 'what agents used: tokens and cost by day, agent and model' }, [
    'usage.days',
  ]),
  operationCommand(
    {
      name: 'audit',
      summary: 'whether the history is as it was written; proofs and signed checkpoints of it',
      note: `Denied (TAMPERED) with details.seq and details.kind where something is wrong; a copy outside that is gone is a warning.
Exit: 0 whole, 1 denied.`,
    },
    ['audit.verify', 'audit.prove', 'audit.checkpoint', 'audit.key', 'audit.outside'],
  ),
  operationCommand(
    {
      name: 'export',
      summary: 'one cast as evidence, in one file that anybody can verify offline',
      note: `--redact may be said several times.
What is left out is replaced by its digest, and the file verifies all the same. Denied where a credential would go out in clear.`,
    },
    ['export'],
  ),
  operationCommand(
    {
      name: 'verify',
      summary: 'whether an exported file is what was signed',
      note: `Without --key: whether the key is one that you trust is told and not required. verifier/verify.mjs checks the same without baton.
Exit: 0 whole, 1 denied.`,
    },
    ['verify'],
  ),
  operationCommand(
    {
      name: 'trace',
      summary: 'the turns behind a changed file or a result, and those after a prompt',
      note: `FILE            the turns that changed it, and those that handed on to them, with prompt, brief, model and decisions
CAST            all turns of a cast in the same way
DIGEST          sha256:… of a prompt, a brief, an output or a file: every turn it took part in, and the files they changed;
                of a prompt, as the lock names it, also every foreign handoff that claims it
HANDOFF         the turn that was handed to under this id and those that it led to, or what became of a foreign handoff
Digests are those of the log; \`baton audit prove\` proves the entries that are named.`,
    },
    ['cast.trace'],
  ),
  operationCommand(
    {
      name: 'gc',
      group: 'history',
      summary: 'erase old texts of casts that are over, without breaking any proof, and clear their worktrees away',
      note: `--digest may be said several times.
Each text that goes is said in the log by its digest, and reads [erased] from then on.`,
    },
    ['gc'],
  ),
];
