// Checks the version in words that any Node understands, then loads the program: from source in a checkout, built in a package.
'use strict';
const major = Number.parseInt(process.versions.node, 10);
if (major < 24) {
  process.stderr.write(
    `baton needs Node.js 24 or newer; this is ${process.version}. Install a newer Node, or put it first on PATH.\n`,
  );
  process.exit(2);
}
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const root = join(__dirname, '..');
const source = join(root, 'src', 'cli', 'main.ts');
const fromSource = existsSync(source);
// Compiled code is kept between runs; without it a checkout would strip the types of every file at every start.
const modules = require('node:module');
if (fromSource) {
  modules.enableCompileCache(join(root, 'node_modules', '.cache', 'baton'));
  modules.registerHooks({ resolve: resolveSource });
} else modules.enableCompileCache();
const entry = fromSource ? source : join(root, 'dist', 'cli', 'main.js');
import(pathToFileURL(entry).href).then(
  ({ main }) => main(process.argv.slice(2)),
  (error) => {
    const isUnfinished = error.code === 'ERR_MODULE_NOT_FOUND';
    const wayOut = isUnfinished ? `run \`npm install\` in ${root}` : 'BATON_DEBUG=1 shows where';
    process.stderr.write(`baton could not start: ${error.message}; ${wayOut}\n`);
    if (process.env.BATON_DEBUG) process.stderr.write(`${error.stack}\n`);
    process.exit(3);
  },
);

/**
 * Our own sources name each other in full. Node would still look every one of them up on disk, follow its links and search
 * for the package it belongs to, which takes a fifth of the time of a short command.
 */
function resolveSource(specifier, context, next) {
  if (!specifier.startsWith('.') || !specifier.endsWith('.ts')) return next(specifier, context);
  return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true };
}
