// The facts that the lifecycle of casts consists of.

/** How their kinds begin. */
export const LIFECYCLE = 'cast.';

/** A query must say it in the same words to be served by the index. */
export const IS_LIFECYCLE = `kind >= 'cast.' AND kind < 'cast/'`;
