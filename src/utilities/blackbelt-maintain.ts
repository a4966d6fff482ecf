// Blackbelt-Maintain: turns the changes in a jj working copy into a commit under the title of the current work item,
// and moves the cast's bookmark there.
import { isObject, isText } from '../kernel/json.ts';
import { hasBookmark, hasJj, isBookmarkName, isClean, JJ_MISSING, jjInTurn } from './jj.ts';
import { give, type ShippedInput, titleOf, type UtilityOutcome } from './utility.ts';

export async function blackbeltMaintain(input: ShippedInput): Promise<UtilityOutcome> {
  const { cwd, state } = input;
  if (!(await hasJj(cwd))) return unsatisfied(JJ_MISSING);
  const clean = await isClean(cwd);
  if (typeof clean === 'object') return unsatisfied(`the state of the working copy is not known: ${clean.error}`);
  if (clean) return give({ satisfied: true, context: '' });

  const bookmark = isObject(state.blackbeltBootstrap) ? state.blackbeltBootstrap.bookmarkName : null;
  if (!isText(bookmark) || !isBookmarkName(bookmark)) {
    return unsatisfied('state.blackbeltBootstrap.bookmarkName is missing; run Blackbelt-Bootstrap first');
  }
  const title = titleOf(input);
  if (title === null) return unsatisfied('there is no work item with a title to describe the change');
  if (!(await hasBookmark(cwd, bookmark))) return unsatisfied(`the bookmark ${bookmark} does not exist any more`);
  const move = ['bookmark', 'set', bookmark, '-r', '@', '--allow-backwards'];
  const failure = await jjInTurn(cwd, [['describe', '-m', title], move, ['new']]);
  return failure === null ? give({ satisfied: true, context: `Recorded: ${title}` }) : unsatisfied(failure);
}

function unsatisfied(context: string): UtilityOutcome {
  return give({ satisfied: false, context });
}
