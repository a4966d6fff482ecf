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

/** Makes the page; answers why that failed, or null. */
export type BuildPage = () => Promise<string | null>;

// A refresh by a tag would go to the same address with its token behind the `#`, which loads nothing.
const RELOAD = { path: '/being-built.js', script: 'setTimeout(() => location.reload(), 3000);' } as const;
const BUILDING = `<!doctype html><meta charset="utf-8"><title>Baton</title><script src="${RELOAD.path}"></script>
<p>The page is being built. This is done once and takes about a minute; then it opens by itself.</p>`;

export class PageFiles {
  readonly #dir: string;
  /** Null where it comes with the package, or the build failed. */
  #build: BuildPage | null;
  #isBuilding = false;
  #whyNot = 'run `npm run build:webui`, or use `baton ui`';
  #built = 0;
  #names: ReadonlySet<string> = new Set();
  readonly #kept = new Map<string, Kept>();

  constructor(dir: string, build: BuildPage | null = null) {
    this.#dir = dir;
    this.#build = build;
  }

  answer(path: string, acceptsGzip: boolean): Response {
    this.#lookAgain();
    if (!this.#names.has('/index.html')) return this.#notBuilt(path);
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

  /** The first who asks for the page of a checkout waits until it is built. */
  #notBuilt(path: string): Response {
    if (this.#build === null) return respond(deny('PAGE_NOT_BUILT', `the page is not built; ${this.#whyNot}`));
    if (!this.#isBuilding) {
      this.#isBuilding = true;
      void this.#build().then((why) => {
        this.#isBuilding = false;
        if (why === null) return;
        this.#build = null;
        this.#whyNot = why;
      });
    }
    const [body, type] = path === RELOAD.path ? [RELOAD.script, TYPES['.js']] : [BUILDING, TYPES['.html']];
    const headers = { 'content-type': String(type), 'cache-control': 'no-store', 'retry-after': '3' };
    return new Response(body, { status: path === RELOAD.path ? 200 : 503, headers });
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
