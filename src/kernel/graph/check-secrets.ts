// Commands are frozen with the cast that runs them, word for word, because a cast that is carried on must run the same ones.
// A credential among their words is kept beside the log instead, and is better not written there at all.
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { findSecrets, scrubJson } from '../secrets.ts';
import { given, objectAt } from './authored.ts';
import { type Findings, warning } from './issue.ts';

/** What of a materia becomes a command, or a message to one. */
const FIELDS = ['command', 'args', 'params', 'baseUrl'];

export function* checkSecrets(config: JsonObject): Findings {
  for (const [id, materia] of Object.entries(objectAt(config, 'materia'))) {
    if (!isObject(materia)) continue;
    for (const field of FIELDS) yield* checkValue(given(materia, field), `materia.${id}.${field}`);
  }
  for (const [name, checker] of Object.entries(objectAt(config, 'checkers'))) {
    yield* checkValue(isObject(checker) ? given(checker, 'command') : undefined, `checkers.${name}.command`);
  }
}

function* checkValue(value: Json | undefined, path: string): Findings {
  const kind = value === undefined ? null : kindIn(value);
  if (kind === null) return;
  const message = `It holds what looks like a credential (${kind}). It is kept out of the log, and still stands in this file: put it into an environment variable and let the program read it there; an agent's program gets the variables that its env names.`;
  yield warning('COMMAND_HOLDS_SECRET', path, message);
}

/** The kind of the first credential; an option and its value count as one also where they are two words. */
function kindIn(value: Json): string | null {
  const [found] = scrubJson(value).found;
  if (found) return found.kind;
  const words = Array.isArray(value) ? (value as readonly Json[]).flat().filter(isString) : [];
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (next === undefined || !word.startsWith('-')) continue;
    const [secret] = findSecrets(`${word}=${next}`);
    if (secret) return secret.kind;
  }
  return null;
}
