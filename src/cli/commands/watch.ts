// `baton watch`: follows a cast until it stands, and listens to its agents while they work.
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveWatch, liveWatch } from '../../agents/live-watch.ts';
import { loadView } from '../../app/load-view.ts';
import type { Change, Door } from '../../engine/door.ts';
import { apply } from '../../kernel/apply.ts';
import type { Entry } from '../../kernel/fact.ts';
import { emptyState } from '../../kernel/state.ts';
import { again, type Call, EXIT, flag, note, outJson, outJsonLine, UsageError } from '../command.ts';
import { exitOf, showEnd } from '../ending.ts';
import { nameCast, withDoor } from '../looking.ts';
import { type Progress, progressFor } from '../progress.ts';
import { flat } from './log.ts';

const LOOK_EVERY_MS = 1_000;

export async function run(call: Call): Promise<number> {
  const isStream = flag(call.values, 'jsonl');
  if (isStream && call.json) throw new UsageError('--json is one value and --jsonl a line for each event; choose one');
  const withFacts = flag(call.values, 'facts');
  if (withFacts && !isStream) throw new UsageError('--facts are lines between those of the agents; say --jsonl too');
  return withDoor(call, async (door, { stateDir, dir }) => {
    const { cast } = await nameCast(door, call.words[0]);
    const progress = progressFor(isStream ? { ...call, json: true } : call, cast);
    const live = liveWatch(stateDir, (heard) => {
      if (isStream) outJsonLine(heard);
      progress.hear(heard.turn, heard.event);
    });
    const tell = (entries: readonly Entry[]) => {
      for (const entry of withFacts ? entries : []) outJsonLine(flat(entry));
    };
    const stands = await follow(door, cast, { progress, live, tell });
    await live.stop();
    progress.stop();
    const view = await loadView(door, cast, flag(call.values, 'turns'), dir);
    if (isStream) outJsonLine(view);
    if (stands) return isStream ? exitOf(view.status) : showEnd(call, view);
    note(`Nobody drives cast ${cast}: its process is gone. Carry on with: ${again(call)} resume ${cast}`);
    if (call.json) outJson(view);
    return EXIT.denied;
  });
}

type Listeners = {
  readonly progress: Progress;
  readonly live: LiveWatch;
  readonly tell: (entries: readonly Entry[]) => void;
};

/** Tells everything, from the beginning on. False when the cast does not stand and nobody drives it. */
async function follow(door: Door, cast: string, { progress, live, tell }: Listeners): Promise<boolean> {
  let seen = 0;
  let isStanding = false;
  // The cast as its facts tell it: who runs now, and by which runner.
  const state = emptyState();
  const listen = () => {
    const now = state.casts[cast];
    if (now) live.look(now);
  };
  const { promise: stood, resolve: stand } = Promise.withResolvers<void>();
  const take = (change: Change) => {
    const entries = change.entries.filter(({ seq }) => seq > seen);
    seen = entries.at(-1)?.seq ?? seen;
    for (const entry of entries) apply(state, entry);
    tell(entries);
    progress.take({ ...change, entries });
    listen();
    isStanding = change.status !== 'running';
    if (isStanding) stand();
  };
  // Following comes first and the past second, so that nothing is appended unseen between the two.
  let early: Change[] | null = [];
  const stop = await door.follow(cast, true, (change) => (early ? early.push(change) : take(change)));
  const past = await door.read({ after: 0, cast });
  const changes = early;
  early = null;
  take({ cast, status: 'running', owed: [], entries: past });
  for (const change of changes) take(change);
  // Looking at the driver also keeps the process alive where no file event wakes it.
  for (let alone = 0; alone < 2 && !isStanding; ) {
    await Promise.race([stood, sleep(LOOK_EVERY_MS)]);
    alone = (await door.driverOf(cast)) === null ? alone + 1 : 0;
    // A run that is made again begins without a fact.
    listen();
  }
  stop();
  return isStanding;
}
