// `baton demo`: the bundled workflow end to end on scripted agents, in a workspace of its own.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLED } from '../../workspace/find-config.ts';
import { type Call, commandName, EXIT_CODE, flag, note, out, withWorkspace } from '../command.ts';
import { drive } from '../drive-operation.ts';
import { Ready } from '../paint.ts';
import { refuseBefore } from '../show-operation.ts';

const REQUEST = 'Write a small script that greets people, and say how to run it';

export async function demoCommand(call: Call): Promise<number> {
  // The demo has a workspace of its own; an agent that tries it is noted in this one.
  if (!flag(call.values, 'ui')) await refuseBefore(call, 'cast.start');
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-demo-')));
  const { BATON_HOME: _elsewhere, ...env } = call.env;
  const bundled = join(BUNDLED, '..', 'demo-agents.json');
  const agents = flag(call.values, 'fast') ? hurried(bundled, `${dir}.agents.json`) : bundled;
  if (!call.json) introduce(dir);
  // The commands that are shown next must name this workspace.
  const there = { ...call, env, cwd: dir, values: { ...call.values, directory: dir } };
  const given = { request: REQUEST, file: BUNDLED, loadout: 'Full-Auto', agents };
  if (flag(call.values, 'ui')) {
    const { castBesidePage } = await import('../page.ts');
    const options = [
      '--loadout=Full-Auto',
      `--file=${BUNDLED}`,
      `--agents=${agents}`,
      ...(call.json ? ['--json'] : []),
    ];
    return withWorkspace(there, (workspace) => castBesidePage(there, workspace, ['cast', ...options, '--', REQUEST]));
  }
  const code = await drive(there, 'cast.start', given);
  if (!call.json && code === EXIT_CODE.ok) conclude(dir);
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
  for (const [command, what] of NEXT) out(new Ready(`  ${there} ${command.padEnd(13)} ${what}`));
  out('');
  out('Then try it in a project of your own:');
  out(new Ready(`  ${commandName()} init`));
}

const NEXT = [
  ['show', 'every step, and what it used'],
  ['graph latest', 'a drawing of the way it took'],
  ['log', 'each entry of its log'],
] as const;

/** The same turns without their pauses, in another file. */
function hurried(script: string, file: string): string {
  const plain = JSON.parse(readFileSync(script, 'utf8'), (key, value) => (key === 'delayMs' ? 0 : value));
  writeFileSync(file, JSON.stringify(plain));
  return file;
}
