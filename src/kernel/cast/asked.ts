// Turns that a person takes: the brief is written and shown, and the cast waits when nothing else of it goes on. What the
// person says is read like any other output; a refused answer is asked for again with what is wrong with it.
import type { Input } from '../input.ts';
import type { Cast, Turn } from '../state.ts';
import { isOver } from '../state.ts';
import { deny, type Verdict } from '../verdict.ts';
import { takeOutput } from './answer.ts';
import { chosenMateria } from './choice.ts';
import { materiaOf, type Pen } from './pen.ts';
import { isScripted } from './script.ts';

export const PERSON = 'person';

export function isPersons(cast: Cast, turn: Turn): boolean {
  const materia = chosenMateria(cast, turn);
  return materia.type === 'agent' && materia.runner === PERSON && !isScripted(cast, turn.socket);
}

/** Lets the cast wait when a person has a turn of it and nothing else can go on meanwhile. */
export function waitIfAsked(pen: Pen, cast: Cast): void {
  if (cast.status !== 'running') return;
  const turns = Object.values(cast.turns);
  const asked = turns.find(({ phase }) => phase === 'asked');
  if (!asked || turns.some(({ phase }) => GOING_ON.includes(phase))) return;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code: 'ANSWER_NEEDED', reason: needed(cast, asked) });
}

const GOING_ON: readonly Turn['phase'][] = ['owed', 'held', 'running', 'verifying'];

function needed(cast: Cast, turn: Turn): string {
  const { label } = materiaOf(cast, turn.socket);
  const again = turn.refusal ? `the last answer was refused (${turn.refusal.verdict.reason}); ` : '';
  return `${turn.socket} (${label}) is a person's turn; ${again}answer with: baton answer ${cast.id} --turn ${turn.id}`;
}

export function takeAnswer(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'turn.answer' }>): Verdict {
  if (isOver(cast.status) || cast.status === 'paused') {
    const way = cast.status === 'paused' ? 'resume' : 'recast';
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}; \`baton ${way} ${cast.id}\` comes first`);
  }
  const asked = Object.values(cast.turns).filter(({ phase }) => phase === 'asked');
  const turn = input.turn === undefined ? asked[0] : asked.find(({ id }) => id === input.turn);
  if (!turn) {
    const which = input.turn === undefined ? 'no turn' : `turn ${input.turn}`;
    const how = input.turn === undefined ? 'waits for an answer' : 'does not wait for an answer';
    return deny('NOT_ALLOWED_NOW', `${which} of cast ${cast.id} ${how}`, { waiting: asked.map(({ id }) => id) });
  }
  if (input.turn === undefined && asked.length > 1) {
    const ids = asked.map(({ id }) => id);
    return deny('NOT_ALLOWED_NOW', `turns ${ids.join(', ')} wait; name one with --turn`, { waiting: ids });
  }
  if (cast.status === 'waiting') {
    pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id} was answered` });
  }
  const { at, by, output } = input;
  const said = { kind: 'attempt.output', at, by, cast: cast.id, turn: turn.id, attempt: turn.attempt, output } as const;
  return takeOutput(pen, cast, turn, said);
}
