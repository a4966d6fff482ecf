// Checks the version in words that any Node understands, then loads the program: from source in a checkout, built in a package.
'use strict';
const tooOld = require('./node-version.cjs');
if (tooOld !== null) {
  process.stderr.write(`${tooOld}\n`);
  process.exit(2);
}
const { existsSync } = require('node:fs');
const { dirname, extname, isAbsolute, join } = require('node:path');
const { pathToFileURL } = require('node:url');

const root = join(__dirname, '..');
const source = join(root, 'src', 'cli', 'main.ts');
const fromSource = existsSync(source);
const entry = fromSource ? source : join(root, 'dist', 'cli', 'main.js');
// Compiled code is kept between runs; without it a checkout would strip the types of every file at every start. What is kept
// of a file are the functions that ran when it was first loaded, so that every command keeps its own: filled by another
// command, a tenth of a short one's time goes into compiling what that one did not use.
const modules = require('node:module');
const kept = fromSource ? join(root, 'node_modules', '.cache', 'baton') : keptForUser(process.env);
if (kept) modules.enableCompileCache(join(kept, commandIn(process.argv.slice(2)) ?? 'none'));
if (fromSource) require('./own-sources.cjs');
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

/** Never in a folder that everybody may write to: who plants compiled code there has it run. */
function keptForUser({ XDG_CACHE_HOME, HOME }) {
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  return caches && isAbsolute(caches) ? join(caches, 'baton', 'code') : undefined;
}

/** The command among the words, by the file it has; what else a person may write names no folder. */
function commandIn(argv) {
  const word = argv.find((each, index) => !each.startsWith('-') && !['-C', '--directory'].includes(argv[index - 1]));
  if (word === undefined || !/^[a-z]+$/.test(word)) return undefined;
  const folders = ['commands', '../app/operations'];
  return folders.some((folder) => existsSync(join(dirname(entry), folder, `${word}${extname(entry)}`)))
    ? word
    : undefined;
}
