// Everything that can be done to a file of checkpoints, beside the log and outside.
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HEAD, inFile } from './tampering.mjs';

/** `[what, tamper, kind, seq]`; a seq of null where the fault has no place in the log. */
const NOTES = 'state/checkpoints/checkpoints.txt';
const OUTSIDE = 'outside/checkpoints.txt';
const notes = (text) =>
  text
    .split('\n\n\u2014')
    .join('\u0000')
    .split('\n\n')
    .filter((note) => note !== '')
    .map((note) => `${note.split('\u0000').join('\n\n\u2014')}\n\n`);

export const CHECKPOINTS = [
  [
    'the size of a checkpoint is changed',
    inFile(NOTES, (text) => text.replace('\n1030\n', '\n1031\n')),
    'CHECKPOINT_MISSING',
    1030,
  ],
  ['its origin is changed', inFile(NOTES, (text) => text.replace(/^/, 'x')), 'CHECKPOINT_SIGNATURE', 1030],
  [
    'its root is changed',
    inFile(NOTES, (text) =>
      text.replace(/\n1030\n./, (found) => `${found.slice(0, -1)}${found.at(-1) === 'A' ? 'B' : 'A'}`),
    ),
    'CHECKPOINT_SIGNATURE',
    1030,
  ],
  [
    'its signature is changed',
    inFile(NOTES, (text) =>
      text.replace(/(\u2014 \S+ .{20})(.)/, (_, head, char) => `${head}${char === 'A' ? 'B' : 'A'}`),
    ),
    'CHECKPOINT_SIGNATURE',
    1030,
  ],
  [
    'its signer is changed',
    inFile(NOTES, (text) => text.replace('\u2014 baton/', '\u2014 other/')),
    'CHECKPOINT_SIGNATURE',
    1030,
  ],
  ['its empty line is removed', inFile(NOTES, (text) => text.replace('\n\n', '\n')), 'CHECKPOINT_SIGNATURE', null],
  ['one is deleted', inFile(NOTES, (text) => notes(text).slice(1).join('')), 'CHECKPOINT_MISSING', 1030],
  ['the last is deleted', inFile(NOTES, (text) => notes(text).slice(0, -1).join('')), 'CHECKPOINT_MISSING', HEAD],
  ['all are deleted', (folder) => rmSync(join(folder, NOTES)), 'CHECKPOINT_MISSING', 1030],
  ['one is there twice', inFile(NOTES, (text) => notes(text)[0] + text), 'CHECKPOINT_ORDER', 1030],
  [
    'two are exchanged',
    inFile(NOTES, (text) => [notes(text)[1], notes(text)[0], notes(text)[2]].join('')),
    'CHECKPOINT_ORDER',
    1030,
  ],
  ['the file is cut short', inFile(NOTES, (text) => text.slice(0, -20)), 'CHECKPOINT_SIGNATURE', null],
  ['something is added to it', (folder) => appendFileSync(join(folder, NOTES), 'x\n'), 'CHECKPOINT_SIGNATURE', null],
  ['a letter is added to it', (folder) => appendFileSync(join(folder, NOTES), 'x'), 'CHECKPOINT_SIGNATURE', null],
  ['a letter is added outside', (folder) => appendFileSync(join(folder, OUTSIDE), 'x'), 'CHECKPOINT_SIGNATURE', null],
  [
    'one outside is changed',
    inFile(OUTSIDE, (text) => text.replace('\n1030\n', '\n1029\n')),
    'CHECKPOINT_SIGNATURE',
    1029,
  ],
  ['the file outside is cut short', inFile(OUTSIDE, (text) => text.slice(0, -20)), 'CHECKPOINT_SIGNATURE', null],
];
