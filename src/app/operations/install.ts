// Connects the program of an agent to Baton, and tries whether its hook works.
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { runGit } from '../../git/run-git.ts';
import { type Host, isDenied } from '../../hooks/install/host.ts';
import {
  anyClaudeHost,
  claudeHost,
  HOSTS,
  hasHooks,
  LOCAL_SETTINGS,
  SETTINGS,
  sharedClaudeHost,
} from '../../hooks/install/hosts.ts';
import {
  changedLines,
  type InstallPlan,
  planInstall,
  planUndo,
  readPlain,
  recordIn,
  recordText,
  refusalOfLink,
  verifyClaude,
  writePlain,
} from '../../hooks/install/plan.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import type { InputOf } from '../operation.ts';
import { BATON, makeStateFolder, type Workspace } from '../workspace.ts';
import type { FieldsOf, Operation } from './table.ts';

type Input = InputOf<FieldsOf<'install'>>;

/** Writes the hooks and the MCP server into the settings of an agent's program, or takes them back. Without `yes` nothing is
 * written: the refusal holds what would change. */
export const installHooks: Operation<'install'> = async (workspace, input) => {
  const { dir, stateDir, program } = workspace;
  const host = await hostFor(input);
  const other = host === claudeHost ? SETTINGS : host === sharedClaudeHost ? LOCAL_SETTINGS : null;
  if (other !== null && hasHooks(readPlain(dir, other))) {
    const way = other === SETTINGS ? 'Say --shared to update them, or take them out first' : 'Take them out first';
    const reason = `${other} has the hooks already, and every hook would run twice. ${way}: ${program} install claude --undo`;
    return deny('NOT_ALLOWED_NOW', reason, { file: other });
  }
  const recordFile = join(stateDir, 'install', `${host.name.replace(' --shared', '').replace(' --', '-')}.json`);
  for (const file of host.files) {
    const refusal = refusalOfLink(dir, file);
    if (refusal) return refusal;
  }
  const plan = planFor(workspace, host, input, recordFile);
  if (isDenied(plan)) return plan;
  const { changes } = plan;
  const isWritten = changes.length > 0 && input.yes === true;
  if (isWritten) {
    makeStateFolder(workspace);
    // The record of the earlier contents is on disk before the files change.
    keep(recordFile, plan);
    for (const { file, after } of changes) writePlain(dir, file, after);
    if (input.undo) rmSync(recordFile, { force: true });
  }
  const files = changes.map(({ file }) => file);
  const warnings = input.undo ? [] : await warningsOf(workspace, host);
  const answered = {
    agent: input.agent,
    undo: input.undo === true,
    files,
    written: isWritten,
    warnings: [...warnings],
  };
  const more = { host: host.name, notes: input.undo ? [] : [...host.notes] };
  if (isWritten || files.length === 0) return allow(reasonFor(host, input, files), { ...answered, ...more });
  const diff = changes.flatMap(({ file, before, after }) => changedLines(file, before, after));
  const again = `${program} install ${host.name} --yes`;
  const reason = `Nothing was written. Repeat it with --yes to write it: ${again}`;
  return deny('NOT_ALLOWED_NOW', reason, { ...answered, ...more, diff: [...diff] });
};

function reasonFor({ name }: Host, { undo }: Input, files: readonly string[]): string {
  if (files.length === 0)
    return undo ? `Nothing of baton is installed for ${name} here.` : `Everything is in place for ${name}.`;
  return undo ? `Taken back for ${name}.` : `Written for ${name}.`;
}

async function hostFor({ agent, undo, reportOnly, skill, shared }: Input): Promise<Host> {
  const host = HOSTS.find(({ name }) => name === agent);
  if (!host) throw new UsageError(`there is no ${agent} to install into`);
  if (undo && reportOnly) throw new UsageError('say --undo or --report-only, not both');
  if (shared && host !== claudeHost) throw new UsageError('--shared is for claude');
  if (!skill) return host !== claudeHost ? host : undo ? anyClaudeHost : shared ? sharedClaudeHost : host;
  if (reportOnly) throw new UsageError('say --skill or --report-only, not both');
  if (host !== claudeHost) throw new UsageError(`--skill is for claude; ${agent} reads no skills`);
  return (await import('../../hooks/install/skill.ts')).skillHost;
}

function planFor(
  { dir, env }: Workspace,
  host: Host,
  { undo, reportOnly = false }: Input,
  recordFile: string,
): InstallPlan | Denied {
  const read = (file: string) => readPlain(dir, file);
  const record = recordIn(readPlain(dirname(recordFile), basename(recordFile)));
  // A path of this machine means nothing to teammates.
  const program = host === sharedClaudeHost ? NAME : ownProgram(env);
  return undo ? planUndo(host, read, record) : planInstall(host, read, record, { program, dir, reportOnly });
}

const NAME = 'baton';

/** The bare name where it leads to this very program; else the path of its file. */
function ownProgram({ PATH = '' }: NodeJS.ProcessEnv): string {
  for (const folder of PATH.split(delimiter)) {
    const found = join(folder, NAME);
    if (folder !== '' && existsSync(found)) return realpathSync(found) === realpathSync(BATON) ? NAME : BATON;
  }
  return BATON;
}

/** What is wrong with the files as they are now. */
async function warningsOf({ dir, env }: Workspace, host: Host): Promise<readonly string[]> {
  const found = host.files.flatMap((file) => host.warnings?.(file, readPlain(dir, file) ?? '') ?? []);
  if (host === sharedClaudeHost && ownProgram(env) !== NAME) {
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

/** Both settings files of Claude Code share one record. */
function keep(file: string, { record }: InstallPlan): void {
  if (Object.keys(record).length === 0) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const before = recordIn(readPlain(dirname(file), basename(file)));
  writeFileSync(file, recordText({ ...before, ...record }), { mode: 0o600 });
}

/** Starts the real Claude Code, lets it try one forbidden write, and reports whether the installed hook refused it. */
export const hooksVerify: Operation<'hooks.verify'> = async ({ dir, env }, _input, { onEvent }) => {
  onEvent({ kind: 'note', text: 'Starting Claude Code with one forbidden write. This uses a few tokens …' });
  const { isRefused, reason } = await verifyClaude(dir, env);
  return allow(reason, { agent: claudeHost.name, verified: isRefused, reason });
};
