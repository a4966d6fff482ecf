// `baton demo`: the bundled workflow end to end on scripted agents, in a workspace of its own.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Script } from '../../kernel/graph/config.ts';
import type { Json } from '../../kernel/json.ts';
import { newCastId } from '../../workspace/cast-id.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import { locate } from '../../workspace/locate.ts';
import { locateCast } from '../../workspace/plan.ts';
import { readScript } from '../../workspace/read-script.ts';
import { type Call, EXIT, flag, note, out } from '../command.ts';
import { commandName } from '../command-name.ts';
import { driveAndShow, withDriver } from '../driving.ts';
import { person } from '../session.ts';

const REQUEST = 'Write a small script that greets people, and say how to run it';

export async function run(call: Call): Promise<number> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-demo-')));
  const { BATON_HOME: _elsewhere, ...env } = call.env;
  const workspace = locate(dir, env, dir);
  if (!workspace) throw new Error(`the demo workspace ${dir} is gone`);
  const agents = join(BUNDLED, '..', 'demo-agents.json');
  const found = await locateCast({ workspace, file: BUNDLED, loadout: 'Full-Auto', agents: undefined, cwd: dir });
  if (!found.ok) throw new Error(`the bundled loadout does not check: ${JSON.stringify(found.issues)}`);
  const script = flag(call.values, 'fast') ? hurried(readScript(agents)) : readScript(agents);
  if (!call.json) introduce(dir);
  const cast = newCastId(Date.now());
  // What is told to be typed next must name this workspace.
  const there = { ...call, values: { ...call.values, directory: dir } };
  const code = await withDriver(workspace, (door) =>
    driveAndShow(there, workspace, door, cast, {
      begin: async () => {
        const { rules, loadout } = found.plan;
        await door.submit(
          { kind: 'cast.start', cast, request: REQUEST, loadout, rules, script, runId: randomUUID() },
          person(),
        );
      },
    }),
  );
  if (!call.json && code === EXIT.ok) conclude(dir);
  return code;
}

function introduce(dir: string): void {
  note(`A team of scripted agents works on: ${REQUEST}`);
  note(`Workspace: ${dir}\n`);
}

function conclude(dir: string): void {
  out('');
  out(
    `What the team wrote says:  ${execFileSync(process.execPath, ['greet.mjs', 'Ada'], { cwd: dir, encoding: 'utf8' }).trim()}`,
  );
  out('');
  out('Look at what happened:');
  const there = commandName(dir);
  out(`  ${there} show      every turn, and the data at the end`);
  out(`  ${there} log       the log, entry by entry, each holding the hash of the one before`);
  out(`  ${there} casts     all casts of that workspace`);
  out(`Then try it in a project of your own:  ${commandName()} init`);
}

/** The same turns without their pauses. */
function hurried(script: Script): Script {
  const plain = (turn: Json): Json => JSON.parse(JSON.stringify(turn, (key, value) => (key === 'delayMs' ? 0 : value)));
  return Object.fromEntries(Object.entries(script).map(([key, turns]) => [key, turns.map(plain)]));
}
