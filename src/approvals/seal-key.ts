// The key that seals approvals, in the user's own folder. It is made on first use and not used where others could have read
// or replaced it. A seal can be checked only with the key, and cannot be guessed without it.
import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, realpathSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userFolder, whyFolderUnsafe, whyOpen } from '../access/user-folder.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

const KEY_FILE = 'approval-key';
const MARK_CHARS = 32;

export type SealKey = {
  /** Tells keys apart. */
  readonly id: string;
  /** In hexadecimal digits. `label` keeps seals of different things apart. */
  seal(label: string, text: string): string;
  /** A short seal, for a part of something. */
  mark(label: string, text: string): string;
};

export function openSealKey(env: NodeJS.ProcessEnv): SealKey | Denied {
  const folder = userFolder(env);
  const file = join(folder, KEY_FILE);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unsafe = whyFolderUnsafe(folder);
    if (unsafe) return deny('KEY_UNSAFE', unsafe);
    if (!statSync(file, { throwIfNoEntry: false })) makeKey(folder, file);
    const open = whyOpen(statSync(file), 0o077);
    if (open)
      return deny('KEY_UNSAFE', `${file} ${open}; \`chmod 600 ${file}\` closes it, or move it away for a new one`);
    const text = readFileSync(file, 'latin1').trim();
    if (/^[0-9a-f]{64}$/.test(text)) return sealKey(Buffer.from(text, 'hex'));
    return deny('KEY_UNSAFE', `${file} holds no key; move it away for a new one`);
  } catch (error) {
    return deny('KEY_UNSAFE', `${file} cannot be used (${(error as Error).message}); mend it, or move it away`);
  }
}

/** The key that is there; null where there is none, or none that may be used. Nothing is made. */
export function findSealKey(env: NodeJS.ProcessEnv): SealKey | null {
  if (!statSync(join(userFolder(env), KEY_FILE), { throwIfNoEntry: false })) return null;
  const key = openSealKey(env);
  return 'allow' in key ? null : key;
}

export function sealKey(bytes: Buffer): SealKey {
  const seal = (label: string, text: string) =>
    createHmac('sha256', bytes).update(`${label}\0${text}`, 'utf8').digest('hex');
  return {
    id: hash('sha256', seal('id', ''), 'hex').slice(0, 12),
    seal,
    mark: (label, text) => seal(label, text).slice(0, MARK_CHARS),
  };
}

/** Of several processes that make the first key at once, one does; the others use that one. */
function makeKey(folder: string, file: string): void {
  const own = join(folder, `.${KEY_FILE}.${randomUUID()}`);
  writeFileSync(own, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(own);
  }
}

// Tells a log apart from every copy of it: where it really lies, and which file it is there. An approval holds in the log it
// was asked in, because only there is it known whether it was used.
/** As the log itself names it; what is judged here must not reach into how the log is kept. */
const LOG_FILE = 'log.sqlite';

export function logIdentity(stateDir: string): string {
  const file = join(stateDir, LOG_FILE);
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${realpathSync(file)}\n${dev}:${ino}`;
  } catch {
    return `${file}\nabsent`;
  }
}
