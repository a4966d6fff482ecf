// Codes of the log as evidence: what an auditor finds, and what keeps a proof from being made.
import type { CodeRow } from './row.ts';

export const EVIDENCE_CODES = {
  TAMPERED: {
    http: 500,
    retry: 'person',
    means: 'the history, or a part of it that was handed out, is not what was written',
    cause:
      'somebody or some fault changed, removed, added or moved bytes of the log, its texts, a checkpoint or a bundle',
    fix: 'look at details.seq and details.kind, keep the file as it is for whoever investigates, and restore a copy that verifies; where the workspace was begun anew on purpose, remove the file that `baton audit outside` names',
  },
  KEY_UNSAFE: {
    http: 403,
    retry: 'person',
    means: 'the key that signs checkpoints could be read or replaced by others, or cannot be read at all',
    cause:
      'the configuration folder or the key file in it is open to other users, belongs to one of them, or is damaged',
    fix: 'give the folder mode 700 and the key mode 600; where others had it, move it away, and a new one is made',
  },
  EXPORT_HOLDS_SECRET: {
    http: 422,
    retry: 'person',
    means: 'what was asked to be exported holds a credential in clear',
    cause:
      'a prompt, a script or another text that people wrote themselves has something in it that looks like a key or password',
    fix: 'name the digests of details.texts with --redact, or use --redact secrets; change the credential as well',
  },
  TEXT_ERASED: {
    http: 410,
    retry: 'never',
    means: 'the cast cannot be carried on, because texts that it needs were erased',
    cause: '`baton gc` erased them, by age with --stopped or by their digest, after the cast had stopped',
    fix: 'start a new cast with the same request; what was erased is gone for good',
  },
  COMMAND_HOLDS_SECRET: {
    http: 422,
    retry: 'repaired',
    means: 'a command of the configuration holds a credential in clear',
    cause:
      'the command, arguments or params of a materia have something in them that looks like a key or password; a cast keeps it out of its log, in a file for its owner only',
    fix: 'put the credential into an environment variable and let the program read it there',
  },
} as const satisfies Record<string, CodeRow>;
