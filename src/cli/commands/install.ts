// `baton install`: writes the hooks and the server into the settings of an agent's program, after showing what changes; with
// `--undo` takes them back.
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeStateFolder } from '../../app/state-folder.ts';
import { runGit } from '../../git/run-git.ts';
import { anyClaudeHost, claudeHost, isInShared, SETTINGS, sharedClaudeHost } from '../../hooks/install/claude.ts';
import { diffOf } from '../../hooks/install/diff.ts';
import type { Host } from '../../hooks/install/host.ts';
import { isDenied } from '../../hooks/install/json-file.ts';
import { readPlain, refusalOfPlace, writePlain } from '../../hooks/install/plain-file.ts';
import { HOSTS, type Plan, planInstall, planUndo, recordIn, recordText } from '../../hooks/install/plan.ts';
import { deny } from '../../kernel/verdict.ts';
import { ask } from '../ask.ts';
import { again, type Call, EXIT, flag, note, out, outJson, Refused, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';

export async function run(call: Call): Promise<number> {
  const host = await hostNamed(call);
  const { dir, stateDir } = workspaceOf(call);
  if (flag(call.values, 'verify')) return verified(call, dir);
  if (host === claudeHost && isInShared(readPlain(dir, SETTINGS))) {
    const reason = `${SETTINGS} has the hooks for the whole team already. Say --shared to update them, or take them out first: ${again(call)} install claude --undo`;
    throw new Refused(deny('NOT_ALLOWED_NOW', reason, { file: SETTINGS }));
  }
  const recordFile = join(stateDir, 'install', `${host.name.replace(' --shared', '').replace(' --', '-')}.json`);
  for (const file of host.files) {
    const refusal = refusalOfPlace(dir, file);
    if (refusal) throw new Refused(refusal);
  }
  const plan = planFor(call, host, dir, recordFile);
  const isWanted = plan.changes.length > 0 && (await agreed(call, plan));
  if (isWanted) {
    makeStateFolder(workspaceOf(call));
    // What the files were is on disk before they change.
    keep(recordFile, plan);
    for (const { file, after } of plan.changes) writePlain(dir, file, after);
    if (isUndo(call)) rmSync(recordFile, { force: true });
  }
  return told(call, host, plan, isWanted);
}

async function hostNamed(call: Call): Promise<Host> {
  const [name] = call.words;
  const host = HOSTS.find((one) => one.name === name);
  if (!host)
    throw new UsageError(`there is no ${name} to install into; there are: ${HOSTS.map((one) => one.name).join(', ')}`);
  if (isUndo(call) && flag(call.values, 'report-only')) throw new UsageError('say --undo or --report-only, not both');
  const isShared = flag(call.values, 'shared');
  for (const option of ['shared', 'verify']) {
    if (flag(call.values, option) && host.name !== 'claude') throw new UsageError(`--${option} is for claude`);
  }
  if (!flag(call.values, 'skill'))
    return host !== claudeHost ? host : isUndo(call) ? anyClaudeHost : isShared ? sharedClaudeHost : host;
  if (flag(call.values, 'report-only')) throw new UsageError('say --skill or --report-only, not both');
  if (host.name !== 'claude') throw new UsageError(`--skill is for claude; ${host.name} reads no skills`);
  return (await import('../../hooks/install/skill.ts')).skillHost;
}

/** Starts the real program and reports whether the hook refused it. */
async function verified(call: Call, dir: string): Promise<number> {
  note('Starting Claude Code with one forbidden write. This uses a few tokens …');
  const { verifyClaude } = await import('../../hooks/install/verify-claude.ts');
  const { isRefused, reason } = await verifyClaude(dir, call.env);
  if (call.json) outJson({ agent: 'claude', verified: isRefused, reason });
  else out(`${isRefused ? 'Verified' : 'Not verified'}: ${reason}.`);
  return isRefused ? EXIT.ok : EXIT.denied;
}

function isUndo({ values }: Call): boolean {
  return flag(values, 'undo');
}

function planFor(call: Call, host: Host, dir: string, recordFile: string): Plan {
  const read = (file: string) => readPlain(dir, file);
  const record = recordIn(readPlain(dirname(recordFile), basename(recordFile)));
  // A place on this machine means nothing to teammates.
  const program = host === sharedClaudeHost ? NAME : ownProgram(call.env);
  const how = { program, dir, reportOnly: flag(call.values, 'report-only') };
  const plan = isUndo(call) ? planUndo(host, read, record) : planInstall(host, read, record, how);
  if (isDenied(plan)) throw new Refused(plan);
  return plan;
}

const NAME = 'baton';

/** The bare name where it leads to this very program; else the place of the file. */
function ownProgram({ PATH = '' }: NodeJS.ProcessEnv): string {
  const own = fileURLToPath(new URL('../../../bin/baton', import.meta.url));
  for (const folder of PATH.split(delimiter)) {
    const found = join(folder, NAME);
    if (folder !== '' && existsSync(found)) return realpathSync(found) === realpathSync(own) ? NAME : own;
  }
  return own;
}

/** What stands in the files as they are now. */
async function warningsOf(call: Call, host: Host): Promise<readonly string[]> {
  const { dir } = workspaceOf(call);
  const found = host.files.flatMap((file) => host.warnings?.(file, readPlain(dir, file) ?? '') ?? []);
  if (host === sharedClaudeHost && ownProgram(call.env) !== NAME) {
    found.push('`baton` on your PATH is missing or another program. The hooks of the team call it by that name.');
  }
  for (const file of HOSTS.includes(host) ? host.files : []) {
    if ((await runGit(dir, ['check-ignore', '-q', '--', file])).code !== 1) continue;
    found.push(
      `git does not ignore ${file}. Add it to .gitignore: it is made for this machine and can stop teammates.`,
    );
  }
  return found;
}

async function agreed(call: Call, { changes }: Plan): Promise<boolean> {
  const show = call.json ? note : out;
  for (const { file, before, after } of changes) for (const line of diffOf(file, before, after)) show(line);
  return flag(call.values, 'yes') || ask('Write this?');
}

/** Both places of the settings of Claude Code share one record. */
function keep(file: string, { record }: Plan): void {
  if (Object.keys(record).length === 0) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const before = recordIn(readPlain(dirname(file), basename(file)));
  writeFileSync(file, recordText({ ...before, ...record }), { mode: 0o600 });
}

async function told(call: Call, host: Host, { changes }: Plan, written: boolean): Promise<number> {
  const files = changes.map(({ file }) => file);
  const warnings = isUndo(call) ? [] : await warningsOf(call, host);
  if (call.json) outJson({ agent: call.words[0], undo: isUndo(call), files, written, warnings });
  for (const warning of warnings) note(`Warning: ${warning}`);
  if (files.length === 0) {
    if (!call.json)
      out(
        isUndo(call)
          ? `Nothing of baton is installed for ${host.name} here.`
          : `Everything is in place for ${host.name}.`,
      );
    return EXIT.ok;
  }
  if (!written) {
    note(`Nothing was written. Repeat it with --yes to write it: ${again(call)} install ${host.name} --yes`);
    return EXIT.usage;
  }
  if (!call.json) {
    out(
      isUndo(call)
        ? `Taken back for ${host.name}.`
        : `Written for ${host.name}. Take it back with: ${again(call)} install ${host.name} --undo`,
    );
    if (!isUndo(call)) for (const line of host.notes) out(line);
  }
  return EXIT.ok;
}
