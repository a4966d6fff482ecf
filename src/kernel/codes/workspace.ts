// Codes of a workspace: who may act, the HTTP server, the log as evidence, and worktrees.
import { type CodeRow, row } from './row.ts';

/** Who may act, and as whom. */
export const ACCESS_CODES = {
  TOKEN_UNKNOWN: {
    http: 401,
    retry: 'person',
    means: 'there is no such token',
    cause: 'a token was shown or named that this user never made, or it was copied incompletely',
    fix: '`baton token list` shows which there are; `baton token create --role ROLE` makes one, and shows it once',
  },
  TOKEN_EXPIRED: {
    http: 401,
    retry: 'person',
    means: 'the token was good until a moment that is over',
    cause: 'it was made with --expires',
    fix: 'let a person make another one with `baton token create`',
  },
  TOKEN_REVOKED: {
    http: 401,
    retry: 'person',
    means: 'the token was taken back',
    cause: 'a person gave `baton token revoke`',
    fix: 'let a person make another one with `baton token create`',
  },
  TOKEN_EXISTS: {
    http: 409,
    retry: 'person',
    means: 'the name of the token is taken',
    cause: 'there is or was a token of this name; the log names who acted by it, so that it is never given twice',
    fix: 'choose another name',
  },
  ROLE_TOO_LOW: {
    http: 403,
    retry: 'person',
    means: 'the token may not do that',
    cause: 'its role is viewer, operator or approver, and what was asked for needs a higher one',
    fix: 'use a token with the role that details.needed names',
  },
} as const satisfies Record<string, CodeRow>;

/** Codes of the HTTP server: requests that reach no operation. */
export const SERVER_CODES = {
  UNKNOWN_ROUTE: row(
    404,
    'never',
    'the server has nothing at this address',
    'the path or the name of the operation is wrong',
    '`GET /api` lists the operations; `GET /api/openapi.json` describes every route',
  ),
  METHOD_NOT_ALLOWED: row(
    405,
    'never',
    'the address does not take this method',
    'an operation that changes something was asked for with GET, or a page of data with POST',
    'call operations with POST; GET is for those that only look',
  ),
  FOREIGN_ORIGIN: row(
    403,
    'never',
    'a page or a name of another machine was turned away',
    'the Origin or Host header of the request names something that is not this server',
    'open the page at the address that `baton ui` prints; behind a proxy, name its address with --public-url',
  ),
  REQUEST_TOO_LARGE: row(
    413,
    'never',
    'the request is larger than the server takes',
    'the body has more than 16 MiB, or the query more than 16 KiB',
    'send less; name a file of the workspace instead of its text',
  ),
  TOO_MANY_REQUESTS: row(
    429,
    'later',
    'the caller asks more often than the server answers',
    'too many requests or streams at once, or too many wrong tokens in a short time',
    'wait for the seconds that the Retry-After header names, then go on more slowly',
  ),
  UNKNOWN_TEXT: row(
    404,
    'never',
    'the entry has no such text',
    'the sequence number or the digest of the address is wrong',
    'take both from the reference of the text: {"digest", "seq"}',
  ),
  METRICS_NOT_READY: row(
    503,
    'later',
    'the figures of a long log are not counted yet',
    'the server has just begun, and counts the whole log once',
    'ask again; a log of a million entries takes some seconds',
  ),
  SERVER_UNREACHABLE: row(
    503,
    'later',
    'the client gets no answer from the server, or one that is no verdict',
    'no server runs at the address, the address is wrong, or something between answers in its place',
    'start it with `baton serve`, and give the client the address that it prints',
  ),
  PAGE_NOT_BUILT: row(
    503,
    'later',
    'the files of the page are not there',
    'this is a checkout and the page was never built',
    'run `npm run build:webui`: `baton ui` and `baton serve` build it on its first use, and that failed',
  ),
} as const satisfies Record<string, CodeRow>;

