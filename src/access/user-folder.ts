// The folder of the user's own configuration, outside of every workspace: his signing key, whom he trusts, his tokens. What
// lies in it counts only where nobody else could have read or replaced it.
import { type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export function userFolder(env: NodeJS.ProcessEnv): string {
  if (env.BATON_CONFIG) return resolve(env.BATON_CONFIG);
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'baton');
}

/** Why a folder is not for this user alone, and what closes it; null where it is. */
export function whyFolderUnsafe(folder: string): string | null {
  const open = whyOpen(statSync(folder), 0o077);
  return open ? `${folder} ${open}; \`chmod 700 ${folder}\` closes it` : null;
}

/** Why others have to do with it, or null. `forbidden` are the bits that must not be set. */
export function whyOpen({ mode, uid }: Stats, forbidden: number): string | null {
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) return `belongs to another user (${uid})`;
  return (mode & forbidden) === 0 ? null : `is open to other users (mode ${(mode & 0o777).toString(8)})`;
}
