// One text of the log by its digest. Agents' texts are data: they are sent as plain text that no browser takes for anything
// else, and a part of a long one can be asked for.
import type { WorkspaceStore } from '../app/store.ts';
import { deny } from '../kernel/verdict.ts';
import { respond } from './answer.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export async function storedText(
  store: WorkspaceStore | null,
  seqText: string,
  digest: string,
  range: string | null,
): Promise<Response> {
  const seq = /^[1-9][0-9]{0,15}$/.test(seqText) ? Number(seqText) : Number.NaN;
  const unknown = deny('UNKNOWN_TEXT', `entry ${seqText.slice(0, 20)} has no text ${digest.slice(0, 80)}`);
  if (!store || !Number.isSafeInteger(seq) || !DIGEST.test(digest)) return respond(unknown);
  const [row] = await store.asStored((log) => log.lines(seq - 1, 1));
  if (row?.seq !== seq || !row.line.includes(`{"$blob":"${digest}"`)) return respond(unknown);
  const evidence = await store.asStored((log) => log.evidence());
  const text = await evidence
    .textsOf(seq)
    .then((texts) => texts.get(digest))
    .finally(() => evidence.close());
  if (text === undefined)
    return respond(deny('TEXT_ERASED', `the text ${digest} of entry ${seq} was erased`, { seq, digest }));
  return ranged(Buffer.from(text), range, digest);
}

function ranged(bytes: Buffer, range: string | null, digest: string): Response {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, max-age=31536000, immutable',
    'accept-ranges': 'bytes',
    etag: `"${digest}"`,
  };
  const part = range === null ? null : partOf(range, bytes.length);
  if (part === 'none')
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${bytes.length}` } });
  if (part === null) return new Response(new Uint8Array(bytes), { headers });
  const [from, to] = part;
  return new Response(new Uint8Array(bytes.subarray(from, to + 1)), {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to}/${bytes.length}` },
  });
}

/** The first and the last byte; `none` where the part lies outside, null where the whole is meant. */
function partOf(range: string, length: number): readonly [number, number] | 'none' | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (from === '' && to === '') return null;
  if (from === '') return Number(to) === 0 || length === 0 ? 'none' : [Math.max(0, length - Number(to)), length - 1];
  const last = to === '' ? length - 1 : Math.min(Number(to), length - 1);
  return Number(from) > last ? 'none' : [Number(from), last];
}
