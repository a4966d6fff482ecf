// `submit_handoff`: an agent hands its work on while its turn still runs. It learns at once whether the handoff keeps its contract and
// can repair it in the same conversation. The handoff is read again when the turn ends.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attempt } from '../access/attempt.ts';
import { keepHandoff } from '../agents/handoff-file.ts';
import { valuesAbove } from '../agents/hidden-texts.ts';
import { isErrno, writeDurably } from '../agents/process/attempt-folder.ts';
import { dialects } from '../dialects/index.ts';
import { dialectCan } from '../kernel/capabilities.ts';
import { contractFor, materiaOf } from '../kernel/cast/rules.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import { withoutValues } from '../kernel/credential.ts';
import { stepOf } from '../kernel/gate/before-accept.ts';
import { isString, type Json } from '../kernel/json.ts';
import { utf8Length } from '../kernel/text.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { args, type Tool, type ToolContext } from './tool.ts';

export const submitHandoff: Tool = {
  name: 'submit_handoff',
  audience: 'agent',
  description:
    'Hand your work on when you are done: the answer that your instructions ask for. A refusal says what to repair; then call again. ' +
    'The last accepted submission is your answer.',
  input: args({ handoff: { description: 'the whole answer: a text, or the JSON itself' } }, ['handoff']),
  act: 'steer',
  async call({ handoff = null }, context, current) {
    const { attempt } = context;
    if (!attempt) return deny('NOT_ALLOWED_NOW', NO_ATTEMPT);
    const found = await presentTurn(context, attempt);
    if (!('turn' in found)) return found;
    if (!(await context.isOwn(attempt))) return deny('NOT_ALLOWED_NOW', notOwn(attempt), { attempt: attempt.attempt });
    // The file outlives this process, and another driver may lack the variables of the agent.
    const secrets = valuesAbove(materiaOf(found.cast, found.turn.socket), context.workspace.env);
    const output = withoutValues(outputText(found.cast, found.turn, handoff), secrets);
    const verdict = judgeHandoff(found.cast, found.turn, output);
    if (!verdict.allow) return verdict;
    const refused = await failedChecks(context, found, attempt, verdict, current.signal);
    if (refused) return refused;
    return storeHandoff(attempt, output, verdict);
  },
};

const NO_ATTEMPT = 'there is no attempt to submit a handoff for; a cast says which one in BATON_CAST and BATON_ATTEMPT';

function notOwn({ cast, turn, attempt }: Attempt): string {
  return `this server was not started by attempt ${turn}.${attempt} of cast ${cast}, and only an attempt itself may submit its handoff; return your answer as your last message`;
}

/** A text stays as it is. Any other value becomes JSON, in the block that a report has in a text. */
function outputText(cast: Cast, turn: Turn, handoff: Json): string {
  if (isString(handoff)) return handoff;
  const text = JSON.stringify(handoff);
  if (!dialectCan(cast.rules, contractFor(cast, turn).dialect, 'reportsStatus')) return text;
  return `\`\`\`agent_contract_handoff\n${text.replaceAll('`', '\\u0060')}\n\`\`\``;
}

export type PresentTurn = { readonly cast: Cast; readonly turn: Turn };

/** The turn of the attempt, while it is the current attempt. */
export async function presentTurn(
  context: ToolContext,
  { cast: id, turn, attempt, fence }: Attempt,
): Promise<PresentTurn | Denied> {
  const cast = await context.cast(id);
  if (!cast) return deny('UNKNOWN_CAST', `there is no cast ${id} in this workspace`, { cast: id });
  const open = cast.turns[turn];
  const isPresent = open?.phase === 'running' && open.attempt === attempt && open.fence === fence;
  if (open && isPresent) return { cast, turn: open };
  const reason = `attempt ${turn}.${attempt} of cast ${id} is over; its results are no longer accepted. Stop working.`;
  return deny('STALE_ATTEMPT', reason, { cast: id, turn, attempt });
}

/** The checks before accept that need only the text. */
export function judgeHandoff(cast: Cast, turn: Turn, output: string): Verdict {
  const contract = contractFor(cast, turn);
  const maxOutputBytes = cast.rules.graph.sockets[turn.socket]?.limits.maxOutputBytes ?? 0;
  const bytes = utf8Length(output);
  if (bytes > maxOutputBytes) {
    const reason = `the handoff has ${bytes} bytes; at most ${maxOutputBytes} are allowed; hand on less`;
    return deny('CONTRACT_VIOLATION', reason, { issues: [{ path: '$', message: reason }] });
  }
  const dialect = dialects[contract.dialect];
  const reading = dialect.read(output, contract);
  if (reading.ok) {
    const { refusal } = stepOf(cast, turn, reading.handoff);
    if (refusal) return refusal;
    const { outcome, satisfied } = reading.handoff;
    return allow('the handoff keeps its contract and is handed on when your turn ends', { outcome, satisfied });
  }
  const { code, reason, details } = reading.verdict;
  return deny(code, reason, { ...details, repair: dialect.repair(reading.verdict, output, contract) });
}

/** Clients give up on a tool after a minute. Longer checks run after the turn. */
const CHECKS_MS_MAX = 45_000;
/** After that many refusals the work is accepted although the checks fail. */
const ROUNDS_MAX = 5;
const REPORTED_FILE = 'checks-told.json';

/** A refusal with the findings of the project's checks. Null if they pass, or if the agent already got this refusal. */
async function failedChecks(
  context: ToolContext,
  { cast, turn }: PresentTurn,
  { dir }: Attempt,
  { details: { outcome } }: Verdict,
  signal: AbortSignal,
): Promise<Denied | null> {
  if (outcome !== 'done' || !context.checkWork) return null;
  const work = await context.checkWork(cast, turn, AbortSignal.any([signal, AbortSignal.timeout(CHECKS_MS_MAX)]));
  const failed = work?.checks.filter(({ ok }) => !ok) ?? [];
  if (!work || failed.length === 0) return null;
  const reported = await reportedIn(dir);
  if (reported.includes(work.about) || reported.length >= ROUNDS_MAX) return null;
  await writeDurably(dir, REPORTED_FILE, JSON.stringify([...reported, work.about])).catch(() => undefined);
  const named = failed.map(({ name, found }) => `${name} (${found})`).join('; ');
  const reason = `the project's checks fail on your work: ${named}. Repair it and submit again; if it cannot be repaired, submit again without a change, and your work is taken as it is.`;
  return deny('CHECKS_FAILED', reason, { checks: failed.map((check) => ({ ...check })) });
}

async function reportedIn(dir: string): Promise<readonly unknown[]> {
  const text = await readFile(join(dir, REPORTED_FILE), 'utf8').catch(() => '[]');
  try {
    const reported: unknown = JSON.parse(text);
    return Array.isArray(reported) ? reported : [];
  } catch {
    return [];
  }
}

async function storeHandoff(attempt: Attempt, output: string, verdict: Verdict): Promise<Verdict> {
  try {
    await keepHandoff(attempt.dir, attempt, output);
    return verdict;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      const reason =
        'the folder of this attempt is gone, so the attempt is over; return your answer as your last message';
      return deny('STALE_ATTEMPT', reason, { turn: attempt.turn, attempt: attempt.attempt });
    }
    const reason = `the handoff could not be kept (${(error as Error).message}); return it as your last message`;
    return deny('STORAGE_FAILED', reason);
  }
}
