// Checks the evidence that Baton leaves behind, without Baton: plain Node (20 for a file, 24 for a log), no dependency, no
// network, not a line shared with the program that wrote it. It reads and never writes.
//   node verify.mjs run.baton [--key KEY], or node verify.mjs --log log.sqlite [--checkpoint FILE]… [--key KEY]
// It prints one line for each finding: number of the entry (0: none in particular), kind, a sentence. Exit 0: all is as it
// was written, 1: something is not, 2: what it was told to check, or to check it by, is not there or cannot be opened. The rules:
//   line        an entry is one line: the RFC 8785 (JCS) form of {at, body, by, cast?, clock?, kind, once?, prev, ranMs?, seq, v}
//   chain       leaf = SHA-256(0x00 ‖ line); `prev`: the leaf before, zeros in entry 1; `seq`: from 1; `at`: not decreasing
//   tree        the Merkle tree of RFC 6962 over the leaves: node = SHA-256(0x01 ‖ left ‖ right)
//   checkpoint  a C2SP signed note: origin, size, base64 root, empty line, "— name base64(key id ‖ Ed25519 signature)"
//   text        {"$blob": "sha256:…"} in a body stands for a text beside the line, unless a later `blob.erased` names both
//   index       the columns and tables that entries are found by say what the lines say
import { createHash, createPublicKey, verify as isSignature } from 'node:crypto';
import { accessSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { DatabaseSync } = await import('node:sqlite').catch(() => ({}));
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
const leafOf = (line) => sha256('\0', line);
const digestOf = (text) => `sha256:${sha256(text)}`;
const nodeOf = (left, right) => sha256('\x01', Buffer.from(left, 'hex'), Buffer.from(right, 'hex'));
const rootOf = (peaks) => peaks.reduceRight((right, left) => nodeOf(left, right));
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const [ZEROS, faults] = ['0'.repeat(64), []];
const fault = (seq, kind, why, upTo) => faults.push({ seq, kind, why, upTo });
/** Reports the first of several faults `[is it so, kind, why]`; the others would follow from it. */
const firstOf = (seq, rows) => rows.find(([isSo, kind, why]) => isSo && fault(seq, kind, why)) !== undefined;

// ---- lines and texts
/** RFC 8785: members sorted by UTF-16 code units, no white space, texts and numbers as ECMAScript writes them. */
function jcs(value) {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  const member = (key) => `${jcs(key)}:${jcs(value[key])}`;
  if (isObject(value)) return `{${Object.keys(value).sort().map(member).join(',')}}`;
  if (typeof value === 'string' && !value.isWellFormed()) throw new Error('half a character');
  return JSON.stringify(value);
}

/** JSON.parse of Node 24 can read a name with an escape as another one that ends in a backslash, so such names are parsed alone. */
function parse(text) {
  const names = [];
  const hide = (all, colon) =>
    colon && /[\\\uE000]/.test(all) ? `"\uE000${names.push(JSON.parse(all.slice(0, -1))) - 1}":` : all;
  const show = (value) => {
    if (Array.isArray(value)) return value.map(show);
    if (!isObject(value)) return value;
    const shown = (key) => (key.startsWith('\uE000') ? names[key.slice(1)] : key);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [shown(key), show(member)]));
  };
  const value = JSON.parse(text.includes('\\') ? text.replace(/"(?:[^"\\]|\\.)*"(:?)/g, hide) : text);
  return names.length > 0 ? show(value) : value;
}

/** The entry of a line, or null where the line is not canonical. */
function readLine(line) {
  try {
    const entry = parse(line);
    const isEntry = isObject(entry.body) && typeof entry.kind === 'string' && /^\d{4}-.*Z$/.test(entry.at);
    if (isEntry && jcs(entry) === line) return entry;
  } catch {}
  return null;
}

