// Casts from outside: start one, answer it. An agent within an attempt is offered none of these.
import { castVerdict } from '../app/operations/cast-show.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { type CommandLine, refusalOf, type Said, verdictOf } from './command-line.ts';
import { args, type Tool } from './tool.ts';

const CAST = {
  type: 'string',
  minLength: 1,
  description: 'the id of the cast, a beginning that only one has, or latest',
};

export const CAST_TOOLS: readonly Tool[] = [
  {
    name: 'cast_start',
    audience: 'person',
    command: 'cast',
    description:
      'Start a cast: a team of agents works on the request, step by step. It runs in the background; details.cast is its id. Use cast_wait then.',
    input: args(
      {
        request: { type: 'string', minLength: 1, maxLength: 1_048_576, description: 'what the cast shall do' },
        loadout: { type: 'string', minLength: 1, description: 'which loadout; else the active one of the workspace' },
        agents: { type: 'string', minLength: 1, description: 'a file with scripted turns, for a cast without a model' },
      },
      ['request'],
    ),
    act: 'steer',
    async call({ request, loadout, agents }, { baton }) {
      const which = [
        ...(loadout === undefined ? [] : [`--loadout=${String(loadout)}`]),
        ...(agents === undefined ? [] : [`--agents=${String(agents)}`]),
      ];
      const said = await baton(['cast', '--detach', ...which, '-'], { input: String(request) });
      const view = viewIn(said);
      return view ? allow(`cast ${String(view.cast)} was started`, view) : refusalOf(said);
    },
  },
  {
    name: 'cast_answer',
    audience: 'person',
    command: 'answer',
    description:
      'Answer a turn of a waiting cast that a person takes; cast_show says what it asks. The cast is carried on; use cast_wait then.',
    input: args(
      {
        cast: CAST,
        answer: { type: 'string', minLength: 1 },
        turn: { type: 'integer', minimum: 1, description: 'which turn, where several wait' },
      },
      ['cast', 'answer'],
    ),
    act: 'decide',
    call: ({ cast, answer, turn }, { baton }) => {
      const which = turn === undefined ? [] : [`--turn=${String(turn)}`];
      return answered(baton, named(cast), ['answer', ...which, '--file=-', '--', named(cast)], String(answer));
    },
  },
];

function named(cast: Json | undefined): string {
  return isString(cast) ? cast : 'latest';
}

function standing(said: Said): Verdict | null {
  const view = viewIn(said);
  return view && castVerdict(view as unknown as Parameters<typeof castVerdict>[0]);
}

/** How long an answer may take to be refused. One that is taken drives the cast on, which may take days. */
const REFUSED_WITHIN_MS = 10_000;

async function answered(baton: CommandLine, cast: string, args: readonly string[], input: string): Promise<Verdict> {
  const leave = AbortSignal.timeout(REFUSED_WITHIN_MS);
  const said = await baton(args, { input, leave });
  const [, refused] = /^refused: (.*)$/m.exec(said.stderr) ?? [];
  if (refused !== undefined) return deny('CONTRACT_VIOLATION', refused, { ...viewIn(said) });
  if (!leave.aborted) return standing(said) ?? verdictOf(said);
  const now = await baton(['show', '--', cast]);
  return standing(now) ?? refusalOf(now);
}

/** The cast that `cast` and `show` print. */
function viewIn({ value }: Said): JsonObject | null {
  return isObject(value) && isString(value.cast) && isString(value.status) ? value : null;
}
