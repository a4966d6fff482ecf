// One request to an address that a person named, and in words why it did not arrive.

/** What the codes of the system mean, for people. */
const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up',
  ENETUNREACH: 'its network cannot be reached',
  EHOSTUNREACH: 'its host cannot be reached',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

export function connectionReason(code: string): string {
  return Object.hasOwn(CONNECTION_REASONS, code) ? (CONNECTION_REASONS[code] ?? code) : code;
}

const TIMEOUT_MS = 10_000;

/** Null where it was taken, else why not. A redirect is not followed: the data goes to the address that was named, or nowhere. */
export async function postJson(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  timeoutMs = TIMEOUT_MS,
): Promise<string | null> {
  const sent = { 'content-type': 'application/json', ...headers };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { method: 'POST', headers: sent, body, signal, redirect: 'manual' });
    await response.body?.cancel();
    if (response.status >= 300 && response.status < 400) return 'it sends the request on to another address';
    return response.ok ? null : `it answered with status ${response.status}`;
  } catch (error) {
    return whyNotSent(url, error as Error);
  }
}

/** `fetch failed` says nothing; its cause does. */
function whyNotSent(url: string, { name, message, cause }: Error): string {
  if (name === 'TimeoutError') return `it did not answer within ${TIMEOUT_MS / 1_000} s`;
  const { code, message: why = message } = (cause ?? {}) as NodeJS.ErrnoException;
  return `nothing answers at ${new URL(url).host} (${code === undefined ? why : connectionReason(code)})`;
}
