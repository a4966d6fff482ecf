// `baton hook`: decides one event of an agent's host. Where a tool is about to act or an agent is about to stop, a fault of
// its own is a refusal too, because a host takes every exit but 2 for leave to go on. Elsewhere a fault stops nobody.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HookDecision } from '../../hooks/protocol.ts';
import { type HookContext, runHook } from '../../hooks/run-hook.ts';
import { deny } from '../../kernel/verdict.ts';
import { type Call, EXIT, flag, UsageError, type Values } from '../command.ts';
import { workspaceOf } from '../open-workspace.ts';

/** Hosts give up on a hook after a while, and then go on without it. */
const DEADLINE_MS = 8_000;
/** Nothing is checked at these events, so a fault must not block a prompt or a session. */
const NEVER_REFUSED = ['UserPromptSubmit', 'SessionStart', 'SubagentStart', 'PostToolUse', 'PreCompact'];
const PROGRAM = fileURLToPath(new URL('../../../bin/baton', import.meta.url));
const INPUT_BYTES_MAX = 64 * 1_048_576;

export async function run(call: Call): Promise<number> {
  const [event = ''] = call.words;
  const decision = await within(DEADLINE_MS, () => decide(call, event));
  if (decision.kind !== 'allow' && isReportOnly(call.values)) return reported(call, event, decision);
  if (decision.kind === 'deny' && decision.verdict.code === 'INTERNAL' && NEVER_REFUSED.includes(event)) {
    await said(process.stderr, `baton: ${decision.verdict.reason}\n`);
    process.exit(EXIT.denied);
  }
  const { hookAnswer: spoken } = await import('../../hooks/protocol.ts');
  const { exit, stdout, stderr } = spoken(event, decision);
  // Left from here: on the way out another exit could be made of a refusal.
  await Promise.all([said(process.stderr, stderr), said(process.stdout, stdout)]);
  process.exit(exit);
}

function isReportOnly(values: Values): boolean {
  return flag(values, 'report-only');
}

async function decide(call: Call, event: string): Promise<HookDecision> {
  return runHook(event, await standardInput(), sceneOf(call));
}

/** Read here, without the readers of the other commands: they bring more along than a hook has time for. */
async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > INPUT_BYTES_MAX) throw new UsageError(`the input is larger than ${INPUT_BYTES_MAX} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whatever is thrown, here or in a corner of its own, and whatever never answers, is a refusal. */
function within(ms: number, work: () => Promise<HookDecision>): Promise<HookDecision> {
  return new Promise((resolve) => {
    const fault = (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      resolve({ kind: 'deny', verdict: deny('INTERNAL', `the hook failed, so nothing is let through: ${message}`) });
    };
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', fault);
    setTimeout(() => fault(new Error(`it took longer than ${ms / 1000} s`)), ms).unref();
    work().then(resolve, fault);
  });
}

function said(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return text === '' ? Promise.resolve() : new Promise((done) => stream.write(text, () => done()));
}

function sceneOf(call: Call): HookContext {
  const workspace = workspaceOf(call);
  return {
    workspace,
    isKept: existsSync(join(workspace.dir, '.baton')),
    env: call.env,
    now: Date.now,
    program: PROGRAM,
    isReportOnly: isReportOnly(call.values),
    actor: async () =>
      (await import('../../access/who-acts.ts')).actorHere({ env: call.env, stateDir: workspace.stateDir }),
    async withStore(work) {
      const [{ logFileIn, SqliteLog }, { makeStateFolder }, { WorkspaceStore }] = await Promise.all([
        import('../../log/sqlite/log.ts'),
        import('../../app/state-folder.ts'),
        import('../../app/store.ts'),
      ]);
      makeStateFolder(workspace);
      const log = new SqliteLog(logFileIn(workspace.stateDir));
      const store = new WorkspaceStore(log, workspace.dir);
      try {
        return await work(store, log);
      } finally {
        await store.close();
      }
    },
    async withLog(work, none) {
      if (!existsSync(workspace.stateDir)) return none;
      const [{ logFileIn, SqliteLog }, { hasLog }] = await Promise.all([
        import('../../log/sqlite/log.ts'),
        import('../../app/state-folder.ts'),
      ]);
      if (!hasLog(workspace)) return none;
      const log = new SqliteLog(logFileIn(workspace.stateDir));
      try {
        return await work(log);
      } finally {
        await log.close();
      }
    },
    async perform(name, given) {
      const [{ actorHere }, { answer }, { Workspace }] = await Promise.all([
        import('../../access/who-acts.ts'),
        import('../../app/perform.ts'),
        import('../../app/workspace.ts'),
      ]);
      const open = new Workspace(workspace, { env: call.env });
      try {
        const { signal } = new AbortController();
        return await answer(open, name, given, { actor: actorHere(open), signal, onEvent: () => undefined });
      } finally {
        await open.close();
      }
    },
  };
}

/** Written down instead of refused. That even this fails must not stop an agent that nobody wanted to stop. */
async function reported(
  call: Call,
  event: string,
  decision: Exclude<HookDecision, { kind: 'allow' }>,
): Promise<number> {
  try {
    const [{ reportDenial }, { makeStateFolder }] = await Promise.all([
      import('../../hooks/report.ts'),
      import('../../app/state-folder.ts'),
    ]);
    const workspace = workspaceOf(call);
    if (existsSync(join(workspace.dir, '.baton'))) {
      makeStateFolder(workspace);
      reportDenial(workspace.stateDir, event, decision, new Date());
    }
  } catch (error) {
    await said(process.stderr, `baton: the refusal could not be written down: ${(error as Error).message}\n`);
  }
  process.exit(0);
}
