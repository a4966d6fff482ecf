// `baton task create`: one assignment packet becomes a row of the ledger.
import { takeAssignment } from '../../../dialects/operator/intake.ts';
import { isGoverning } from '../../../kernel/ledger/scope.ts';
import { allow, deny } from '../../../kernel/verdict.ts';
import { type Call, text } from '../../command.ts';
import { declaredCheckers } from '../../declared-checkers.ts';
import { placedIn } from '../../inside-root.ts';
import { answering, folderOf, integer, rootNamed, withLedger } from '../../ledger-session.ts';
import { readInput } from '../../read-input.ts';
import { refuseAtDoor } from '../../refused-payload.ts';
import { person } from '../../session.ts';

export async function run(call: Call): Promise<number> {
  const given = await readInput(call, call.words[0] ?? '-');
  const retriesMax = integer(call, 'retries');
  return answering(() =>
    withLedger(
      call,
      async (session) => {
        const { door, workspace } = session;
        const taken = takeAssignment(given, { checkers: declaredCheckers(workspace).names });
        if (!taken.ok) return refuseAtDoor(session, 'create', taken);
        const root = rootNamed(call, workspace, text(call.values, 'root'));
        // Below the state lie the worktrees of casts, which are folders to work in.
        if (isGoverning(root) && !root.startsWith('.baton/state/')) {
          return deny('SCOPE_VIOLATION', `${root} governs the work; no task can have it for its folder.`, { root });
        }
        const placed = placedIn(folderOf({ root }, workspace), taken.payload);
        if (!placed.ok) return placed.refusal;
        const verdict = await door.submit(
          {
            kind: 'task.create',
            packet: placed.packet,
            root,
            ...(retriesMax === undefined ? {} : { retriesMax }),
          },
          person(),
        );
        if (!verdict.allow || taken.warnings.length === 0) return verdict;
        return allow(verdict.reason, { ...verdict.details, warnings: taken.warnings });
      },
      { begins: true },
    ),
  );
}
