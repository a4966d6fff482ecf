// Loaded first in every process of the tests: the sources are quick to find, and their compiled code is kept between runs.
'use strict';
const { join } = require('node:path');
require('node:module').enableCompileCache(join(__dirname, '..', 'node_modules', '.cache', 'baton-tests'));
require('../bin/own-sources.cjs');
