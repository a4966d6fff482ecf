// Everything that can be done to the file of a log: each column of each table, changed, deleted, doubled, exchanged, cut short;
// the tables; the file. `leases` are no part of the history, and a snapshot is a cache that may be deleted.
import { createHash } from 'node:crypto';
import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { HEAD, inLog, lineAt, otherTurn, rewriteFrom, setLine, swapLines } from './tampering.mjs';

const TEXTS = 2 ** 20;

/** `[what, tamper, kind, seq]`; a seq of null where the fault has no place in the log. */
export const LOG = [
  ['facts.line: a value is changed', inLog((db) => setLine(db, 500, otherTurn(lineAt(db, 500)))), 'CHAIN_BROKEN', 500],
  [
    'facts.line: a space is added',
    inLog((db) => setLine(db, 500, lineAt(db, 500).replace(':', ': '))),
    'ENTRY_NOT_CANONICAL',
    500,
  ],
  [
    'facts.line: members change places',
    inLog((db) => setLine(db, 500, lineAt(db, 500).replace(/^\{("at":"[^"]*"),(.*)\}$/, '{$2,$1}'))),
    'ENTRY_NOT_CANONICAL',
    500,
  ],
  [
    'facts.line: a number is spelled otherwise',
    inLog((db) => setLine(db, 500, lineAt(db, 500).replace('"v":1}', '"v":1.0}'))),
    'ENTRY_NOT_CANONICAL',
    500,
  ],
  [
    'facts.line: it is cut short',
    inLog((db) => setLine(db, 500, lineAt(db, 500).slice(0, -9))),
    'ENTRY_NOT_CANONICAL',
    500,
  ],
  ['facts.line: it is emptied', inLog(`UPDATE facts SET line = '' WHERE seq = 500`), 'ENTRY_NOT_CANONICAL', 500],
  [
    'facts.line: prev is changed',
    inLog((db) => setLine(db, 500, lineAt(db, 500).replace(/"prev":"./, '"prev":"x'))),
    'CHAIN_BROKEN',
    500,
  ],
  [
    'facts.line: the first prev is changed',
    inLog((db) => setLine(db, 1, lineAt(db, 1).replace('"prev":"0', '"prev":"1'))),
    'CHAIN_BROKEN',
    1,
  ],
  [
    'facts.line: the first entry is changed',
    inLog((db) => setLine(db, 1, lineAt(db, 1).replace('"loadout":"L"', '"loadout":"M"'))),
    'CHAIN_BROKEN',
    1,
  ],
  [
    'facts.line: the number is changed',
    inLog((db) => setLine(db, 500, lineAt(db, 500).replace('"seq":500', '"seq":501'))),
    'SEQ_GAP',
    500,
  ],
  [
    'facts.line: the time is set back',
    inLog((db) => setLine(db, 500, lineAt(db, 500).replace(/"at":"2/, '"at":"1'))),
    'TIME_BACKWARDS',
    500,
  ],
  [
    'facts.line: the time is set forward',
    inLog((db) => setLine(db, 500, lineAt(db, 500).replace(/"at":"2/, '"at":"3'))),
    'CHAIN_BROKEN',
    500,
  ],
  [
    'facts.line: who acted is changed',
    inLog((db) => setLine(db, 700, lineAt(db, 700).replace('"by":"test"', '"by":"root"'))),
    'CHAIN_BROKEN',
    700,
  ],
  [
    'facts.line: the last entry is changed',
    inLog((db) => setLine(db, HEAD, otherTurn(lineAt(db, HEAD)))),
    'FORKED',
    HEAD,
  ],
  [
    'facts.line: the last prev is changed',
    inLog((db) => setLine(db, HEAD, lineAt(db, HEAD).replace(/"prev":"./, '"prev":"x'))),
    'CHAIN_BROKEN',
    HEAD,
  ],
  [
    'facts.line: the last but one is changed',
    inLog((db) => setLine(db, HEAD - 1, otherTurn(lineAt(db, HEAD - 1)))),
    'CHAIN_BROKEN',
    HEAD - 1,
  ],
  ['facts.line: two are exchanged', inLog(swapLines(500, 501)), 'SEQ_GAP', 500],
  ['facts.line: one takes the place of another', inLog((db) => setLine(db, 500, lineAt(db, 400))), 'SEQ_GAP', 500],
  ['facts.line: one is rewritten with all after it', inLog((db) => rewriteFrom(db, 500, otherTurn)), 'FORKED', 1],
  [
    'facts.line: a late one is rewritten with all after it',
    inLog((db) => rewriteFrom(db, 1050, otherTurn)),
    'FORKED',
    1031,
  ],
  ['facts: the first is deleted', inLog('DELETE FROM facts WHERE seq = 1'), 'SEQ_GAP', 1],
  ['facts: one is deleted', inLog('DELETE FROM facts WHERE seq = 500'), 'SEQ_GAP', 500],
  ['facts: many are deleted', inLog('DELETE FROM facts WHERE seq BETWEEN 500 AND 600'), 'SEQ_GAP', 500],
  ['facts: the last is cut off', inLog(`DELETE FROM facts WHERE seq = ${HEAD}`), 'TRUNCATED', HEAD],
  ['facts: the tail is cut off', inLog('DELETE FROM facts WHERE seq > 1090'), 'TRUNCATED', 1091],
  [
    'facts: the tail is cut off where a text and a key lie beside it',
    inLog('DELETE FROM facts WHERE seq > 1081'),
    'TRUNCATED',
    1082,
  ],
  ['facts: all but the first half is cut off', inLog('DELETE FROM facts WHERE seq > 500'), 'TRUNCATED', 501],
  [
    'facts: all are deleted',
    inLog('DELETE FROM facts; DELETE FROM texts; DELETE FROM once; DELETE FROM by_cast; DELETE FROM snapshots'),
    'TRUNCATED',
    1,
  ],
  [
    'facts: the tail is made anew',
    inLog((db) => {
      db.exec('DELETE FROM facts WHERE seq = 1100');
      rewriteFrom(db, 1090, otherTurn);
    }),
    'FORKED',
    1031,
  ],
  [
    'facts: one is there twice',
    inLog(`INSERT INTO facts SELECT ${HEAD + 1}, kind, cast_id, task_id, line FROM facts WHERE seq = 500`),
    'SEQ_GAP',
    HEAD + 1,
  ],
  [
    'facts: one is put before the first',
    inLog('INSERT INTO facts SELECT 0, kind, cast_id, task_id, line FROM facts WHERE seq = 500'),
    'SEQ_GAP',
    0,
  ],
  [
    'facts: one is put in between',
    inLog((db) => {
      db.exec('UPDATE facts SET seq = -seq WHERE seq > 500');
      db.exec('UPDATE facts SET seq = 1 - seq WHERE seq < 0');
      db.exec('INSERT INTO facts SELECT 501, kind, cast_id, task_id, line FROM facts WHERE seq = 500');
    }),
    'SEQ_GAP',
    501,
  ],
  ['facts.seq: it is changed', inLog('UPDATE facts SET seq = 5000 WHERE seq = 500'), 'SEQ_GAP', 500],
  [
    'facts.seq: two are exchanged',
    inLog(
      'UPDATE facts SET seq = -1 WHERE seq = 500; UPDATE facts SET seq = 500 WHERE seq = 501; UPDATE facts SET seq = 501 WHERE seq = -1',
    ),
    'SEQ_GAP',
    500,
  ],
  ['facts.kind: it is changed', inLog(`UPDATE facts SET kind = 'cast.aborted' WHERE seq = 500`), 'INDEX_MISMATCH', 500],
  ['facts.cast_id: it is changed', inLog(`UPDATE facts SET cast_id = 'b' WHERE seq = 1051`), 'INDEX_MISMATCH', 1051],
  ['facts.cast_id: it is removed', inLog('UPDATE facts SET cast_id = NULL WHERE seq = 1051'), 'INDEX_MISMATCH', 1051],
  ['facts.task_id: it is changed', inLog(`UPDATE facts SET task_id = 'T-9' WHERE seq = 2`), 'INDEX_MISMATCH', 2],
  ['facts.task_id: it is removed', inLog('UPDATE facts SET task_id = NULL WHERE seq = 2'), 'INDEX_MISMATCH', 2],
  ['facts.task_id: it is added', inLog(`UPDATE facts SET task_id = 'T-1' WHERE seq = 500`), 'INDEX_MISMATCH', 500],
  [
    'facts.task_id: a long one is changed',
    inLog(`UPDATE facts SET task_id = task_id || 'x' WHERE seq = 4`),
    'INDEX_MISMATCH',
    4,
  ],
  [
    'by_cast.seqs: one is left out',
    inLog(`UPDATE by_cast SET seqs = replace(seqs, ',501,', ',') WHERE cast_id = 'a'`),
    'INDEX_MISMATCH',
    501,
  ],
  [
    'by_cast.seqs: one is added',
    inLog(`UPDATE by_cast SET seqs = replace(seqs, ',501,', ',500,501,') WHERE cast_id = 'a'`),
    'INDEX_MISMATCH',
    500,
  ],
  [
    'by_cast.seqs: it is cut short',
    inLog(`UPDATE by_cast SET seqs = substr(seqs, 1, instr(seqs, ',501,') - 1) WHERE cast_id = 'a'`),
    'INDEX_MISMATCH',
    501,
  ],
  [
    'by_cast.cast_id: it is changed',
    inLog(`UPDATE by_cast SET cast_id = 'z' WHERE cast_id = 'a'`),
    'INDEX_MISMATCH',
    1,
  ],
  ['by_cast.block: it is changed', inLog(`UPDATE by_cast SET block = 1 WHERE cast_id = 'a'`), 'INDEX_MISMATCH', 1],
  ['by_cast: one is deleted', inLog(`DELETE FROM by_cast WHERE cast_id = 'a'`), 'INDEX_MISMATCH', 1],
  [
    'by_cast: one is there twice',
    inLog(`INSERT INTO by_cast SELECT cast_id, 1, seqs FROM by_cast WHERE cast_id = 'a'`),
    'INDEX_MISMATCH',
    1,
  ],
  [
    'by_cast: two are exchanged',
    inLog(
      `UPDATE by_cast SET cast_id = 'z' WHERE cast_id = 'a'; UPDATE by_cast SET cast_id = 'a' WHERE cast_id = 'b'; UPDATE by_cast SET cast_id = 'b' WHERE cast_id = 'z'`,
    ),
    'INDEX_MISMATCH',
    1,
  ],
  ['once.key: it is changed', inLog(`UPDATE once SET key = 'k9' WHERE key = 'k1'`), 'ONCE_MISMATCH', 2],
  ['once.seq: it is changed', inLog(`UPDATE once SET seq = 3 WHERE key = 'k1'`), 'ONCE_MISMATCH', 2],
  ['once: one is deleted', inLog(`DELETE FROM once WHERE key = 'k1'`), 'ONCE_MISMATCH', 2],
  ['once: one is there twice', inLog(`INSERT INTO once VALUES ('k1 again', 2)`), 'ONCE_MISMATCH', 2],
  ['once: two are exchanged', inLog(`UPDATE once SET seq = 5 - seq WHERE key IN ('k1', 'k2')`), 'ONCE_MISMATCH', 2],
  ['texts.id: it is changed', inLog(`UPDATE texts SET id = id + 9 WHERE id = 1 * ${TEXTS}`), 'BLOB_MISMATCH', 1],
  [
    'texts.id: it goes to another entry',
    inLog(`UPDATE texts SET id = 600 * ${TEXTS} WHERE id = 1 * ${TEXTS}`),
    'BLOB_MISMATCH',
    1,
  ],
  [
    'texts.digest: it is changed',
    inLog(`UPDATE texts SET digest = replace(digest, 'sha256:', 'sha256:0') WHERE id = 1 * ${TEXTS}`),
    'BLOB_MISMATCH',
    1,
  ],
  [
    'texts.body: it is changed',
    inLog(`UPDATE texts SET body = body || '.' WHERE id = 1 * ${TEXTS}`),
    'BLOB_MISMATCH',
    1,
  ],
  [
    'texts.body: digest and body are changed',
    inLog((db) =>
      db
        .prepare(`UPDATE texts SET body = 'other', digest = ? WHERE id = 1 * ${TEXTS}`)
        .run(`sha256:${createHash('sha256').update('other').digest('hex')}`),
    ),
    'BLOB_MISMATCH',
    1,
  ],
  [
    'texts.body: it is cut short',
    inLog(`UPDATE texts SET body = substr(body, 1, 300) WHERE id = 1 * ${TEXTS}`),
    'BLOB_MISMATCH',
    1,
  ],
  ['texts: one is deleted', inLog(`DELETE FROM texts WHERE id = 1 * ${TEXTS}`), 'BLOB_MISMATCH', 1],
  [
    'texts: one is there twice',
    inLog(`INSERT INTO texts SELECT 700 * ${TEXTS}, digest, body FROM texts WHERE id = 1 * ${TEXTS}`),
    'BLOB_MISMATCH',
    700,
  ],
  [
    'texts: two are exchanged',
    inLog(
      `UPDATE texts SET id = -1 WHERE id = 1 * ${TEXTS}; UPDATE texts SET id = 1 * ${TEXTS} WHERE id = 1 * ${TEXTS} + 1; UPDATE texts SET id = 1 * ${TEXTS} + 1 WHERE id = -1`,
    ),
    'BLOB_MISMATCH',
    1,
  ],
  [
    'texts: an erased one is back',
    inLog((db) =>
      db
        .prepare(`INSERT INTO texts VALUES (3 * ${TEXTS}, ?, ?)`)
        .run(`sha256:${createHash('sha256').update('p'.repeat(400)).digest('hex')}`, 'p'.repeat(400)),
    ),
    'BLOB_MISMATCH',
    3,
  ],
  [
    'texts: one belongs to no entry',
    inLog(`INSERT INTO texts VALUES (5000 * ${TEXTS}, 'sha256:00', 'x')`),
    'BLOB_MISMATCH',
    5000,
  ],
  [
    'an erasure: it names another entry',
    inLog((db) => setLine(db, 1060, lineAt(db, 1060).replace('"from":[3]', '"from":[1]'))),
    'CHAIN_BROKEN',
    1060,
  ],
  [
    'an erasure: it names another text',
    inLog((db) => setLine(db, 1060, lineAt(db, 1060).replace('"digest":"sha256:', '"digest":"sha256:0'))),
    'CHAIN_BROKEN',
    1060,
  ],
  [
    'an erasure: it names no entries',
    inLog((db) => setLine(db, 1060, lineAt(db, 1060).replace('"from":', '"frox":'))),
    'CHAIN_BROKEN',
    1060,
  ],
  [
    'an erasure: it names what is no number',
    inLog((db) => setLine(db, 1060, lineAt(db, 1060).replace('"from":[3]', '"from":[{"toString":3,"valueOf":3}]'))),
    'CHAIN_BROKEN',
    1060,
  ],
  [
    'an erasure: it becomes something else',
    inLog(
      `UPDATE facts SET kind = 'turn.dropped', line = replace(line, 'blob.erased', 'turn.dropped') WHERE seq = 1060`,
    ),
    'CHAIN_BROKEN',
    1060,
  ],
  [
    'an erasure: something else becomes one',
    inLog(
      `UPDATE facts SET kind = 'blob.erased', line = replace(line, 'turn.dropped', 'blob.erased') WHERE seq = 1070`,
    ),
    'CHAIN_BROKEN',
    1070,
  ],
  [
    'an erasure: something else becomes one, of a text that is there',
    inLog((db) => {
      const { digest } = db.prepare(`SELECT digest FROM texts WHERE id = 1 * ${TEXTS}`).get();
      const body = `"body":{"digest":"${digest}","from":[1],"reason":"x"}`;
      setLine(
        db,
        1070,
        lineAt(db, 1070)
          .replace(/"body":\{[^}]*\}/, body)
          .replace('turn.dropped', 'blob.erased'),
      );
      db.exec(`UPDATE facts SET kind = 'blob.erased' WHERE seq = 1070`);
    }),
    'CHAIN_BROKEN',
    1070,
  ],
  ['an erasure: it is deleted', inLog('DELETE FROM facts WHERE seq = 1060'), 'SEQ_GAP', 1060],
  ['an erasure: it is cut off with the tail', inLog('DELETE FROM facts WHERE seq >= 1060'), 'TRUNCATED', 1060],
  [
    'an erasure: it is rewritten with all after it',
    inLog((db) => rewriteFrom(db, 1060, (line) => line.replace('"from":[3]', '"from":[1]'))),
    'FORKED',
    1031,
  ],
  [
    'an erasure: one before it is deleted as well, with a text that nobody erased',
    inLog(`DELETE FROM texts WHERE id = 1 * ${TEXTS}; DELETE FROM facts WHERE seq IN (500, 1060)`),
    'SEQ_GAP',
    500,
  ],
  ['snapshots.through: it is changed', inLog('UPDATE snapshots SET through = through + 1'), 'SNAPSHOT_MISMATCH', 1042],
  [
    'snapshots.digest: it is changed',
    inLog(`UPDATE snapshots SET digest = replace(digest, substr(digest, 1, 4), 'zzzz')`),
    'SNAPSHOT_MISMATCH',
    1041,
  ],
  ['snapshots.body: it is changed', inLog(`UPDATE snapshots SET body = body || ' '`), 'SNAPSHOT_MISMATCH', 1041],
  [
    'snapshots: one is there twice',
    inLog('INSERT INTO snapshots SELECT 700, digest, body FROM snapshots'),
    'SNAPSHOT_MISMATCH',
    701,
  ],
  [
    'the tables: a trigger',
    inLog('CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM texts; END'),
    'SCHEMA_CHANGED',
    1,
  ],
  [
    'the tables: a view in the place of a table',
    inLog('ALTER TABLE facts RENAME TO f; CREATE VIEW facts AS SELECT * FROM f WHERE seq <> 500'),
    'SCHEMA_CHANGED',
    1,
  ],
  ['the tables: a column', inLog('ALTER TABLE facts ADD COLUMN note TEXT'), 'SCHEMA_CHANGED', 1],
  ['the tables: one is gone', inLog('DROP TABLE once'), 'SCHEMA_CHANGED', 1],
  [
    'the file: it is cut short',
    (folder) => {
      const file = join(folder, 'state', 'log.sqlite');
      truncateSync(file, statSync(file).size / 2);
    },
    'FILE_DAMAGED',
    null,
  ],
  ['the file: it is emptied', (folder) => truncateSync(join(folder, 'state', 'log.sqlite'), 0), null, null],
];
