// The address of a model says where it is. Who asks there is said by a key in the environment: a user and a password in an
// address are sent on by no agent, and would stand in a file that is shared.
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { given, listAt } from './authored.ts';
import { error, type Findings } from './issue.ts';

/** Where a credential belongs instead. */
export const CREDENTIAL_BELONGS =
  'Take it out and put the credential into an environment variable: the one that keyVariable names for openai and anthropic, ANTHROPIC_AUTH_TOKEN for claude, OPENAI_API_KEY for codex.';

/** Whether an address holds a user or a password. */
export function holdsCredential(address: Json | undefined): boolean {
  return isString(address) && /^https?:\/\/[^/?#\\]*@/i.test(address);
}

/** The address itself is not repeated: whoever reads the finding need not learn the password. */
export function* checkAddresses(materia: JsonObject, path: string): Findings {
  const places = [materia, ...listAt(materia, 'fallbacks')];
  for (const [index, place] of places.entries()) {
    if (!isObject(place) || !holdsCredential(given(place, 'baseUrl'))) continue;
    const at = index === 0 ? path : `${path}.fallbacks[${index - 1}]`;
    const message = `The address holds a user or a password, which is not sent on. ${CREDENTIAL_BELONGS}`;
    yield error('INVALID_MATERIA', `${at}.baseUrl`, message);
  }
}
