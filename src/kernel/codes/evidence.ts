// Codes of the log as evidence: what an auditor finds, and what keeps a proof from being made.
import type { CodeRow } from './row.ts';

export const EVIDENCE_CODES = {
  TAMPERED: {
    http: 500,
    retry: 'person',
    means: 'the history, or a part of it that was handed out, is not what was written',
    cause:
      'somebody or some fault changed, removed, added or moved bytes of the log, its texts, a checkpoint or a bundle',
    fix: 'look at details.seq and details.kind, keep the file as it is for whoever investigates, and restore a copy that verifies',
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
} as const satisfies Record<string, CodeRow>;