/** The digests of the texts beside a line, in their order in it. What only looks like a reference stands in a $literal. */
function digestsIn(value) {
  if (Array.isArray(value)) return value.flatMap(digestsIn);
  if (!isObject(value)) return [];
  if (typeof value.$blob === 'string') return [value.$blob];
  const members = !('$json' in value) && isObject(value.$literal) ? value.$literal : value;
  const names = Object.keys(members).sort();
  return names.flatMap((name) => digestsIn(members[name]));
}

/** The places, as entry and digest, whose texts an entry says were erased; and that it is not so. */
const erasedBy = ({ kind, body: { from, digest } }) =>
  kind === 'blob.erased' && Array.isArray(from) ? from.filter(Number.isInteger).map((seq) => jcs([seq, digest])) : [];
const wrong = (place, why, by) => fault(Number.parseInt(place.slice(1), 10), 'BLOB_MISMATCH', `${why}: ${place}`, by);

/** Compares texts with the digests they have in the line of an entry. Those that are not there join `missing`. */
function checkTexts(seq, digests, texts, missing) {
  for (const digest of digests) {
    if (!texts.has(digest)) missing.add(jcs([seq, digest]));
    else if (digestOf(texts.get(digest)) !== digest) fault(seq, 'BLOB_MISMATCH', `its text ${digest} was changed`);
  }
}

/** Whether an entry is not chained to the one before it; and what else can be wrong with a line in its place. */
const isLoose = (seq, entry, before) => seq === before.seq + 1 && entry.prev !== before.leaf;
const lineFaults = (seq, line, entry, before) => [
  [seq <= before.seq, 'SEQ_GAP', `it comes after entry ${before.seq}`],
  [line !== undefined && !entry, 'ENTRY_NOT_CANONICAL', 'the line is not canonical'],
  [entry && entry.seq !== seq, 'SEQ_GAP', `the line in its place has number ${entry?.seq}`],
  [entry?.at < before.at && !isLoose(seq, entry, before), 'TIME_BACKWARDS', 'its time lies before the one before it'],
];

// ---- checkpoints and proofs
/** A public key on one line: name, the first four bytes of SHA-256(name LF 0x01 key) in hex, base64(0x01 ‖ key). */
function readKey(line) {
  const [, name, id, encoded = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S{44})$/.exec(line.trim()) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== 33 || bytes[0] !== 1 || sha256(`${name}\n`, bytes).slice(0, 8) !== id) return [];
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes.subarray(1)]);
  return [{ name, id, object: createPublicKey({ key: der, format: 'der', type: 'spki' }) }];
}

/** The signed notes of a text, each of five lines and an empty one, and nothing else. Base64 counts in one spelling only. */
function checkpointsIn(text, keys, where) {
  const [notes, lines] = [[], text.split('\n')];
  for (let at = 0; at + 1 < lines.length || lines[at]; at += 6) {
    const [origin, size, root = '', gap, signed = '', end] = lines.slice(at, at + 6);
    const [, name, encoded = ''] = /^\u2014 (\S+) (\S+)$/.exec(signed) ?? [];
    const signature = Buffer.from(encoded, 'base64');
    const body = `${origin}\n${size}\n${root}\n`;
    const isNote = origin !== '' && /^(?:0|[1-9]\d{0,14})$/.test(size) && gap === '' && end === '';
    const isExact = signature.toString('base64') === encoded && Buffer.from(root, 'base64').toString('base64') === root;
    const isOf = (key) => key.name === name && key.id === signature.toString('hex', 0, 4);
    const isBy = (key) => isOf(key) && isSignature(null, Buffer.from(body), key.object, signature.subarray(4));
    const last = notes.at(-1)?.size ?? 0;
    const isWrong = firstOf(isNote ? Number(size) : last, [
      [!isNote || !isExact || !keys.some(isBy), 'CHECKPOINT_SIGNATURE', `a note of ${where} is not signed by the key`],
      [Number(size) <= last, 'CHECKPOINT_ORDER', `a note of ${where} is not larger than the one before`],
    ]);
    if (!isWrong) notes.push({ size: Number(size), root: Buffer.from(root, 'base64').toString('hex'), body });
  }
  return notes;
}

