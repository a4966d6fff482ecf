// `baton watch`: follows a cast until it stands.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Door } from '../../engine/door.ts';
import { type Call, EXIT, flag, note, outJson } from '../command.ts';
import { loadView, showEnd } from '../ending.ts';
import { type Progress, progressFor } from '../progress.ts';
import { nameCast, withDoor } from '../session.ts';

const LOOK_EVERY_MS = 1_000;

export async function run(call: Call): Promise<number> {
  return withDoor(call, async (door) => {
    const { cast } = await nameCast(door, call.words[0]);
    const progress = progressFor(call, cast);
    const stands = await follow(door, cast, progress);
    progress.stop();
    const view = await loadView(door, cast, flag(call.values, 'turns'));
    if (stands) return showEnd(call, view);
    note(`Nobody drives cast ${cast}: its process is gone. Carry on with: baton resume ${cast}`);
    if (call.json) outJson(view);
    return EXIT.denied;
  });
}

/** Tells everything, from the beginning on. False when the cast does not stand and nobody drives it. */
async function follow(door: Door, cast: string, progress: Progress): Promise<boolean> {
  const past = await door.read({ after: 0, cast });
  progress.take({ cast, status: 'running', owed: [], entries: past });
  let seen = past.at(-1)?.seq ?? 0;
  let isStanding = false;
  const { promise: stood, resolve: stand } = Promise.withResolvers<void>();
  const stop = await door.follow(cast, true, (change) => {
    const entries = change.entries.filter(({ seq }) => seq > seen);
    seen = entries.at(-1)?.seq ?? seen;
    progress.take({ ...change, entries });
    isStanding = change.status !== 'running';
    if (isStanding) stand();
  });
  // Looking at the driver also keeps the process alive where no file event wakes it.
  for (let alone = 0; alone < 2 && !isStanding; ) {
    await Promise.race([stood, sleep(LOOK_EVERY_MS)]);
    alone = (await door.driverOf(cast)) === null ? alone + 1 : 0;
  }
  stop();
  // What was appended between reading the past and following is told in no change.
  progress.take({ cast, status: 'running', owed: [], entries: await door.read({ after: seen, cast }) });
  return isStanding;
}
