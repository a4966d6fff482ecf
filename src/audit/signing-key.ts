// The key that signs checkpoints, in the user's configuration folder. It is made on first use, and it is not used where
// others could have read or replaced it.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { appendFileSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userFolder, whyFolderUnsafe, whyOpen } from '../access/user-folder.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { keyLine, type PublicKey, readKeyLines, type Signer, signerFromPem } from './note.ts';

const KEY_FILE = 'signing-key.pem';
/** Public keys that this user trusts, one on a line: his own, those he had before, those of people he works with. */
export const TRUSTED_FILE = 'trusted-keys.txt';

export type Found<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly verdict: Denied };

/** The signer of this user; made where there is none yet. */
export function openSigner(env: NodeJS.ProcessEnv): Found<Signer> {
  const folder = userFolder(env);
  const file = join(folder, KEY_FILE);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unsafe = whyFolderUnsafe(folder);
    if (unsafe) return refused(unsafe);
    if (!statSync(file, { throwIfNoEntry: false })) makeKey(folder, file);
    const open = whyOpen(statSync(file), 0o077);
    if (open) return refused(`${file} ${open}; \`chmod 600 ${file}\` closes it, or move it away for a new one`);
    const signer = signerFromPem(readFileSync(file, 'utf8'));
    trust(join(folder, TRUSTED_FILE), signer.publicKey);
    return { ok: true, value: signer };
  } catch (error) {
    return refused(`${file} cannot be used (${(error as Error).message}); mend it, or move it away for a new one`);
  }
}

/** Every public key that this user trusts. Nothing is made. */
export function trustedKeys(env: NodeJS.ProcessEnv): Found<readonly PublicKey[]> {
  const folder = userFolder(env);
  const file = join(folder, TRUSTED_FILE);
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found) return { ok: true, value: [] };
    const unsafe = whyFolderUnsafe(folder);
    if (unsafe) return refused(unsafe);
    const open = whyOpen(found, 0o022);
    if (open) return refused(`${file} ${open}; \`chmod 600 ${file}\` closes it, once you have looked at its lines`);
    return { ok: true, value: readKeyLines(readFileSync(file, 'utf8')) };
  } catch (error) {
    return refused(`${file} cannot be read (${(error as Error).message}); mend it`);
  }
}

/** Of several processes that make the first key at once, one does; the others use that one. */
function makeKey(folder: string, file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const own = join(folder, `.${KEY_FILE}.${randomUUID()}`);
  writeFileSync(own, pem, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(own);
  }
}

/** Before anything is signed: a signature by a key that is not known would look forged. */
function trust(file: string, key: PublicKey): void {
  const known = statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8') : '';
  if (!known.split('\n').includes(keyLine(key)))
    appendFileSync(file, `${keyLine(key)}\n`, { mode: 0o600, flush: true });
}

function refused(reason: string): { ok: false; verdict: Denied } {
  return { ok: false, verdict: deny('KEY_UNSAFE', reason) };
}
