// The approval policy in force: the `approvals` section of the configuration, its version, and the commands that nobody can
// approve.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ApprovalPolicy, DEFAULT_POLICY, policyOf } from '../kernel/approval/request.ts';
import { checkApprovals } from '../kernel/graph/check-config.ts';
import { canonicalJson, isObject, type Json } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { isFlagged } from '../shell/dangerous.ts';
import type { Invocation, ShellStep } from '../shell/programs.ts';
import { RISK_TABLE } from './risk-table.ts';

/** Refuses a section with an error, so that a misspelt tier does not count as no tier. */
export function readPolicy(configFile: string): ApprovalPolicy | Denied {
  let text: string;
  try {
    text = readFileSync(configFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return DEFAULT_POLICY;
    return refuse(configFile, `it cannot be read (${(error as Error).message})`);
  }
  try {
    const config: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (!isObject(config)) return refuse(configFile, 'it holds no object');
    const section = config.approvals ?? undefined;
    const [issue] = [...checkApprovals(section)].filter(({ level }) => level === 'error');
    return issue ? refuse(configFile, `${issue.path}: ${issue.message}`) : policyOf(section);
  } catch (error) {
    return refuse(configFile, `it is not JSON (${(error as Error).message})`);
  }
}

function refuse(file: string, why: string): Denied {
  return deny('INVALID_CONFIG', `${file}: ${why}; correct it, nothing is approved until then`);
}

/** The digest of everything that decides about tiers. An approval holds the version under which it was requested. */
export function versionOf(policy: ApprovalPolicy): string {
  const table = JSON.stringify(RISK_TABLE, (_, value) => (value instanceof RegExp ? value.source : value));
  return hash('sha256', canonicalJson({ policy, table } as unknown as Json));
}

// Commands that can never be approved. They destroy what cannot be restored, or only a person may run them.

/** The roots of the system and of people's own files. */
const ROOTS =
  /^(?:\/+|\/+\*|~|~\/+|~\/+\*|\$HOME\/?\*?|\/+(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library)\/*\*?)$/;
const DISKS = /^(?:of=)?\/dev\/(?:sd|hd|nvme|vd|xvd|disk|mapper|dm-|mmcblk|loop)/;
const PROGRAMS: Readonly<Record<string, string>> = {
  mkfs: 'it formats a disk',
  fdisk: 'it changes disk partitions',
  parted: 'it changes disk partitions',
  wipefs: 'it wipes a disk',
  shutdown: 'it stops the machine',
  reboot: 'it stops the machine',
  halt: 'it stops the machine',
  poweroff: 'it stops the machine',
};
/** Baton commands that only a person may run. */
const OURS = [
  ...['approve', 'answer', 'decide', 'install'],
  ...['registry release', 'registry accept', 'registry lock', 'memory accept'],
];

/** Why it can never be approved, or null. */
export function blockedIn(line: string, steps: readonly ShellStep[], { blocked }: ApprovalPolicy): string | null {
  if (/:\s*\(\s*\)\s*\{\s*:\s*\|\s*:/.test(line)) return 'it is a fork bomb';
  for (const { runs, writes } of steps) {
    if (writes.some(({ text }) => DISKS.test(text))) return 'it writes over a disk';
    for (const run of runs) {
      const why = blockedRun(run) ?? blockedByPeople(run, blocked);
      if (why !== null) return why;
    }
  }
  return null;
}

function blockedRun({ program, args }: Invocation): string | null {
  const words = args.map(({ text }) => text);
  if (Object.hasOwn(PROGRAMS, program)) return PROGRAMS[program] ?? null;
  if (program.startsWith('mkfs.')) return PROGRAMS.mkfs ?? null;
  if (program === 'rm' && isFlagged(words, 'rR', ['--recursive']) && args.some(isRoot)) {
    return 'it removes a root of the system or of a home';
  }
  if ((program === 'chmod' || program === 'chown') && isFlagged(words, 'R', ['--recursive']) && args.some(isRoot)) {
    return 'it changes the permissions of a whole system';
  }
  if ((program === 'dd' || program === 'shred') && words.some((word) => DISKS.test(word)))
    return 'it writes over a disk';
  // Also behind an unknown program that may run its arguments.
  const saysOurs = [program, ...words].some(
    (word, at, all) =>
      /(?:^|\/)baton$/.test(word) && OURS.some((ours) => startsWith(withoutOptions(all.slice(at + 1)), ours)),
  );
  return saysOurs ? 'only a person may run that' : null;
}

function withoutOptions(words: readonly string[]): readonly string[] {
  return words.filter((word, index) => !word.startsWith('-') && !/^(?:-C|--directory)$/.test(words[index - 1] ?? ''));
}

function isRoot({ text }: { readonly text: string }): boolean {
  return ROOTS.test(text);
}

function blockedByPeople({ program, args }: Invocation, blocked: readonly string[]): string | null {
  const words = [program, ...args.map(({ text }) => text)];
  const found = blocked.find((pattern) => startsWith(words, pattern));
  return found === undefined ? null : `the configuration blocks ${found}`;
}

function startsWith(words: readonly string[], pattern: string): boolean {
  const parts = pattern.trim().split(/\s+/);
  return parts.every((part, index) => words[index] === part);
}
