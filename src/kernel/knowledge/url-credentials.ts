// User and password in an address: knowledge says where something is, and never with which key one gets in.
const CREDENTIALS = /([a-z][a-z0-9+.-]{0,19}:\/\/)[^\s/?#@:]{0,256}:[^\s/?#@]{0,256}@/gi;

/** The text without any; a user alone, as in `ssh://git@host`, is part of the address. */
export function withoutCredentials(text: string): string {
  return text.includes('://') ? text.replace(CREDENTIALS, '$1') : text;
}
