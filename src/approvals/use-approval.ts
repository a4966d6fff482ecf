// Asks whether a command may run under an approval, with everything it is bound to looked up anew. The log decides; a refusal
// is in it, and so is the use, before anything runs.
import { thisDriver } from '../engine/driver.ts';
import type { Log } from '../engine/ports.ts';
import type { Store } from '../engine/store.ts';
import type { Difference } from '../kernel/approval/request.ts';
import type { Approval, Approvals } from '../kernel/approval/state.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { approvalNamed, approvalsIn, goneFrom } from './open-approvals.ts';
import { type ExecScene, presentedAs } from './present.ts';

type Attempted = { readonly verdict: Verdict; readonly approval: Approval | null };

export async function useApproval(
  { store, log }: { readonly store: Pick<Store, 'submit'>; readonly log: Log },
  word: string,
  argv: readonly string[],
  scene: ExecScene,
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
  // What the word lacks is told better by whoever looked for it than by the log, which only has ids.
  const isVague = verdict.code === 'UNKNOWN_APPROVAL' && 'allow' in found;
  return { verdict: isVague ? found : verdict, approval };
}

// Whoever names thousands on one line must not keep the log busy for longer than a hook may take.
const NAMED_MAX = 8;

/**
 * Writes down that approvals were to be used otherwise than they were given, with what differs; answers with the first. What
 * is open comes first; nothing runs for any of the rest either.
 */
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

/** Whether everything is still as it was a moment ago. */
export function isUnchanged(approval: Approval, argv: readonly string[], scene: ExecScene, index: number): boolean {
  return presentedAs(approval, argv, scene).seal === approval.sealed.commands[index]?.seal;
}
