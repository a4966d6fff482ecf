// The built page. Only files that were found in its folder are served, each by its own name: a path of a request is looked up
// and never joined to a folder. Every other address of the page is respond with the page itself, which knows its views.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { deny } from '../kernel/verdict.ts';
import { respond } from './answer.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};
const SMALL = 1_024;

type Kept = {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer> | null;
  readonly type: string;
};

export class PageFiles {
  readonly #dir: string;
  #built = 0;
  #names: ReadonlySet<string> = new Set();
  readonly #kept = new Map<string, Kept>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  answer(path: string, acceptsGzip: boolean): Response {
    this.#lookAgain();
    if (!this.#names.has('/index.html'))
      return respond(deny('PAGE_NOT_BUILT', `the page is not built; run \`npm run build:webui\`, or use \`baton ui\``));
    const isFile = this.#names.has(path);
    // A name with an extension is a file; an address of the page has none. `18.1` is an attempt.
    if (!isFile && /\.[a-z][a-z0-9]{0,11}$/i.test(path)) return new Response('not found', { status: 404 });
    const name = isFile ? path : '/index.html';
    const { body, zipped, type } = this.#read(name);
    const isLasting = name.startsWith('/assets/');
    const headers = {
      'content-type': type,
      'cache-control': isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
    };
    if (!zipped || !acceptsGzip) return new Response(body, { headers });
    return new Response(zipped, { headers: { ...headers, 'content-encoding': 'gzip' } });
  }

  #read(name: string): Kept {
    const known = this.#kept.get(name);
    if (known) return known;
    const body = new Uint8Array(readFileSync(join(this.#dir, name)));
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    const zips = body.length > SMALL && /^text\/|javascript|json|svg/.test(type);
    const kept = { body, zipped: zips ? new Uint8Array(gzipSync(body)) : null, type };
    this.#kept.set(name, kept);
    return kept;
  }

  /** A page that was built again has another index. */
  #lookAgain(): void {
    const built = statSync(join(this.#dir, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (built === this.#built) return;
    this.#built = built;
    this.#kept.clear();
    this.#names = new Set(existsSync(this.#dir) ? filesIn(this.#dir) : []);
  }
}

function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length).replaceAll('\\', '/'));
}
