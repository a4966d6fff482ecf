// The digest of a text. Node's own library for it takes longer to load than many a command runs, and whoever only reads the
// log needs no digest; so it is loaded when the first one is asked for.

let crypto: typeof import('node:crypto') | undefined;

export function sha256(text: string): string {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.hash('sha256', text, 'hex');
}
