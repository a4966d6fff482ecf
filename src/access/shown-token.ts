// The token that a person's script shows in its environment. It is taken out of the environment at once, so that no program
// that this process starts inherits it.

/** The variable that holds it. */
export const TOKEN_VARIABLE = 'BATON_TOKEN';

/** What was taken out of each environment. */
const taken = new WeakMap<NodeJS.ProcessEnv, string>();

/** Null where none is shown. */
export function shownToken(env: NodeJS.ProcessEnv = process.env): string | null {
  const shown = env[TOKEN_VARIABLE];
  delete env[TOKEN_VARIABLE];
  if (shown && !taken.has(env)) taken.set(env, shown);
  return taken.get(env) ?? null;
}
