// `baton hook`: the protocol of a host around the operation. Where a tool is about to act or an agent is about to stop, a fault is
// a refusal too, because a host takes every exit but 2 for leave to go on. Elsewhere a fault stops no agent.
import { lookerWith, shownToken } from '../../access/actor.ts';
import type { HookDecision } from '../../hooks/protocol.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { type Call, EXIT_CODE, flag, UsageError, withWorkspace, workspaceOf } from '../command.ts';

/** The environment variable that names the token for which a server started this process. */
const ACTS_FOR = 'BATON_ACTS_FOR';
/** Hosts give up on a hook after a while, and then go on without it. */
const DEADLINE_MS = 8_000;
/** Nothing is checked at these events, so a fault must not block a prompt or a session. */
const NEVER_REFUSED = ['UserPromptSubmit', 'SessionStart', 'SubagentStart', 'PostToolUse', 'PreCompact'];
const INPUT_BYTES_MAX = 64 * 1_048_576;

export async function hookCommand(call: Call): Promise<number> {
  const [event = ''] = call.words;
  const reportOnly = flag(call.values, 'report-only');
  const { decision, isFault } = await within(DEADLINE_MS, () => decide(call, event, reportOnly));
  if (decision.kind !== 'allow' && reportOnly) return reported(call, event, decision);
  if (isFault && NEVER_REFUSED.includes(event) && decision.kind === 'deny') {
    await written(process.stderr, `baton: ${decision.verdict.reason}\n`);
    process.exit(EXIT_CODE.denied);
  }
  const { hookAnswer } = await import('../../hooks/protocol.ts');
  const { exit, stdout, stderr } = hookAnswer(event, decision);
  // Left from here: on the way out another exit could be made of a refusal.
  await Promise.all([written(process.stderr, stderr), written(process.stdout, stdout)]);
  process.exit(exit);
}

async function decide(call: Call, event: string, reportOnly: boolean): Promise<HookDecision> {
  const input = await standardInput();
  const { perform } = await import('../../app/perform.ts');
  return withWorkspace(call, async (workspace) => {
    const findActor = async () => (await import('../../access/who-acts.ts')).actorHere(workspace);
    // Only a token limits what the caller may do here. Without one the look is saved.
    const isLimited = shownToken() !== null || Boolean(call.env[ACTS_FOR]);
    const actor = isLimited ? await findActor() : lookerWith(null);
    const context = { actor, findActor, signal: new AbortController().signal, onEvent: () => undefined };
    return decisionIn(await perform(workspace, 'hook', { event, input, reportOnly }, context));
  });
}

/** The decision that the verdict of the operation means. */
function decisionIn(verdict: Verdict): HookDecision {
  const { decision, context } = verdict.details as JsonObject;
  if (!verdict.allow) return { kind: decision === 'ask' || decision === 'end' ? decision : 'deny', verdict };
  return typeof context === 'string' ? { kind: 'allow', context } : { kind: 'allow' };
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

type Decided = { readonly decision: HookDecision; readonly isFault: boolean };

/** Any error, also one outside of the promise, and a missing answer are refusals. */
function within(ms: number, work: () => Promise<HookDecision>): Promise<Decided> {
  return new Promise((resolve) => {
    const fault = (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      const verdict = deny('INTERNAL', `the hook failed, so nothing is let through: ${message}`);
      resolve({ decision: { kind: 'deny', verdict }, isFault: true });
    };
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', fault);
    setTimeout(() => fault(new Error(`it took longer than ${ms / 1000} s`)), ms).unref();
    work().then((decision) => resolve({ decision, isFault: false }), fault);
  });
}

function written(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return text === '' ? Promise.resolve() : new Promise((done) => stream.write(text, () => done()));
}

/** With --report-only a refusal is written to a file. If even this fails, the agent goes on. */
async function reported(
  call: Call,
  event: string,
  decision: Exclude<HookDecision, { kind: 'allow' }>,
): Promise<number> {
  try {
    const { noteHookRefusal } = await import('../../app/operations/hook.ts');
    noteHookRefusal(workspaceOf(call), event, decision);
  } catch (error) {
    await written(process.stderr, `baton: the refusal could not be written down: ${(error as Error).message}\n`);
  }
  process.exit(0);
}
