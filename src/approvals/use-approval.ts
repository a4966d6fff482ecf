// Asks the log whether a command may run under an approval. Everything the approval binds is read again first. The log decides and
// records the use, or the refusal, before anything runs.

import { realpathSync } from 'node:fs';
import { thisDriver } from '../engine/lease.ts';
import type { Log } from '../engine/ports.ts';
import type { Store } from '../engine/store.ts';
import { nearestCommand } from '../kernel/approval/difference.ts';
import type { ApprovalPolicy, Difference, Presented } from '../kernel/approval/request.ts';
import type { Approval, Approvals } from '../kernel/approval/state.ts';
import type { Variables } from '../kernel/credential.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { digestsFor, marksOf, placesFor, programsFor } from './bound-parts.ts';
import { approvalNamed, approvalsIn, goneFrom } from './open-approvals.ts';
import { versionOf } from './policy.ts';
import { type SealKey, sealedGrant } from './seal.ts';
import { clearArgv, marksOfArgv, sealOfCommand } from './seal-request.ts';

type Attempted = { readonly verdict: Verdict; readonly approval: Approval | null };

export async function useApproval(
  { store, log }: { readonly store: Pick<Store, 'submit'>; readonly log: Log },
  word: string,
  argv: readonly string[],
  scene: ExecContext,
  { by, dry }: { readonly by: string; readonly dry: boolean },
): Promise<Attempted> {
  const found = approvalNamed(await approvalsIn(log), word);
  const approval = 'allow' in found ? null : found;
  const verdict = await store.submit(
    {
      kind: 'approval.use',
      id: approval?.id ?? word.slice(0, 64),
      requester: scene.requester,
      presented: approval ? presentedAs(approval, argv, scene) : null,
      executor: thisDriver(),
      gone: approval ? goneFrom([approval]) : [],
      ...(dry ? { dry } : {}),
    },
    { name: by },
  );
  // The log knows only ids. So the search gives the better reason.
  const isVague = verdict.code === 'UNKNOWN_APPROVAL' && 'allow' in found;
  return { verdict: isVague ? found : verdict, approval };
}

/** A line with thousands of ids must not take longer than a hook may. */
const NAMED_MAX = 8;

/** Records for each named approval how the line differs from it, and answers with the first refusal. Open approvals come first. */
export async function refuseChanged(
  { store, log }: { readonly store: Pick<Store, 'submit'>; readonly log: Log },
  words: readonly string[],
  differencesTo: (approval: Approval) => readonly Difference[],
  { requester, by }: { readonly requester: string; readonly by: string },
): Promise<Verdict> {
  const approvals = await approvalsIn(log);
  const verdicts: Verdict[] = [];
  for (const [id, approval] of namedIn(approvals, words)) {
    const around = approval ? differencesTo(approval) : [];
    const use = { kind: 'approval.use', id, requester, presented: null, around, executor: thisDriver() } as const;
    verdicts.push(await store.submit({ ...use, dry: true }, { name: by }));
  }
  return verdicts[0] ?? deny('INTERNAL', 'no approval is named');
}

function namedIn(approvals: Approvals, words: readonly string[]): readonly (readonly [string, Approval | null])[] {
  const named = new Map<string, Approval | null>();
  for (const word of words) {
    const found = approvalNamed(approvals, word);
    if ('allow' in found) named.set(word.slice(0, 64), null);
    else named.set(found.id, found);
  }
  return [...named].toSorted(([, a], [, b]) => Number(a === null) - Number(b === null)).slice(0, NAMED_MAX);
}

/** Whether everything is still as it was at the decision. */
export function isUnchanged(approval: Approval, argv: readonly string[], scene: ExecContext, index: number): boolean {
  return presentedAs(approval, argv, scene).seal === approval.sealed.commands[index]?.seal;
}

type ExecContext = {
  readonly cwd: string;
  readonly env: Variables;
  readonly policy: ApprovalPolicy;
  readonly key: SealKey;
  readonly requester: string;
  /** Tells this log from its copies. */
  readonly log: string;
};

export function presentedAs(approval: Approval, argv: readonly string[], scene: ExecContext): Presented {
  const { sealed } = approval;
  const { env, policy, key, requester } = scene;
  const cwd = realFolder(scene.cwd);
  const marks = marksOfArgv(argv, key);
  const command = sealed.commands[nearestCommand(sealed, { marks })];
  // Programs are looked up with today's search path. The approved path is what runs.
  const programs = programsFor(Object.keys(command?.programs ?? {}), cwd, env.PATH ?? '');
  const places = placesFor(Object.keys(command?.places ?? {}));
  const files = digestsFor(Object.keys(command?.files ?? {}));
  const envMarks = marksOf(Object.keys(sealed.envMarks), env, key);
  const log = key.mark('log', scene.log);
  const version = versionOf(policy);
  const bound = {
    id: sealed.id,
    cwd,
    envMarks,
    ...(sealed.plainEnv ? { plainEnv: sealed.plainEnv } : {}),
    path: sealed.path,
    policy: version,
    requester,
    expiresAt: sealed.expiresAt,
    log,
  };
  return {
    argv: clearArgv(argv),
    marks,
    seal: sealOfCommand({ argv, programs, places, files }, bound, key),
    cwd,
    programs,
    places,
    files,
    envMarks,
    policy: version,
    log,
    keyId: key.id,
    decision: sealedGrant(approval, key),
  };
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
