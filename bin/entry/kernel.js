// `baton-run/kernel`: the rules. The names stand here because an import has to find them without running anything.
import { own } from './own.js';

export const {
  CODES,
  FACT_VERSION,
  allow,
  apply,
  check,
  decide,
  deny,
  emptyState,
  issuesOf,
  keyOf,
  packetOf,
  pending,
  resolve,
} = own('kernel/index');