/** The root that an audit path leads to from a leaf with this index in a tree of `size` leaves; it is used up on the way. */
function rootBy(path, leaf, index, size) {
  if (size === 1) return leaf;
  const split = 2 ** (Math.ceil(Math.log2(size)) - 1);
  const other = path.pop() ?? ZEROS;
  if (index < split) return nodeOf(rootBy(path, leaf, index, split), other);
  return nodeOf(other, rootBy(path, leaf, index - split, size - split));
}

// ---- a bundle
/** Every byte counts: the file is the canonical form of its own value and a newline, with these members and no others. */
function checkBundle(file, givenKey) {
  const text = readFileSync(file, 'utf8');
  const { signature, ...bundle } = JSON.parse(text);
  const { cast, checkpoint, facts, format, key, redacted, seqs, texts } = bundle;
  if (format !== 'baton.bundle/1' || `${jcs({ ...bundle, signature })}\n` !== text) throw new Error('not canonical');
  if (givenKey && givenKey !== key) fault(0, 'CHECKPOINT_SIGNATURE', 'another key signed it than the given one');
  const [head] = checkpointsIn(`${checkpoint}\n`, readKey(key), 'the bundle');
  if (!head) return '';
  const [missing, shown, signed] = [new Set(), new Map(Object.entries(texts)), Buffer.from(jcs(bundle))];
  const odd = seqs.find((seq, index) => facts[index]?.seq !== seq) ?? facts[seqs.length]?.seq;
  if (odd !== undefined) fault(odd, 'SEQ_GAP', 'the facts are not those that were exported');
  let before = { seq: 0, leaf: ZEROS, at: '' };
  for (const { seq, line, leaf: withheld, proof } of facts) {
    const [entry, leaf] = line === undefined ? [null, withheld] : [readLine(line), leafOf(line)];
    const isProved = seq <= head.size && rootBy(proof, leaf, seq - 1, head.size) === head.root && proof.length === 0;
    firstOf(seq, [
      ...lineFaults(seq, line, entry, before),
      [!isProved, 'PROOF_INVALID', 'its proof does not lead to the signed root'],
      [entry && isLoose(seq, entry, before), 'CHAIN_BROKEN', 'it is not chained to the entry before'],
    ]);
    before = { seq, leaf, at: entry?.at ?? before.at };
    if (!entry) continue;
    checkTexts(seq, digestsIn(entry.body), shown, missing);
    for (const place of erasedBy(entry)) missing.delete(place);
  }
  for (const at of missing) if (!redacted.includes(JSON.parse(at)[1])) wrong(at, 'a text is not there', Infinity);
  // Whatever else was changed is found here; last, because it says nothing of where.
  const bytes = Buffer.from(signature, 'base64');
  const isBy = ({ object }) => bytes.toString('base64') === signature && isSignature(null, signed, object, bytes);
  if (faults.length === 0 && !readKey(key).some(isBy)) fault(0, 'BUNDLE_SIGNATURE', 'the file is not as it was signed');
  const advice = givenKey ? '' : '; compare this key with one that you got elsewhere';
  return `${facts.length} facts of the cast ${cast}, ${redacted.length} texts redacted, signed by ${key}${advice}`;
}

// ---- a log
// The tables: another one, a view in the place of one or a trigger could show an auditor something else than others see.
// The texts of entry n have the ids n · 2^20, n · 2^20 + 1, …; `by_cast` has the numbers of a cast's entries in each full
// block of 1024 entries; `leases`, and the caches `casts` and `snapshot_parts`, are no part of the history.
const CACHES = /table (?:casts: cast_id,started,changed,status,body|snapshot_parts: digest,refs,children,body); /g;
const TABLES = `table by_cast: cast_id,block,seqs; table facts: seq,kind,cast_id,task_id,line; table leases: name,value; \
table once: key,seq; table snapshots: through,digest,body; table texts: id,digest,body`;
const MADE = `SELECT group_concat(type || ' ' || name || ': ' || ifnull((SELECT group_concat(name) FROM
  pragma_table_xinfo(m.name)), ''), '; ' ORDER BY name) AS made FROM sqlite_schema m WHERE type <> 'index'`;
