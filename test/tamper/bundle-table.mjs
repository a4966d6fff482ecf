// Everything that can be done to a bundle: each member, changed, deleted, doubled, exchanged, cut short; the file.
import { HEAD, inFile, leafOf, nodeOf } from './tampering.mjs';

/** Changes the bundle's value and writes it in canonical form, as somebody would who knows the format. */
const inBundle = (change) =>
  inFile('run.baton', (text) => {
    const bundle = JSON.parse(text);
    return `${canonical(change(bundle) ?? bundle)}\n`;
  });
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(',')}}`;
}
const flipped = (hex) => `${hex[0] === '0' ? '1' : '0'}${hex.slice(1)}`;
/** The numbers of the first facts of the bundle. */
const [FIRST, SECOND] = [1, 3];
/** The one that erased a text of the second. */
const ERASURE = 1060;
const inErasure =
  (change) =>
  ({ facts }) => {
    const erasure = facts.find(({ seq }) => seq === ERASURE);
    erasure.line = change(erasure.line);
  };

/** `[what, tamper, kind, seq]`; null where it differs by who looks first. */
export const BUNDLE = [
  [
    'facts.line: a value is changed',
    inBundle(({ facts }) => {
      facts[1].line = facts[1].line.replace('"by":"test"', '"by":"root"');
    }),
    'PROOF_INVALID',
    SECOND,
  ],
  [
    'facts.line: it is not canonical',
    inBundle(({ facts }) => {
      facts[1].line = facts[1].line.replace(':', ': ');
    }),
    'ENTRY_NOT_CANONICAL',
    SECOND,
  ],
  [
    'facts.line: it is cut short',
    inBundle(({ facts }) => {
      facts[1].line = facts[1].line.slice(0, 50);
    }),
    'ENTRY_NOT_CANONICAL',
    SECOND,
  ],
  [
    'facts.line: two are exchanged',
    inBundle(({ facts: [, a, b] }) => {
      [a.line, b.line] = [b.line, a.line];
    }),
    'SEQ_GAP',
    SECOND,
  ],
  [
    'facts.seq: it is changed',
    inBundle(({ facts }) => {
      facts[1].seq = 4;
    }),
    'SEQ_GAP',
    SECOND,
  ],
  [
    'facts.proof: it is changed',
    inBundle(({ facts }) => {
      facts[1].proof[0] = flipped(facts[1].proof[0]);
    }),
    'PROOF_INVALID',
    SECOND,
  ],
  [
    'facts.proof: it is cut short',
    inBundle(({ facts }) => {
      facts[1].proof.pop();
    }),
    'PROOF_INVALID',
    SECOND,
  ],
  [
    'facts.proof: it has a part twice',
    inBundle(({ facts }) => {
      facts[1].proof.push(facts[1].proof[0]);
    }),
    'PROOF_INVALID',
    SECOND,
  ],
  [
    'facts.leaf: the node above it is shown in its place',
    inBundle(({ facts }) => {
      const [{ seq, line, proof }, [right, ...above]] = [facts[1], facts[1].proof];
      if (seq % 2 === 0 || proof.length < 2) throw new Error('it is not the left one of two leaves');
      facts[1] = { seq, leaf: nodeOf(leafOf(line), right), proof: above };
    }),
    'PROOF_INVALID',
    SECOND,
  ],
  [
    'facts.proof: two are exchanged',
    inBundle(({ facts: [, a, b] }) => {
      [a.proof, b.proof] = [b.proof, a.proof];
    }),
    'PROOF_INVALID',
    SECOND,
  ],
  [
    'facts: a line is replaced by its leaf',
    inBundle(({ facts }) => {
      facts[1] = { seq: facts[1].seq, proof: facts[1].proof, leaf: leafOf(facts[1].line) };
    }),
    'BUNDLE_SIGNATURE',
    0,
  ],
  [
    'facts: an erasure names another entry',
    inBundle(inErasure((line) => line.replace('"from":[3]', '"from":[1]'))),
    'PROOF_INVALID',
    ERASURE,
  ],
  [
    'facts: an erasure names no entries',
    inBundle(inErasure((line) => line.replace('"from":', '"frox":'))),
    'PROOF_INVALID',
    ERASURE,
  ],
  [
    'facts: an erasure is deleted',
    inBundle((bundle) => {
      bundle.facts = bundle.facts.filter(({ seq }) => seq !== ERASURE);
    }),
    'SEQ_GAP',
    ERASURE,
  ],
  [
    'facts: one is deleted',
    inBundle(({ facts }) => {
      facts.splice(1, 1);
    }),
    'SEQ_GAP',
    SECOND,
  ],
  [
    'facts: the last is cut off',
    inBundle(({ facts }) => {
      facts.pop();
    }),
    'SEQ_GAP',
    HEAD - 1,
  ],
  [
    'facts: one is there twice',
    inBundle(({ facts }) => {
      facts.splice(1, 0, facts[1]);
    }),
    'SEQ_GAP',
    SECOND,
  ],
  [
    'facts: two are exchanged',
    inBundle(({ facts }) => {
      [facts[1], facts[2]] = [facts[2], facts[1]];
    }),
    'SEQ_GAP',
    SECOND,
  ],
  [
    'facts and seqs: one is deleted',
    inBundle(({ facts, seqs }) => {
      facts.splice(2, 1);
      seqs.splice(2, 1);
    }),
    'BUNDLE_SIGNATURE',
    0,
  ],
  [
    'seqs: one is changed',
    inBundle(({ seqs }) => {
      seqs[1] = 4;
    }),
    'SEQ_GAP',
    4,
  ],
  [
    'texts: one is changed',
    inBundle(({ texts }) => {
      const [digest] = Object.keys(texts);
      texts[digest] += '.';
    }),
    'BLOB_MISMATCH',
    FIRST,
  ],
  [
    'texts: one is deleted',
    inBundle(({ texts }) => {
      delete texts[Object.keys(texts)[0]];
    }),
    'BLOB_MISMATCH',
    FIRST,
  ],
  [
    'texts: two are exchanged',
    inBundle(({ texts }) => {
      const [a, b] = Object.keys(texts);
      [texts[a], texts[b]] = [texts[b], texts[a]];
    }),
    'BLOB_MISMATCH',
    FIRST,
  ],
  [
    'texts: one is replaced by its digest',
    inBundle(({ texts, redacted }) => {
      const [digest] = Object.keys(texts);
      delete texts[digest];
      redacted.push(digest);
    }),
    'BUNDLE_SIGNATURE',
    0,
  ],
  [
    'cast: it is changed',
    inBundle((bundle) => {
      bundle.cast = 'b';
    }),
    'BUNDLE_SIGNATURE',
    0,
  ],
  [
    'key: it is changed',
    inBundle((bundle) => {
      bundle.key = `x${bundle.key}`;
    }),
    null,
    null,
  ],
  [
    'checkpoint: its size is changed',
    inBundle((bundle) => {
      bundle.checkpoint = bundle.checkpoint.replace(`\n${HEAD}\n`, '\n1099\n');
    }),
    'CHECKPOINT_SIGNATURE',
    null,
  ],
  [
    'checkpoint: it is cut short',
    inBundle((bundle) => {
      bundle.checkpoint = bundle.checkpoint.slice(0, -9);
    }),
    null,
    null,
  ],
  [
    'signature: it is changed',
    inBundle((bundle) => {
      bundle.signature = `${bundle.signature[0] === 'A' ? 'B' : 'A'}${bundle.signature.slice(1)}`;
    }),
    'BUNDLE_SIGNATURE',
    0,
  ],
  [
    'signature: it is spelt otherwise',
    inBundle((bundle) => {
      bundle.signature = bundle.signature.replace(/=$/, '');
    }),
    'BUNDLE_SIGNATURE',
    0,
  ],
  [
    'format: it is changed',
    inBundle((bundle) => {
      bundle.format = 'baton.bundle/2';
    }),
    'BUNDLE_MALFORMED',
    0,
  ],
  [
    'a member is added',
    inBundle((bundle) => {
      bundle.note = 'x';
    }),
    null,
    0,
  ],
  ['the file: a space is added', inFile('run.baton', (text) => text.replace(':', ': ')), 'BUNDLE_MALFORMED', 0],
  [
    'the file: a member is there twice',
    inFile('run.baton', (text) => text.replace('{"cast":', '{"cast":"b","cast":')),
    'BUNDLE_MALFORMED',
    0,
  ],
  ['the file: it is cut short', inFile('run.baton', (text) => text.slice(0, -100)), 'BUNDLE_MALFORMED', 0],
  ['the file: it is emptied', inFile('run.baton', () => ''), 'BUNDLE_MALFORMED', 0],
];
