// What an older Node is told, by the command and by an import of the package alike, in words that any Node understands; or null.
'use strict';
module.exports =
  Number.parseInt(process.versions.node, 10) < 24
    ? `baton needs Node.js 24 or newer; this is ${process.version}. Install a newer Node, or put it first on PATH.`
    : null;