const KEYS = `(SELECT value AS key, seq FROM facts, json_each(line, '$.once'))`;
const BLOCKS = `(SELECT cast_id, (seq - 1) / 1024 AS block, group_concat(seq, ',' ORDER BY seq) AS seqs FROM facts
  WHERE cast_id IS NOT NULL AND seq <= (SELECT max(seq) FROM facts) / 1024 * 1024 GROUP BY 1, 2)`;
/** A long id is stored by its digest in the line, and in full in its column. */
const misfiled = (column, id) => `SELECT seq, '${column}' AS what FROM facts WHERE NOT
  iif(${id} LIKE '{%', (${id}) ->> '$."$blob"' IS digest_of(${column}), (${id}) ->> '$' IS ${column})`;
const less = (what, one, other) => `SELECT ${what} FROM ${one} EXCEPT SELECT ${what} FROM ${other}`;

/** Everything that entries are found by, against the lines: each row of an answer is a fault. */
const REGISTERS = {
  INDEX_MISMATCH: `SELECT seq, 'kind' AS what FROM facts WHERE kind IS NOT line ->> 'kind'
    UNION ALL ${misfiled('cast_id', `coalesce(line -> '$.cast', line -> '$.body.run')`)}
    UNION ALL ${misfiled('task_id', `line -> '$.body.task'`)}`,
  BLOB_MISMATCH: 'SELECT id >> 20 AS seq, digest AS what FROM texts WHERE id >> 20 NOT IN (SELECT seq FROM facts)',
  ONCE_MISMATCH: `SELECT seq, key AS what FROM (${less('key, seq', 'once', KEYS)})
    UNION ALL SELECT seq, key AS what FROM (${less('key, seq', KEYS, 'once')})`,
  SNAPSHOT_MISMATCH: `SELECT through + 1 AS seq, digest AS what FROM snapshots WHERE 'sha256:' || digest <> digest_of(body)
    OR NOT EXISTS (SELECT 1 FROM facts WHERE seq = through + 1 AND kind = 'snapshot.taken'
    AND line ->> '$.body.digest' = digest AND line ->> '$.body.through' = through)`,
};

/** A file that is no log, or no whole one. Anything else (no right, no space, a busy file) says nothing about its content. */
const isDamage = ({ errcode, code = '' }) =>
  errcode === undefined ? !/^E(?!RR_)[A-Z0-9]+$/.test(code) : [1, 10, 11, 26].includes(errcode & 0xff);

/** SQLite writes beside a log even to read it; where it cannot, the log is opened as a file that does not change. */
function opened(file) {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    return db.prepare(MADE).get() && db;
  } catch (error) {
    if (![8, 10, 13, 14].includes(error.errcode & 0xff)) throw error;
    const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
    mustBe(!wal?.size, `${file}-wal may hold entries that cannot be read here; copy both to where you can write`);
    return new DatabaseSync(new URL(`${pathToFileURL(file)}?immutable=1`), { readOnly: true });
  }
}

