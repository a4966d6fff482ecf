// `baton watch`: follows a cast until it stands.
import { type Call, flag, outJson } from '../command.ts';
import { exitOf, loadView } from '../driving.ts';
import { progressFor } from '../progress.ts';
import { nameCast, withDoor } from '../session.ts';

export async function run(call: Call): Promise<number> {
  return withDoor(call, async (door) => {
    const { cast } = await nameCast(door, call.words[0]);
    const progress = progressFor(call, cast);
    const past = await door.read({ after: 0, cast });
    progress.take({ cast, status: 'running', owed: [], entries: past });
    let seen = past.at(-1)?.seq ?? 0;
    // A poll keeps the process alive where no file event wakes it.
    const alive = setInterval(() => undefined, 1000);
    await new Promise<void>((resolve) => {
      void door.follow(cast, true, (change) => {
        const entries = change.entries.filter(({ seq }) => seq > seen);
        seen = entries.at(-1)?.seq ?? seen;
        progress.take({ ...change, entries });
        if (change.status !== 'running') resolve();
      });
    });
    clearInterval(alive);
    progress.stop();
    const view = await loadView(door, cast, flag(call.values, 'turns'));
    if (call.json) outJson(view);
    return exitOf(view.status);
  });
}
