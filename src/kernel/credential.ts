// Tells a credential from a remark about one. What stands after `password:` is mostly prose, a placeholder, a type or the
// name of a variable; this file holds the words for credentials and the judgement of what follows them.

/** The source of a pattern for the words that name a credential; in the singular, for plurals are talked about. */
export const CREDENTIAL_WORD =
  '(?:api[ _-]?key|secret(?:[ _-]?access)?(?:[ _-]?key)?|token|password|passwd|passphrase|(?<![a-z])pwd(?!=[/~.])|credential|(?:private|access|account|auth|encryption|signing|master)[_-]?key)';
const ENDS_IN_CREDENTIAL = new RegExp(`${CREDENTIAL_WORD}$`, 'i');
/** Only the beginning of a value, and the end of a name, is looked at. */
const JUDGED_MAX = 256;

/** What stands for a value instead of being one. */
const PLACEHOLDER =
  /^(?:[$<{[%*#•]|x{3,}|\.{2,}|…|-+$|_+$|your[_-]|my[_-](?:api|secret|token|password)|(?:process|import\.meta|os|ENV|env)\b[.[]|env:|vault:|secrets?[./]|config\.|settings\.)|^(?:example|placeholder|redacted|masked|hidden|dummy)\b/i;
/** Words that say something about a credential; none of them is one. */
const PROSE = new Set(
  (
    'a an and are as at be been by can could does each every for from has have if in into is it its may might must need ' +
    'needs never no none nor not of off on once only or our per see shall should so than that the their then there these ' +
    'they this those to too use used uses via was we were what when where which who why will with would yes you your ' +
    'any all both absent bad basic bearer bool boolean bytes check comes cookie default empty env env-var error ' +
    'expired expiry expires fail failed fails false fail-closed file fine found header hidden id int integer invalid jwt ' +
    'key keyring leaked local lost manager masked missing n/a nil null number oauth oauth2 object ok okay old new opaque ' +
    'optional pass passed pending plain private public read redacted refresh rejected removed renew required reset revoke ' +
    'revoked rotate rotated rotation safe same saml server session set sha256 signed state status storage store stored ' +
    'str string success tbd test text the todo true type undefined unknown unset unused user valid value vault void ' +
    'varchar wrong add ask change create delete fetch fix generate get give keep list load log mask move parse ' +
    'pick print remove replace rename request scan send skip update verify write bcrypt argon2 hs256 rs256 es256 hmac'
  ).split(' '),
);
/** Words that go on from a colon with a remark. Set with an equals sign, any of them may be somebody's password. */
const REMARKS = new Set(
  (
    'about after again already also always amount before both characters column during either exactly expiration field ' +
    'first flow form goes handler handles header headers held how initial input just kept length less lifetime limit lives ' +
    'login longer max maximum min minimum more most name names next nothing now one output page path policy present prompt ' +
    'rule rules same scheme scope second shorter since some soon source stays still such take takes third through two ' +
    'unchanged under until usage variable verified version very warning whether while without works'
  ).split(' '),
);

/** Whether a name, such as the key of a member, ends in a word for a credential. */
export function namesCredential(name: string): boolean {
  return ENDS_IN_CREDENTIAL.test(name.slice(-JUDGED_MAX));
}

/**
 * Whether a value in the place of a credential is one. `set` is what follows an equals sign, where anything counts that
 * is no placeholder; `said` is what follows a colon without quotes, where most of what people write is a remark.
 */
export function isCredential(written: string, place: 'quoted' | 'set' | 'said', following: string): boolean {
  const value = written.slice(0, JUDGED_MAX).trim();
  if (value === '' || PLACEHOLDER.test(value) || isProse(value) || value.includes('[secret:')) return false;
  if (isReference(value)) return false;
  if (place === 'quoted') return !/\s/.test(value) || !value.split(/\s+/).some(isProse);
  if (value.includes('(')) return false; // A call in code.
  if (place === 'set') return !/^[0-9]{1,3}$/.test(value);
  if (isOneOf(REMARKS, value)) return false;
  if (/^(?:[A-Z][a-z]+){2,}$/.test(value)) return false; // The name of a type.
  if (/^https?:\/\//i.test(value) || isFilePath(value)) return false;
  const goesOn = /^[.:)\]}!?,;]*[ \t]+(?:[A-Za-z]|\[secret:)/.test(following);
  if (/^[0-9][0-9.,:%-]*$/.test(value)) return !goesOn && /^[0-9]{4,}$/.test(value);
  if (/[0-9!@#$%^&*+=~]/.test(value) || /[a-z][A-Z]/.test(value) || value.length >= 24) return true;
  return !goesOn && !/(?:ed|ing|ly|ion|ment)$/i.test(value);
}

function isProse(word: string): boolean {
  return isOneOf(PROSE, word);
}

function isOneOf(words: ReadonlySet<string>, word: string): boolean {
  return words.has(word.toLowerCase().replace(/[.,:;!?]+$/, ''));
}

/** A name in code that holds the credential elsewhere: `user.token`, `nextToken`, `PASSWORD`. */
function isReference(value: string): boolean {
  if (/^[A-Za-z_]+(?:\.[A-Za-z_]+)+$/.test(value)) return true;
  return /^[A-Za-z_]+$/.test(value) && ENDS_IN_CREDENTIAL.test(value);
}

function isFilePath(value: string): boolean {
  return /^(?:[./~]|[\w@-]+\/)/.test(value) && !/[+=]/.test(value) && /^[\w.@~/-]+$/.test(value);
}

// Digests, commit ids and UUIDs are written next to such words all the time and open nothing.
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

/** Bits per character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** What a run of hex digits is where its sentence says so before it, with the rest of that sentence. */
const DIGEST_NAMED =
  /\b(?:hash(?:e[ds])?|digests?|sha-?[0-9]*|md5|commits?|checksums?|fingerprints?|revisions?)\b[^.;!?\n]*$/i;

/**
 * What looks like a digest, or like a path, is a key all the same where it is said to be one: `api key 9f8a…`, or forty
 * letters after the name of a secret access key. `before` ends where the value begins, and need not be long.
 */
export function isSpokenKey(before: string, value: string): boolean {
  if (/^[0-9a-fA-F]{32,}$/.test(value)) return !DIGEST_NAMED.test(before);
  return /access[ _-]?key[ \t:]{1,3}(?:is[ \t]{1,3})?["'`]?$/i.test(before) && /^[A-Za-z0-9+/]{40}$/.test(value);
}
