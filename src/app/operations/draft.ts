// Drafts a loadout from one sentence with an agent of the person, and writes a draft that the person has seen.
import { resolve } from 'node:path';
import { detectAgents } from '../../agents/detect.ts';
import { DEFAULT_RUNNER } from '../../kernel/capabilities.ts';
import type { Issue } from '../../kernel/graph/config.ts';
import { type Json, type JsonObject, objectAt, stringAt } from '../../kernel/json.ts';
import { scrub } from '../../kernel/secrets.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import {
  draftBrief,
  draftFrom,
  draftSurroundings,
  issuesOfDraft,
  type LoadoutDraft,
  readDraft,
  repairBrief,
} from '../../workspace/draft.ts';
import { UsageError } from '../../workspace/locate.ts';
import { readScript } from '../../workspace/plan.ts';
import type { Context, InputOf } from '../operation.ts';
import { type ProposedFile, proposeFiles } from '../proposed-files.ts';
import type { Workspace } from '../workspace.ts';
import { askOnce } from './agents.ts';
import type { FieldsOf, Operation } from './table.ts';

const DRAFT_MS = 300_000;
const OUTPUT_BYTES_MAX = 262_144;
/** A first answer, and one more that carries what was wrong with it. */
const ANSWERS_MAX = 2;
/** The entry of a script that speaks for the agent. */
const SCRIPT_KEY = 'draft';

type Input = InputOf<FieldsOf<'loadout.draft'>>;

/** Asks an agent for a loadout and its prompts, and checks them. Nothing is written. */
export const loadoutDraft: Operation<'loadout.draft'> = async (workspace, input, context) => {
  const around = draftSurroundings(workspace, UTILITY_NAMES);
  if (input.name !== undefined && around.loadouts.includes(input.name)) {
    const reason = `there is a loadout ${input.name} already; choose another name, or remove its file first`;
    throw new UsageError(reason, 'BAD_USAGE');
  }
  const brief = draftBrief(scrub(input.sentence).text, around);
  const ask = await asking(workspace, input, around.config, context);
  const usage = { input: 0, output: 0, cost: 0 };
  let issues: readonly Issue[] = [];
  let answer = '';
  for (let count = 1; count <= ANSWERS_MAX; count++) {
    const result = await ask.once(count === 1 ? brief : repairBrief(brief, answer, issues), count);
    if (result.kind === 'lost') return deny('AGENT_CRASHED', result.reason, { runner: ask.runner });
    for (const key of ['input', 'output', 'cost'] as const) usage[key] += result.usage?.[key] ?? 0;
    if (result.kind === 'fault')
      return deny(result.code ?? 'AGENT_FAILED', result.reason, { runner: ask.runner, usage });
    answer = scrub(result.output).text;
    const reading = readDraft(answer, input.name, around);
    if (reading.ok) {
      const { draft, warnings } = reading;
      return allow(`a draft of the loadout ${draft.name}; nothing is written yet`, {
        draft: { name: draft.name, files: draft.files.map((file) => ({ ...file })) },
        issues: warnings.map((each) => ({ ...each })),
        ...{ isRepaired: count > 1, runner: ask.runner, model: ask.model, usage },
      });
    }
    issues = reading.issues;
    if (count < ANSWERS_MAX)
      context.onEvent({
        kind: 'note',
        text: `the draft has mistakes, so ${ask.runner} is asked once more: ${issues[0]?.message}`,
      });
  }
  const [first] = issues;
  const reason = `${ask.runner} drafted nothing that can be used: ${first?.path}: ${first?.message}. Say it in other words, or start from a template with \`${workspace.program} init\``;
  const details = { issues: issues.map((each) => ({ ...each })), answer: answer.slice(0, 4_000), usage };
  return deny('CONTRACT_VIOLATION', reason, { ...details, runner: ask.runner });
};

async function asking(workspace: Workspace, input: Input, config: JsonObject, { signal, onEvent }: Context) {
  const { agents, runner: wanted, model: chosen, baseUrl } = input;
  const script = agents === undefined ? null : readScript(resolve(workspace.cwd, agents));
  const defaults = objectAt(config, 'defaults');
  const runner = script ? 'scripted' : (wanted ?? stringAt(defaults, 'runner') ?? (await runnerHere(workspace)));
  const model = chosen ?? stringAt(defaults, 'model');
  const agent = { runner, model, ...(baseUrl === undefined ? {} : { baseUrl }) };
  const once = (prompt: string, count: number) => {
    if (!script)
      onEvent({ kind: 'note', text: `asking ${runner}, which has ${DRAFT_MS / 60_000} minutes to answer …` });
    const turn: Json | undefined = script?.[SCRIPT_KEY]?.[count - 1];
    const scripted = script ? (turn === undefined ? {} : { turn }) : null;
    return askOnce(agent, { prompt, timeoutMs: DRAFT_MS, maxOutputBytes: OUTPUT_BYTES_MAX, scripted }, signal);
  };
  return { runner, model, once };
}

/** The first program of an agent that somebody is signed in to, else the first that is there. */
async function runnerHere({ env }: Workspace): Promise<string> {
  const found = (await detectAgents(env)).filter(({ path, fault }) => path !== null && fault === null);
  return (found.find(({ signedInBy }) => signedInBy !== null) ?? found[0])?.name ?? DEFAULT_RUNNER;
}

/** Checks a draft again, as its files are now, and writes it. Without `yes` nothing is written: the refusal holds what would change. */
export const loadoutApply: Operation<'loadout.apply'> = async (workspace, { draft: given, yes, replace }) => {
  const draft = draftFrom(parsed(given));
  if (typeof draft === 'string') throw new UsageError(draft);
  const issues = issuesOfDraft(draft, draftSurroundings(workspace, UTILITY_NAMES));
  const [first] = issues.filter(({ level }) => level === 'error');
  const all = issues.map((each) => ({ ...each }));
  if (first) return deny(first.code, `${first.path}: ${first.message}`, { issues: all });
  const { name } = draft;
  return proposeFiles(
    workspace,
    inOrder(draft),
    { yes, replace },
    {
      reason: `the loadout ${name}`,
      details: { loadout: name, issues: all },
    },
  );
};

/** A file on the command line is text; a program gives the value, also within the whole answer of a draft. */
function parsed(given: Json): Json {
  if (typeof given !== 'string') return within(given);
  try {
    return within(JSON.parse(given) as Json);
  } catch {
    throw new UsageError('the draft is no JSON; give what `new --json` printed');
  }
}

function within(value: Json): Json {
  const isAnswer = typeof value === 'object' && value !== null && !Array.isArray(value) && 'draft' in value;
  return isAnswer ? ((value as JsonObject).draft ?? null) : value;
}

/** Prompts first: a loadout never names one that is not there. */
function inOrder({ name, files }: LoadoutDraft): readonly ProposedFile[] {
  const isForm = (path: string) => path === `loadouts/${name}.yaml`;
  const ordered = [...files.filter(({ path }) => !isForm(path)), ...files.filter(({ path }) => isForm(path))];
  return ordered.map(({ path, text }) => ({ path: `.baton/${path}`, text }));
}
