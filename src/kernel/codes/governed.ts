// Codes of the trust layer: registry, envelopes, boundaries.
import type { CodeRow } from './row.ts';

export const GOVERNED_CODES = {
  REGISTRY_UNUSABLE: {
    http: 503,
    retry: 'person',
    means: 'the registry is missing, unreadable or inconsistent',
    fix: 'restore the manifest and the lock, then `baton registry verify`',
  },
} as const satisfies Record<string, CodeRow>;
