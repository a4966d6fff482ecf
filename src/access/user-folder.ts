// The user's own configuration folder, outside every workspace: the signing key, trusted keys and tokens. Its content counts only if
// no other user could have read or replaced it.
import { type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Denied } from '../kernel/verdict.ts';

/** What was read from the user's folder, or the refusal. */
export type UserRead<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly verdict: Denied };

export function userFolder(env: NodeJS.ProcessEnv): string {
  if (env.BATON_CONFIG) return resolve(env.BATON_CONFIG);
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'baton');
}

/** Why others can access the folder and how to fix it, or null if it is private. */
export function whyFolderUnsafe(folder: string): string | null {
  const open = whyOpen(statSync(folder), 0o077);
  return open ? `${folder} ${open}; \`chmod 700 ${folder}\` fixes that` : null;
}

/** Why others can access it, or null. `forbidden` are the bits that must not be set. */
export function whyOpen({ mode, uid }: Stats, forbidden: number): string | null {
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) return `belongs to another user (${uid})`;
  return (mode & forbidden) === 0 ? null : `is open to other users (mode ${(mode & 0o777).toString(8)})`;
}