function checkLog(file, checkpoints) {
  const [roots, missing, odd, loose, peaks] = [new Map(), new Set(), new Set(), new Set(), []];
  const sizes = new Set(checkpoints.map(({ size }) => size));
  let [before, count] = [{ seq: 0, leaf: ZEROS, at: '' }, 0];
  try {
    const db = opened(file);
    db.function('digest_of', (text) => (text === null ? null : digestOf(text)));
    const { made } = db.prepare(MADE).get();
    if (made.replace(CACHES, '') !== TABLES) fault(1, 'SCHEMA_CHANGED', `there is: ${made}`);
    const textsOf = db.prepare('SELECT id & 1048575 AS at, digest, body FROM texts WHERE id BETWEEN ? AND ?');
    for (const { seq, line } of db.prepare('SELECT seq, line FROM facts ORDER BY seq').iterate()) {
      const entry = readLine(line);
      const isGap = seq > before.seq + 1 && fault(before.seq + 1, 'SEQ_GAP', `${seq} comes after ${before.seq}`);
      if (firstOf(seq, lineFaults(seq, line, entry, before)) || isGap) odd.add(seq);
      else if (entry.prev !== before.leaf) loose.add(seq);
      before = { seq, leaf: leafOf(line), at: entry?.at ?? before.at };
      // The tree so far is its peaks, the roots of its complete subtrees: all that its head needs.
      peaks.push(before.leaf);
      for (let rest = count++; rest % 2 === 1; rest = Math.floor(rest / 2)) peaks.push(nodeOf(...peaks.splice(-2)));
      if (sizes.has(count)) roots.set(count, rootOf(peaks));
      const [digests, texts] = [digestsIn(entry?.body), textsOf.all(seq * 2 ** 20, (seq + 1) * 2 ** 20 - 1)];
      if (entry && texts.some(({ at, digest }) => digests[at] !== digest)) fault(seq, 'BLOB_MISMATCH', 'an odd text');
      checkTexts(seq, digests, new Map(texts.map(({ digest, body }) => [digest, body])), missing);
      for (const place of (entry ? erasedBy(entry) : []).filter((erased) => !missing.delete(erased)))
        wrong(place, `a text is there, though entry ${seq} erased it`, seq);
    }
    for (const place of missing) wrong(place, 'a text is not there, nor erased', Infinity);
    if (odd.size === 0) checkRegisters(db, before.seq);
  } catch (error) {
    mustBe(isDamage(error), `${file} cannot be read here: ${error.message}; this says nothing about what it holds`);
    fault(before.seq + 1, 'FILE_DAMAGED', error.message);
  }
  return checkRoots(before.seq, roots, checkpoints, odd, loose);
}

function checkRegisters(db, head) {
  for (const [kind, sql] of Object.entries(REGISTERS))
    for (const { seq, what } of db.prepare(sql).all()) fault(seq, kind, `it is not noted as its line says: ${what}`);
  const blocks = [less('*', BLOCKS, 'by_cast'), less('*', 'by_cast', BLOCKS)].map((sql) => db.prepare(sql).all());
  // A block that the log does not fill is wrong where the log ends; any other at the first entry that differs.
  const isBeyond = (block, seq) => (block + 1) * 1024 > head && Math.floor((seq - 1) / 1024) === block;
  const seqsIn = ({ block, seqs }) => seqs.split(',').map((seq) => (isBeyond(block, seq) ? head + 1 : Number(seq)));
  const [due, noted] = blocks.map((rows) => rows.flatMap(seqsIn));
  const odd = due.find((seq) => !noted.includes(seq)) ?? noted.find((seq) => !due.includes(seq)) ?? due[0];
  if (odd !== undefined) fault(odd, 'INDEX_MISMATCH', 'the index of casts is not what the lines say');
  for (const { integrity_check: found } of db.prepare('PRAGMA integrity_check(10)').all()) {
    const [, row] = /\brow (\d+)/.exec(found) ?? [];
    if (found !== 'ok') fault(Number(row ?? 1), row ? 'INDEX_MISMATCH' : 'FILE_DAMAGED', found);
  }
}

/** What was signed, against what there is; and which end of a link that does not hold was changed. */
function checkRoots(head, roots, checkpoints, odd, loose) {
  let good = 0;
  const first = Math.min(...odd, ...loose); // A root that differs after something else is wrong says nothing new.
  for (const { size, root } of checkpoints.sort((a, b) => a.size - b.size)) {
    if (size > head) fault(head + 1, 'TRUNCATED', `the log ends here; ${size} entries were signed`);
    else if (roots.get(size) === root) good = size;
    else if (size < first - 1) fault(good + 1, 'FORKED', `from here to entry ${size} it is not what was signed`);
  }
  for (const seq of loose) {
    if (odd.has(seq - 1) || loose.has(seq - 1)) continue;
    // Where the entry itself is chained to by the next one, or signed, the one before it is the one that was changed.
    const isItself = seq === 1 || loose.has(seq + 1) || odd.has(seq + 1) || good === seq - 1;
    fault(isItself ? seq : seq - 1, 'CHAIN_BROKEN', 'it is not the entry that others are chained to');
  }
  return `${head} entries, the first ${good} of them as they were signed`;
}

