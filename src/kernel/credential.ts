// Tells a credential from a remark about one. The text after `password:` is mostly prose, a placeholder, a type or the
/** The source of a pattern for the words that name a credential; in the singular, for plurals are talked about. */
export const CREDENTIAL_WORD =
  '(?:api[ _-]?key|secret(?:[ _-]?access)?(?:[ _-]?key)?|token|password|passwd|passphrase|(?<![a-z])pwd(?!=[/~.])|credential|(?:private|access|account|auth|encryption|signing|master)[_-]?key)';
const ENDS_IN_CREDENTIAL = new RegExp(`${CREDENTIAL_WORD}$`, 'i');
/** Only the beginning of a value, and the end of a name, is looked at. */
const JUDGED_MAX = 256;

/** A placeholder for a value. */
const PLACEHOLDER =
  /^(?:[$<{[%*#•≥≤]|!(?:vault|secret|env|ref|sub)\b|x{3,}|\.{2,}|…|-+$|_+$|your[_-]|my[_-](?:api|secret|token|password)|(?:process|import\.meta|os|ENV|env)\b[.[]|env:|vault:|secrets?[./]|config\.|settings\.)|^(?:example|placeholder|redacted|masked|hidden|dummy)\b/i;
/** Words that say something about a credential; none of them is one. */
const PROSE = new Set(
  (
    'a an and are as at be been by can could does each every for from has have if in into is it its may might must need ' +
    'needs never no none nor not of off on once only or our per see shall should so than that the their then there these ' +
    'they this those to too use used uses via was we were what when where which who why will with would yes you your ' +
    'any all array both absent bad basic bearer bool boolean buffer bytea bytes check comes cookie default empty env env-var error ' +
    'expired expiry expires fail failed fails false fail-closed file fine found header hidden id int integer invalid jwt ' +
    'key keyring leaked local lost manager masked missing n/a nil null number oauth oauth2 object ok okay old new opaque ' +
    'optional pass passed pending plain private public read redacted refresh rejected removed renew required reset revoke ' +
    'revoked rotate rotated rotation safe same saml server session set sha256 signed state status storage store stored ' +
    'str string success tbd test text the todo token tokens true type uint8array undefined unknown unset unused user valid value vault void ' +
    'varchar wrong add ask change create delete fetch fix generate get give keep list load log mask move parse ' +
    'pick print remove replace rename request scan send skip update verify write bcrypt argon2 hs256 rs256 es256 hmac'
  ).split(' '),
);
/** Words that begin a remark after a colon. After an equals sign any of them may be a password. */
const REMARKS = new Set(
  (
    'about above accept accepts after again against allow allows alphanumeric already also always amount another anyone ' +
    'anything appears applies avoid because becomes before behind being below between beyond blank both but cannot ' +
    'case-sensitive characters choose clear click clients column consider contains controls copy correct could current ' +
    'decides defines depends describes different do docs documentation during either enables ensure enter everyone ' +
    'everything exactly exists expiration export field first five flow follow follows form four goes grants handler ' +
    'handles hard-coded hardcoded hash he header headers held her here his holds how i import includes incorrect initial ' +
    'input insecure inside instead issue just kept length less let lets lifetime like limit lives login long longer look ' +
    'looks made make makes mandatory many match matches max maximum maybe means middleware min minimum more most moves ' +
    'my name names next nobody note nothing now nullable often one other out output outside over own page part paste path ' +
    'people perhaps permanent plain-text plaintext policy prefer present previous probably problem prompt provide provides ' +
    'question random rather reads reason receives refers refreshes requires resetting returns reuse risk rotates rule rules run same say ' +
    'says scheme scope second secure sensitive she shorter show shows since some someone something sometimes soon source ' +
    'starts static stays step still strength strong such support take taken takes tell temporary them third though three ' +
    'through too try turns two unchanged under unique unsafe until up usage users usually variable verified version very ' +
    'warning weak whatever whether while whose within without works ' +
    'accepted allowed based blocked bound cached called checked configured copied created deleted denied deprecated ' +
    'disabled documented enabled encrypted forwarded generated given handled handling hashed ignored injected issued ' +
    'limited loaded logged logging mended mocked mounted moved parsed parsing passing provided refreshed refused renamed ' +
    'renewed replaced returned scoped scrubbed sent shown skipped stubbed supplied tested updated using validated validation'
  ).split(' '),
);

/**
 * Names written as in code (`api_key`, `clientSecret`), and those never used in passing (`password`). What is given to one
 * of them is a value. A plain `token` or `secret` may be part of a sentence.
 */
const VARIABLE_WORD = /^(?:passw|passphrase|pwd|[a-z]+key$|\S*[_-])/i;
const VARIABLE_PREFIX = /(?:[A-Za-z0-9]_|(?:access|api|auth|bearer|bot|client|id|personal|refresh|session|user)-?)$/i;

/** Whether a word for a credential is the name of a variable, or the end of one. `before` ends where the word begins. */
export function isVariable(before: string, word: string): boolean {
  if (/\s/.test(word)) return false;
  const isHump = /[a-z0-9]$/.test(before) && /^[A-Z]/.test(word);
  return isHump || VARIABLE_WORD.test(word) || VARIABLE_PREFIX.test(before);
}

/** Whether a word after a credential's name is a remark or a placeholder and not the value. */
export function isRemark(word: string): boolean {
  return word === '' || PLACEHOLDER.test(word) || isProse(word) || isOneOf(REMARKS, word);
}

/** Whether a name, such as the key of a member, ends in a word for a credential. */
export function namesCredential(name: string): boolean {
  return ENDS_IN_CREDENTIAL.test(name.slice(-JUDGED_MAX));
}

/**
 * How a value is given. `set`: after an equals sign, where everything but a placeholder counts. `given` and `said`: after a
 * colon without quotes, behind the name of a variable and behind a plain word.
 */
export type ValueContext = 'quoted' | 'set' | 'given' | 'said';

/**
 * Whether a value in the place of a credential is one. Behind a plain word most of what people write is a remark, so that there
 * a word counts only where nothing but a sign or the end follows it.
 */
export function isCredential(written: string, place: ValueContext, following: string): boolean {
  const value = written.slice(0, JUDGED_MAX).trim();
  if (value === '' || PLACEHOLDER.test(value) || isProse(value) || value.includes('[secret:')) return false;
  if (isReference(value)) return false;
  if (place === 'quoted') return !/\s/.test(value) || !value.split(/\s+/).some(isProse);
  if (value.includes('(')) return false; // A call in code.
  if (place === 'set') return !/^[0-9]{1,3}$/.test(value);
  if (isOneOf(REMARKS, value)) return false;
  if (/^(?:[A-Z][a-z]+){2,}$/.test(value)) return false; // The name of a type.
  if (/^https?:\/\//i.test(value) || isFilePath(value)) return false;
  if (/^[0-9][0-9.,:%-]*$/.test(value)) {
    const isCounting = place === 'said' && /^[.:)\]}!?,;]*[ \t]+(?:[A-Za-z]|\[secret:)/.test(following);
    return !isCounting && /^[0-9]{4,}$/.test(value);
  }
  if (/[0-9!@#$%^&*+=~]/.test(value) || /[a-z][A-Z]/.test(value) || value.length >= 24) return true;
  const goesOn = place === 'said' && /^[ \t]+(?:[A-Za-z]|\[secret:)/.test(following);
  return !goesOn && !/(?:ed|ing|ly|ion|ment)$/i.test(value);
}

function isProse(word: string): boolean {
  return isOneOf(PROSE, word);
}

function isOneOf(words: ReadonlySet<string>, word: string): boolean {
  return words.has(word.toLowerCase().replace(/[.,:;!?[\](){}]+$/, ''));
}

/** A name in code that holds the credential elsewhere: `user.token`, `nextToken`, `PASSWORD`. */
function isReference(value: string): boolean {
  if (/^[A-Za-z_]+(?:\.[A-Za-z_]+)+$/.test(value)) return true;
  return /^[A-Za-z_]+$/.test(value) && ENDS_IN_CREDENTIAL.test(value);
}

function isFilePath(value: string): boolean {
  return /^(?:[./~]|[\w@-]+\/)/.test(value) && !/[+=]/.test(value) && /^[\w.@~/-]+$/.test(value);
}

/** Digests, commit ids and UUIDs are written next to such words all the time and open nothing. */
function isHash(value: string): boolean {
  return /^[0-9a-fA-F]{6,}$/.test(value) || /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/.test(value);
}

/** Whether no one would say this aloud. */
export function isRandom(value: string): boolean {
  const digits = value.replace(/[^0-9]/g, '').length;
  const cases = /[a-z]/.test(value) && /[A-Z]/.test(value);
  if (isHash(value) || isFilePath(value) || digits < (cases ? 3 : 5) || !/[A-Za-z]/.test(value)) return false;
  return entropyOf(value) >= 3.5;
}

/** Letters in a row that are too long for a word, unless they end as the long words of a language do. */
export function isNoWord(head: string): boolean {
  return /^[A-Za-z]{16,}=*$/.test(head) && !/(?:tion|ment|ness|ship|it(?:y|ies)|ing|ly)s?$/i.test(head);
}

/** Bits per character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** What a run of hex digits is where it is called the hash of a credential, with at most two words between the two. */
const DIGEST_NAMED = new RegExp(
  `\\b(?:hash(?:e[ds])?|digests?|sha-?[0-9]{0,4}|md5|checksums?|fingerprints?)[ \\t]{1,3}(?:of|for)[ \\t]{1,3}(?:[\\w'-]{1,20}[ \\t]{1,3})?${CREDENTIAL_WORD}[ \\t]{1,3}(?:(?:is|was)[ \\t:]{1,3})?["'\`]?$`,
  'i',
);

/** A digest or a path is a key where the text calls it one: `api key 9f8a…`. `before` ends where the value begins. */
export function isSpokenKey(before: string, value: string): boolean {
  if (/^[0-9a-fA-F]{32,}$/.test(value)) return !DIGEST_NAMED.test(before);
  return /access[ _-]?key[ \t:]{1,3}(?:is[ \t]{1,3})?["'`]?$/i.test(before) && /^[A-Za-z0-9+/]{40}$/.test(value);
}

/**
 * Variables that look like credentials, by name or by form. Their values are removed from all that a program with them in
 * its environment prints.
 */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Words that name a credential wherever they are in a name, and short ones that must be a part of their own. */
const SECRET_NAME =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|SIGNING)_?KEY|(?<!BY|COM)PASS(?:_|$)|(?:^|_)(?:KEY|PWD|AUTH|PAT)(?:_|$)/i;
/** Names that say where a credential is, or something about it, and the folders that a shell keeps. */
const NO_SECRET_NAME = /_(?:FILE|PATH|DIR|HOME|SOCK|URL|URI|HOST|PORT|NAME|TYPE|TTL|TIMEOUT)$|^(?:OLD)?PWD$/i;
/** A region or a path may be in a variable like a key. Only values that do not occur by chance count. */
const SECRET_VALUE = /^(?=.{0,200}[a-z])(?=.{0,200}[A-Z])(?=.{0,200}[0-9])[A-Za-z0-9+/_=.~-]{16,4096}$/;
const CHARS_MIN = 8;
const LINE_CHARS_MIN = 16;
/** Passwords of development machines that are in every text. */
const COMMON = new Set(
  'administrator anonymous changeme development disabled localhost optional password postgres production required undefined'.split(
    ' ',
  ),
);
const MARK = '[secret:env]';

/**
 * The values of these variables that are secrets, and the ways in which programs write them. The longest first: one may be a
 * part of another.
 */
export function knownValues(env: Variables, names: readonly string[] = Object.keys(env)): readonly string[] {
  const values = names.flatMap((name) => {
    const value = (env[name] ?? '').trim();
    return [...(isSecret(name, value) ? [value, ...linesOf(value)] : []), ...passwordIn(value)];
  });
  return [...new Set(values.flatMap(formsOf))].sort((a, b) => b.length - a.length);
}

/** The lines of a key, because some programs begin each line with a word of their own. */
function linesOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= LINE_CHARS_MIN && !line.startsWith('-----'));
}

/** The password of an address such as `postgres://user:password@host`. */
function passwordIn(value: string): readonly string[] {
  const [, written = ''] = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^/@\s:]{0,200}:([^/@\s]{1,500})@/i.exec(value) ?? [];
  const words = [written, decoded(written)].filter((word) => word.length >= CHARS_MIN);
  return words.filter((word) => !COMMON.has(word.toLowerCase()));
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return '';
  }
}

/** A value as it is, in JSON, in an address, in hex digits, and in base64, alone or after other bytes. */
function formsOf(value: string): readonly string[] {
  const bytes = bytesOf(value);
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const address = bytes.length === 0 ? value : encodeURIComponent(value);
  const base64 = [0, 1, 2].map((before) => base64Of(bytes, before));
  const web = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const forms = [JSON.stringify(value).slice(1, -1), address, hex, hex.toUpperCase(), ...base64, ...web];
  return [value, ...forms.filter((form) => form.length >= CHARS_MIN)];
}

/** In UTF-8. None for a text that has no such bytes. */
function bytesOf(value: string): readonly number[] {
  try {
    const escaped = encodeURIComponent(value);
    return Array.from(escaped.matchAll(/%([0-9A-F]{2})|(.)/g), ([, hex, letter = '']) =>
      hex === undefined ? letter.charCodeAt(0) : Number.parseInt(hex, 16),
    );
  } catch {
    return [];
  }
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The letters that these bytes alone decide, where `before` other bytes come first. */
function base64Of(bytes: readonly number[], before: number): string {
  const bits = [...new Array<number>(before).fill(0), ...bytes]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const letters = bits.match(/.{6}/g) ?? [];
  return letters
    .slice(Math.ceil((before * 8) / 6))
    .map((letter) => BASE64[Number.parseInt(letter, 2)])
    .join('');
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
