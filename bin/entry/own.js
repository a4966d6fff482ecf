// The modules that the package gives to others: from source in a checkout, which needs no build, and built in a package.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const require = createRequire(import.meta.url);

/** `name` is that of the module without its ending. */
export function own(name) {
  const tooOld = require('../node-version.cjs');
  // The trace would only name the modules of Node itself.
  if (tooOld !== null) throw Object.assign(new Error(tooOld), { stack: `Error: ${tooOld}` });
  const source = at(`src/${name}.ts`);
  return require(existsSync(source) ? source : at(`dist/${name}.js`));
}
