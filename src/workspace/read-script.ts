// Reads a script of agents' turns. What it says is played much later, so what it gets wrong is found here.
import type { Script } from '../kernel/graph/config.ts';
import { isObject, isString, type Json, type JsonObject, nameOfType } from '../kernel/json.ts';
import { readJsonFile } from './load-config.ts';
import { UsageError } from './usage-error.ts';

const REPEAT = '$repeat';
const FAULTS = ['crash', 'timeout', 'transport'];

type Member = { readonly accepts: (value: Json) => boolean; readonly wants: string };

const isAmount = (value: Json): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const isTexts = (value: Json): boolean => Array.isArray(value) && value.every(isString);

const USAGE: Readonly<Record<string, Member>> = {
  input: { accepts: isAmount, wants: 'a number, 0 or above' },
  output: { accepts: isAmount, wants: 'a number, 0 or above' },
  cost: { accepts: isAmount, wants: 'a number, 0 or above' },
};

const TURN: Readonly<Record<string, Member>> = {
  output: { accepts: () => true, wants: 'any value' },
  delayMs: { accepts: isAmount, wants: 'a number of milliseconds, 0 or above' },
  usage: { accepts: isObject, wants: 'an object {"input", "output", "cost"}' },
  fail: {
    accepts: (value) => typeof value === 'string' && FAULTS.includes(value),
    wants: `one of ${FAULTS.join(', ')}`,
  },
  write: { accepts: isObject, wants: 'an object from paths to texts' },
  exec: { accepts: isTexts, wants: 'the words of a command that a person approved' },
  commands: { accepts: isTexts, wants: 'a list of commands that it is said to have run' },
};

export function readScript(file: string): Script {
  const script = readJsonFile(file);
  const fault = faultOfScript(script);
  if (fault !== null) throw new UsageError(`${file}: ${fault}`);
  return script as Script;
}

/** What is wrong with a script, or null. */
export function faultOfScript(script: Json): string | null {
  if (!isObject(script)) return 'a script is an object of lists of turns';
  for (const [key, turns] of Object.entries(script)) {
    const fault = faultOfList(key, turns);
    if (fault !== null) return fault;
  }
  return null;
}

function faultOfList(key: string, turns: Json): string | null {
  if (!Array.isArray(turns)) return `the turns of ${key} must be a list, not ${nameOfType(turns)}`;
  const repeat = turns.indexOf(REPEAT);
  if (repeat !== -1 && (repeat !== turns.length - 1 || repeat === 0)) {
    return `"${REPEAT}" under ${key} must be the last of at least two elements`;
  }
  for (const [index, turn] of turns.entries()) {
    const fault = isObject(turn) && turn.$turn !== undefined ? faultOfTurn(turn) : null;
    if (fault) return `turn ${index + 1} of ${key}: ${fault}`;
  }
  return null;
}

function faultOfTurn(turn: JsonObject): string | null {
  const { $turn, ...beside } = turn;
  const [extra] = Object.keys(beside);
  if (extra !== undefined) return `${extra} stands beside $turn; put it inside, or leave $turn out`;
  if (!isObject($turn)) return `$turn is ${nameOfType($turn)}; it must be an object`;
  return (
    faultOfMembers('$turn', $turn, TURN) ?? (isObject($turn.usage) ? faultOfMembers('usage', $turn.usage, USAGE) : null)
  );
}

function faultOfMembers(what: string, object: JsonObject, members: Readonly<Record<string, Member>>): string | null {
  for (const [name, value] of Object.entries(object)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (!member) return `${what} has no ${name}; it has ${Object.keys(members).join(', ')}`;
    if (!member.accepts(value)) return `${name} must be ${member.wants}`;
  }
  return null;
}
