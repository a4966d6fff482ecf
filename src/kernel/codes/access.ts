// Codes of access: who may act, and as whom.
import type { CodeRow } from './row.ts';

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