// ---- the command
const mustBe = (isSo, why) => isSo || process.exit(console.error(`verify.mjs: ${why}`) ?? 2);
/** What is to be checked, and by what. What was named and is not what it should be must not pass for a check. */
function asked() {
  const options = { log: { type: 'string' }, key: { type: 'string' }, checkpoint: { type: 'string', multiple: true } };
  const { positionals: bundles, values } = parseArgs({ options, allowPositionals: true });
  const { log, key, checkpoint = [] } = values;
  const isClear = log === undefined ? bundles.length === 1 && !values.checkpoint : bundles.length === 0 && DatabaseSync;
  mustBe(isClear, 'say: verify.mjs FILE, or with Node 24 --log FILE [--checkpoint FILE]…; both take --key KEY');
  mustBe(!('key' in values) || key.split('\n').every((line) => readKey(line)[0]), '--key is no public key');
  const isFile = (file) => statSync(file).isFile() && !accessSync(file, 4);
  for (const file of [log ?? bundles[0], ...checkpoint]) mustBe(isFile(file), `${file} is no file`);
  for (const file of checkpoint) mustBe(/\n\n\u2014 /.test(textIn(file)), `${file} holds no checkpoint`);
  return { bundle: bundles[0], log, key, checkpoint };
}

/** Without --key, the keys beside each file of checkpoints are used: they prove that it was one signer, not which one. */
const textIn = (file) => (statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8') : '');
const keysFor = (file, key) => (key ?? textIn(join(dirname(file), 'keys.txt'))).split('\n').flatMap(readKey);

function check({ bundle, log, key, checkpoint }) {
  if (log === undefined) return checkBundle(bundle, key);
  const notesOf = (file) => checkpointsIn(textIn(file), keysFor(file, key), file);
  const [inside, outside] = [notesOf(join(dirname(log), 'checkpoints/checkpoints.txt')), checkpoint.flatMap(notesOf)];
  const isInside = ({ body }) => inside.some((note) => note.body === body);
  for (const note of outside) if (!isInside(note)) fault(note.size, 'CHECKPOINT_MISSING', 'it is not beside the log');
  return checkLog(log, [...inside, ...outside]);
}

let [told, wish] = ['', null];
try {
  wish = asked();
  told = `${check(wish)}; not checked: whether people made the decisions, which takes the user's key`;
} catch (error) {
  mustBe(wish, error.message.split('\n')[0]);
  fault(0, 'BUNDLE_MALFORMED', error.message);
}
// What is wrong with an erased text is wrong at a broken entry after it, up to the one that erased it, where there is one.
const broken = faults.filter(({ kind }) => !/_MISMATCH|CHECKPOINT/.test(kind)).map(({ seq }) => seq);
broken.sort((a, b) => a - b).splice(100);
for (const one of faults) one.seq = broken.find((seq) => seq > one.seq && seq <= one.upTo) ?? one.seq;
const weight = ({ kind }) => ({ BLOB_MISMATCH: -1, SEQ_GAP: 1, TRUNCATED: 2, FILE_DAMAGED: 3 })[kind] ?? 0;
faults.sort((a, b) => a.seq - b.seq || weight(b) - weight(a));
for (const { seq, kind, why } of faults) console.log(`${seq}\t${kind}\t${why}`);
console.log(faults.length === 0 ? `OK: ${told}` : `TAMPERED: ${faults.length} found, first at entry ${faults[0].seq}`);
process.exit(faults.length === 0 ? 0 : 1);
