// `baton-run/contracts`: the validators. The names stand here because an import has to find them without running anything.
import { own } from './own.js';

export const { CODES, KINDS, brief, contract, read, repair, validate } = own('contracts');
