// Secrets that are known by where they come from: the values of variables that look like credentials, by their name or by
// their form. What a program prints that had them in its environment is stored and handed on without them.
import { isRandom } from './credential.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** Words that name a credential wherever they are in a name, and short ones that must be a part of their own. */
const SECRET_NAME =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|SIGNING)_?KEY|(?<!BY|COM)PASS(?:_|$)|(?:^|_)(?:KEY|PWD|AUTH|PAT)(?:_|$)/i;
/** Names that say where a credential is, or something about it, and the folders that a shell keeps. */
const NO_SECRET_NAME = /_(?:FILE|PATH|DIR|HOME|SOCK|URL|URI|HOST|PORT|NAME|TYPE|TTL|TIMEOUT)$|^(?:OLD)?PWD$/i;
/** A region or a path is handed on like a key; only what nobody would say by chance is taken for one. */
const SECRET_VALUE = /^(?=.{0,200}[a-z])(?=.{0,200}[A-Z])(?=.{0,200}[0-9])[A-Za-z0-9+/_=.~-]{16,4096}$/;
const CHARS_MIN = 8;
/** Passwords of development machines that are in every text. */
const COMMON = new Set(
  'administrator anonymous changeme development disabled localhost optional password postgres production required undefined'.split(
    ' ',
  ),
);
const MARK = '[secret:env]';

/**
 * The values of these variables that are secrets, and how they are written in JSON. The longest first: one may be a part of
 * another.
 */
export function knownValues(env: Variables, names: readonly string[] = Object.keys(env)): readonly string[] {
  const values = names.flatMap((name) => {
    const value = (env[name] ?? '').trim();
    return isSecret(name, value) ? [value, JSON.stringify(value).slice(1, -1)] : [];
  });
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

function isSecret(name: string, value: string): boolean {
  if (value.length < CHARS_MIN) return false;
  if (SECRET_VALUE.test(value) && isRandom(value)) return true;
  return SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name) && !COMMON.has(value.toLowerCase());
}

export function withoutValues(text: string, values: readonly string[]): string {
  return values.length === 0 ? text : text.replace(patternOf(values), MARK);
}

/** At each place the first that fits counts, which is the longest. */
function patternOf(values: readonly string[]): RegExp {
  return new RegExp(values.map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
}

/**
 * Takes values out of a text that comes in pieces. A piece that ends in the beginning of a value is held back until it is
 * known how it goes on.
 */
export class ValueFilter {
  readonly #values: readonly string[];
  #rest = '';

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  /** What can be passed on after this piece. */
  take(piece: string): string {
    const text = this.#rest + piece;
    const until = text.length - Math.max(0, ...this.#values.map((value) => beginningAtEnd(text, value)));
    const cut = this.#matchAround(text, until) ?? until;
    this.#rest = text.slice(cut);
    return withoutValues(text.slice(0, cut), this.#values);
  }

  /** What is left when no piece follows. */
  end(): string {
    const rest = withoutValues(this.#rest, this.#values);
    this.#rest = '';
    return rest;
  }

  /** Where the value begins that a cut at this place would break in two, or null. */
  #matchAround(text: string, at: number): number | null {
    if (this.#values.length === 0) return null;
    for (const match of text.matchAll(patternOf(this.#values))) {
      if (match.index >= at) return null;
      if (match.index + match[0].length > at) return match.index;
    }
    return null;
  }
}

/** How many characters at the end of the text are the beginning of the value. */
function beginningAtEnd(text: string, value: string): number {
  for (let length = Math.min(value.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(value.slice(0, length))) return length;
  }
  return 0;
}
