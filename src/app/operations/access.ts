// Who may do what: tokens, and folders that are trusted.
import { ROLES } from '../../access/rights.ts';
import type { OperationEntry } from '../operation.ts';

const BY_PEOPLE = { leftOut: 'who may do what is decided by people, by the command line or the library' } as const;
const MAY = 'say who may do what';

export const ACCESS = {
  'token.create': {
    name: 'token.create',
    group: 'access',
    act: 'govern',
    peopleOnly: MAY,
    means: 'make a token and show it, once; only its digest is kept',
    example: 'baton token create --role operator --name ci --expires 30d',
    fields: {
      role: {
        type: 'choice',
        of: ROLES,
        noun: 'role',
        value: 'ROLE',
        required: true,
        means:
          'viewer looks; operator also starts casts and works on the ledger; approver also decides what waits for a person; admin may do everything',
        example: 'operator',
      },
      name: { type: 'text', value: 'NAME', means: 'what the log calls whoever uses it: token:NAME', example: 'ci' },
      expires: {
        type: 'text',
        value: 'WHEN',
        means: 'a time, or a span such as 12h or 30d; without it the token is good until it is revoked',
        example: '30d',
      },
    },
    mcp: BY_PEOPLE,
  },
  'token.list': {
    name: 'token.list',
    group: 'access',
    act: 'govern',
    peopleOnly: MAY,
    means: 'every token with its role, and whether it can still be used',
    example: 'baton token list',
    fields: {},
    mcp: BY_PEOPLE,
  },
  'token.revoke': {
    name: 'token.revoke',
    group: 'access',
    act: 'govern',
    peopleOnly: MAY,
    means: 'from then on nobody acts under it; its name is never given again',
    example: 'baton token revoke ci',
    fields: { name: { type: 'text', word: 'NAME', required: true, means: 'the name of the token', example: 'ci' } },
    mcp: BY_PEOPLE,
  },
  trust: {
    name: 'trust',
    group: 'access',
    act: 'govern',
    peopleOnly: 'trust a folder',
    means: 'let the commands run that this folder brings along',
    example: 'baton trust',
    fields: {},
    mcp: BY_PEOPLE,
  },
} as const satisfies Readonly<Record<string, OperationEntry>>;
