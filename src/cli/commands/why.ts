// `baton why`: in plain sentences what a cast waits for or failed on, and the commands that carry it on.

import { trustIn } from '../../app/trust-in-log.ts';
import type { Door } from '../../engine/door.ts';
import type { LastSign } from '../../engine/ports.ts';
import { type Standing, type Why, whyOf } from '../../engine/why/why.ts';
import { type Cast, isOver } from '../../kernel/state.ts';
import type { Quarantine } from '../../kernel/trust/state.ts';
import { again, type Call, EXIT, out, outJson, UsageError } from '../command.ts';
import { nameCast, withDoor } from '../looking.ts';
import { resultLines } from '../result-lines.ts';

export async function run(call: Call): Promise<number> {
  const why = await withDoor(call, async (door, { stateDir }) => {
    const { cast } = await nameCast(door, call.words[0]);
    return whyOf(await look(door, cast, again(call), stateDir));
  });
  if (call.json) outJson(why);
  else for (const line of lines(why, again(call))) out(line);
  return EXIT.ok;
}

/** Only what the status of the cast makes worth looking at is looked at. */
async function look(door: Door, id: string, baton: string, stateDir: string): Promise<Standing> {
  const before = await door.cast(id);
  const isRunning = before?.status === 'running';
  const driver = isRunning ? await door.driverOf(id) : null;
  const ledger = before && !isOver(before.status) ? await door.ledger() : null;
  // Whoever seems to be left alone may have ended between the two looks.
  const [cast, entries] = await Promise.all([door.cast(id), door.read({ after: 0, cast: id })]);
  if (!cast) throw new UsageError(`there is no cast ${id}`, 'UNKNOWN_CAST');
  const quarantine = cast.status === 'failed' ? await blockedAgents(door, cast) : [];
  const signs = cast.status === 'running' ? await heardOf(stateDir, cast) : new Map<number, LastSign>();
  return { cast, entries, now: Date.now(), baton, driver, ledger, quarantine, signs };
}

async function heardOf(stateDir: string, cast: Cast): Promise<ReadonlyMap<number, LastSign>> {
  const { lastSignOf } = await import('../../agents/last-sign.ts');
  const found = new Map<number, LastSign>();
  for (const turn of Object.values(cast.turns)) {
    const sign = lastSignOf(stateDir, cast, turn);
    if (sign) found.set(turn.id, sign);
  }
  return found;
}

/** What is blocked of the agents that take part in the cast. */
async function blockedAgents(door: Door, { rules }: Cast): Promise<readonly Quarantine[]> {
  const agents = Object.values(rules.materia).flatMap((materia) =>
    materia.type === 'agent' ? [materia.identity] : [],
  );
  if (agents.every((identity) => identity === null)) return [];
  const { quarantine } = await trustIn(door);
  return Object.values(quarantine).filter(({ agent }) => agent === null || agents.includes(agent));
}

function lines(why: Why, baton: string): readonly string[] {
  const { sentences, commands } = why;
  const results = resultLines(why, baton, false);
  return [
    ...sentences,
    ...(results.length > 0 ? ['', ...results] : []),
    ...commands.flatMap(({ does, command }) => ['', `To ${does}:`, `  ${command}`]),
  ];
}
