// Loaded first in every process of the tests: the sources are quick to find, and their compiled code is kept between runs.
'use strict';
const { join } = require('node:path');
const modules = require('node:module');
modules.enableCompileCache(join(__dirname, '..', 'node_modules', '.cache', 'baton-tests'));
require('../bin/own-sources.cjs');

// Vitest imports each test file under a new address (`?vitest=…`), for which no compiled code is kept. Here a process imports a
// file under its own address first. A file that is run again, while somebody watches, gets another one.
const MARK = /\?vitest=\d+$/;
const imported = new Set();
let isOutermost = false;

function underItsName(specifier, context, next) {
  const found = next(specifier, context);
  const url = found.url.replace(MARK, '');
  if (url === found.url || (imported.has(url) && !url.endsWith('/fixed-seed.js'))) return found;
  imported.add(url);
  return { ...found, url };
}

modules.registerHooks({
  resolve(specifier, context, next) {
    // The hook of Vitest is registered after this one, before it imports the first file. Ours has to come after it.
    if (!isOutermost && specifier.endsWith('/fixed-seed.js')) {
      isOutermost = true;
      modules.registerHooks({ resolve: underItsName });
    }
    return next(specifier, context);
  },
});