/** Codes of the log as evidence: what an auditor finds, and what keeps a proof from being made. */
export const EVIDENCE_CODES = {
  TAMPERED: {
    http: 409,
    retry: 'person',
    means: 'the history, or a part of it that was handed out, is not what was written',
    cause:
      'somebody or some fault changed, removed, added or moved bytes of the log, its texts, a checkpoint or a bundle',
    fix: 'look at details.seq and details.kind, keep the file as it is for the investigation, and restore a copy that verifies; where the workspace was begun again on purpose, remove the file that `baton audit outside` names',
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

/** Codes of the worktrees in which casts work. */
export const WORKTREE_CODES = {
  WORKTREE_UNUSABLE: {
    http: 409,
    retry: 'person',
    means: 'the worktree of a cast cannot be made, found or set up',
    cause: 'git refused, the set-up step failed, or the folder or its branch was removed by hand',
    fix: 'the reason says what is wrong; correct it and `baton continue CAST`, drop the cast with `baton undo CAST`, or cast with --in-place',
  },
  MERGE_CONFLICT: {
    http: 409,
    retry: 'person',
    means: 'what a cast did and what happened since cannot be joined without a person',
    cause:
      'the files named in details were changed both by the cast and in the branch it is merged into; or by an item beside others and by those that were finished since it began',
    fix: 'of a cast nothing was changed: merge with `git merge baton/CAST` and resolve the conflicts, then `baton undo CAST` clears the rest away; an item gets it back as rework, and where it stays blocked `baton diff CAST --lane N` shows it: resolve it there, then `baton continue CAST`',
  },
  UNKNOWN_LOADOUT: row(
    404,
    'never',
    'there is no such loadout',
    'its name is misspelt, or it was removed',
    'details.known lists the loadouts that are there',
  ),
  LOADOUT_EXISTS: row(
    409,
    'person',
    'the name of the loadout is taken',
    'a loadout of that name is in config.json, in .baton/loadouts or among those that come with the product',
    'choose another name',
  ),
  LOADOUT_READ_ONLY: row(
    409,
    'person',
    'the loadout cannot be changed where it is',
    'it comes with the product, or it is a program in TypeScript',
    '`baton loadout duplicate NAME --as OTHER` makes a copy in the project that can be changed',
  ),
  TESTS_FAILED: row(
    422,
    'repaired',
    'a recorded trial of a loadout takes another path than before',
    'the loadout, a contract or a rule changed, so that the same answers lead elsewhere',
    'details.tests says where the paths part; repair the loadout, or record the trial again where the new path is meant',
  ),
  LOADOUT_CHANGED: row(
    409,
    'person',
    'a file of the loadout changed since it was opened, and nothing was written',
    'another editor, a person or a program wrote the file meanwhile',
    'details.files has both texts; details.merged what both changed, with details.conflicts to decide. Open it again, or save the merge',
  ),
  UNDO_INCOMPLETE: {
    http: 409,
    retry: 'person',
    means: 'a cast could not be taken back whole',
    cause: 'files that it changed were changed again since, or no copy of them was kept',
    fix: 'details.left names the files that stay as they are; put them back by hand. The others are taken back',
  },
  CHECKS_FAILED: {
    http: 422,
    retry: 'repaired',
    means: 'a checker of the project is red',
    cause: 'an agent handed in work, or a cast is to be merged, on which a checker of the configuration fails',
    fix: 'repair what details.checks names; an agent may submit again without a change, and `baton merge CAST --unchecked` merges all the same',
  },
  FOLDER_UNTRUSTED: {
    http: 403,
    retry: 'person',
    means: 'commands would run in the folder, and no person has trusted it',
    cause:
      'worktree.setup or checkers of its configuration, or filters or merge drivers in its .git/config, would run; or .git/config changed since the folder was trusted',
    fix: 'look at the commands in details; then `baton trust` in the folder lets them run',
  },
} as const satisfies Record<string, CodeRow>;
