// Commands on the log: reading, proving, exporting, tracing, erasing.
import type { Command } from '../command.ts';

export const HISTORY_COMMANDS: readonly Command[] = [
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
    load: () => import('../commands/log.ts'),
  },
  {
    name: 'audit',
    group: 'history',
    act: { '': 'look', checkpoint: 'steer' },
    args: 'verify | prove SEQ [--to SIZE] | prove --from SIZE [--to SIZE] | checkpoint | key | outside',
    words: [1, 2],
    summary: 'whether the history is as it was written; proofs and signed checkpoints of it',
    help: `verify          everything: chain, texts, indexes, and every signed checkpoint that is known here
prove SEQ       that an entry is in the log, for whoever has a checkpoint of it and not the log
prove --from    that the log of --to SIZE entries begins with that of --from SIZE entries
checkpoint      sign the log as it stands; every cast that ends does it too
key             the public key of this user, for whoever is to check what he signed
outside         the file with the checkpoints of this workspace that are kept outside of it
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
    load: () => import('../commands/audit.ts'),
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
    load: () => import('../commands/export.ts'),
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
    load: () => import('../commands/verify.ts'),
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
    load: () => import('../commands/trace.ts'),
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
    load: () => import('../commands/gc.ts'),
  },
];
