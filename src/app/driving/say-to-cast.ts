// What a person says to a cast that waits: it is submitted, and the cast is carried on, here or by a process of its own.
import type { Store } from '../../engine/store.ts';
import { isObject } from '../../kernel/json.ts';
import { type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { loadView } from '../load-view.ts';
import type { Context } from '../operation.ts';
import { castVerdict } from '../operations/cast-show.ts';
import { Refused } from '../refused.ts';
import { issuesBeyond } from '../views/result.ts';
import type { CastView } from '../views/shown-cast.ts';
import type { Workspace } from '../workspace.ts';
import { bringIntoForce } from './bring-into-force.ts';
import { driveBehind } from './detach.ts';
import { driveCast } from './drive-cast.ts';
import { withDriver } from './driver-store.ts';

export type Saying = {
  readonly cast: string;
  readonly submit: (store: Pick<Store, 'submit'>) => Promise<Verdict>;
  /** Whether a refusal ends the operation. Any other is in the log, and the cast asks again. */
  readonly ends: (refusal: Denied) => boolean;
  /** Whether people are told in words that it was taken. */
  readonly isTold?: boolean;
  readonly detach?: boolean | undefined;
  readonly turns?: boolean | undefined;
};

/**
 * Answers the cast as it is when it has stopped. A refusal holds the cast, too: `details.refused` is the refusal itself, and
 * `details.isWoken` says that the cast went on all the same. Where another process drives the cast, the verdict of what was
 * said: that process goes on by itself.
 */
export async function sayToCast(workspace: Workspace, saying: Saying, context: Context): Promise<Verdict> {
  const { cast, submit, turns = false } = saying;
  const { actor } = context;
  const store = workspace.castStore();
  await bringIntoForce(store, workspace, actor.name);
  if (saying.detach) {
    const refusal = await said(store, saying, context);
    await driveBehind(workspace, store, actor, cast);
    return ended(await loadView(store, cast, turns, workspace.dir, workspace.program), refusal);
  }
  if (await store.view('driver', cast)) return submit(store);
  return withDriver(workspace, actor.name, async (store) => {
    let refusal: Refusal | null = null;
    const begin = async () => {
      refusal = await said(store, saying, context);
    };
    const view = await driveCast(workspace, store, cast, { begin, turns }, context);
    return ended(view, refusal);
  });
}

type Refusal = { readonly refused: Denied; readonly isWoken: boolean };

function ended(view: CastView, refusal: Refusal | null): Verdict {
  const shown = castVerdict(view);
  if (!refusal) return shown;
  const { code, reason } = refusal.refused;
  // Whoever answers reads one code for an answer that cannot be taken; `refused` says what is wrong with it.
  return deny(refusal.isWoken ? code : 'CONTRACT_VIOLATION', reason, { ...shown.details, ...refusal });
}

/**
 * Submits it. A refusal that ends the operation is thrown, unless the same step set the cast to work, because a permission
 * that it waited for is over: then the cast is driven on like any other.
 */
async function said(
  store: Pick<Store, 'view' | 'submit'>,
  { cast, submit, ends, isTold = false }: Saying,
  { onEvent }: Context,
): Promise<Refusal | null> {
  const before = (await store.view('cast', cast))?.status;
  const refused = await submit(store);
  const note = (text: string) => onEvent({ kind: 'note', text });
  if (refused.allow) {
    if (isTold) note(refused.reason);
    return null;
  }
  const isEnd = ends(refused);
  const isWoken = isEnd && before === 'waiting' && (await store.view('cast', cast))?.status === 'running';
  if (isEnd && !isWoken) throw new Refused(refused);
  note(`refused: ${refused.reason}`);
  if (!isEnd) for (const line of issuesIn(refused)) note(line);
  return { refused, isWoken };
}

function issuesIn({ reason, details }: Denied): string[] {
  const issues = Array.isArray(details.issues) ? details.issues.filter(isObject) : [];
  return issuesBeyond(reason, issues).map(({ path, message }) => `  ${String(path)}: ${String(message)}`);
}
