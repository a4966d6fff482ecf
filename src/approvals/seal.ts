// The user's key, and the seal that a person's decision gets with it. The key is made on first use. It is not used if others
// could have read or replaced it. Nobody can make or check a seal without the key, so a decision appended to the log by hand
// has none.
import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, realpathSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userFolder, whyFolderUnsafe, whyOpen } from '../access/user-folder.ts';
import type { ApprovalRequest, SealedDecision } from '../kernel/approval/request.ts';
import { type Approval, decisionText, grantText, lastRounds, lostUses } from '../kernel/approval/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

const KEY_FILE = 'approval-key';
const MARK_CHARS = 32;

export type SealKey = {
  /** Identifies the key. */
  readonly id: string;
  /** Hexadecimal digits. `label` separates seals of different kinds. */
  seal(label: string, text: string): string;
  /** A short seal for one part. */
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
      return deny(
        'KEY_UNSAFE',
        `${file} ${open}; \`chmod 600 ${file}\` fixes that, or move the file away to get a new key`,
      );
    const text = readFileSync(file, 'latin1').trim();
    if (/^[0-9a-f]{64}$/.test(text)) return sealKey(Buffer.from(text, 'hex'));
    return deny('KEY_UNSAFE', `${file} holds no key; move it away to get a new key`);
  } catch (error) {
    return deny('KEY_UNSAFE', `${file} cannot be used (${(error as Error).message}); correct that, or move it away`);
  }
}

/** The existing key, or null if there is none that may be used. It makes no key. */
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

/** If several processes make the first key at once, one wins and the others use that key. */
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

/** The log's own name for its file. */
const LOG_FILE = 'log.sqlite';

/** Tells a log from its copies by path and inode. An approval holds only in its own log, which knows whether it was used. */
export function logIdentity(stateDir: string): string {
  const file = join(stateDir, LOG_FILE);
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${realpathSync(file)}\n${dev}:${ino}`;
  } catch {
    return `${file}\nabsent`;
  }
}

type Choice = Pick<Extract<ApprovalRequest, { kind: 'approval.decide' }>, 'choice' | 'again' | 'gone'>;
type Sealing = Pick<Extract<ApprovalRequest, { kind: 'approval.decide' }>, 'sealing' | 'isUnsealed'>;

export function sealDecision(
  approval: Approval,
  { choice, again, gone }: Choice,
  { by, now, key }: { readonly by: string; readonly now: number; readonly key: SealKey },
): Sealing | Denied {
  const { id, sealed, grant } = approval;
  if (sealed.keyId !== key.id) {
    // A rejection needs no seal. An approval under another key would run nothing.
    if (choice === 'reject') return {};
    const reason = `${id} was sealed with key ${sealed.keyId}, and yours is ${key.id}, so your approval would not count. Decide as the user and with the BATON_CONFIG of the request, or have it requested again`;
    return deny('DECISION_UNSEALED', reason, { approval: id });
  }
  if (choice === 'reject') {
    const text = decisionText(approval, { verdict: 'rejected', by, until: null });
    return { sealing: { until: now, decision: sealedText(text, key) } };
  }
  const isUnsealed = grant !== null && sealedGrant(approval, key)?.mac !== grant.mac;
  const lost = grant && again ? lostUses(approval, gone) : [];
  const rounds = lost.length > 0 ? { again: lastRounds(approval, lost) } : {};
  const until = now + sealed.grantMs;
  const text = decisionText(approval, { verdict: 'approved', by, until, ...rounds });
  return { sealing: { until, decision: sealedText(text, key) }, ...(isUnsealed ? { isUnsealed } : {}) };
}

/** The decision with the seal that it must have, or null if there is no decision. */
export function sealedGrant(approval: Approval, key: SealKey): SealedDecision | null {
  const text = grantText(approval);
  return text === null ? null : sealedText(text, key);
}

export function sealedText(text: string, key: SealKey): SealedDecision {
  return { text, mac: key.seal('decision', text) };
}
