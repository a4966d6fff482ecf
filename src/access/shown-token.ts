// The token that a person's script shows in its environment. It is taken out of the environment at once, so that no program
// that this process starts inherits it.

/** The variable that holds it. */
export const TOKEN_VARIABLE = 'BATON_TOKEN';

let shown: string | null = null;

/** Null where none is shown. */
export function shownToken(env: NodeJS.ProcessEnv = process.env): string | null {
  shown ??= env[TOKEN_VARIABLE] || null;
  delete env[TOKEN_VARIABLE];
  return shown;
}
