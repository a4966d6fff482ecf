// Evidence that a report deposits: the rows stand in the order of the checks; all of a report's evidence counts, or none.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dialects } from '../../dialects/index.ts';
import type { Json, JsonObject } from '../json.ts';
import { newPen } from '../pen.ts';
import { emptyState } from '../state.ts';
import {
  ARTIFACT_BYTES_MAX,
  type Artifacts,
  artifactsNamed,
  DEPOSITS_MAX,
  EVIDENCE_TYPES,
  readDeposits,
  sortEntries,
  TEXT_BYTES_MAX,
} from './entries.ts';
import { type Writer, writeSections } from './write.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const GOOD = { brief_id: 7, ac_id: 'AC-1', type: 'text', text: 'it works' };
const FILE = { brief_id: 7, ac_id: 'AC-1', type: 'screenshot', artifact_path: 'shots/a.png' };
const SEEN: Artifacts = {
  'shots/a.png': { inside: true, bytes: 12 },
  'out.png': { inside: false, bytes: null },
  'none.png': { inside: true, bytes: null },
  'big.png': { inside: true, bytes: ARTIFACT_BYTES_MAX + 1 },
};
const entry = (payload: Json, contract = 'evidence') => ({ contract, payload });
const without = (object: JsonObject, key: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

const BAD: [string, Json, string, string][] = [
  ['no object', 'it works', 'EVIDENCE_INVALID', ''],
  ['no brief', without(GOOD, 'brief_id'), 'EVIDENCE_INVALID', '.brief_id'],
  ['a brief that is no number', { ...GOOD, brief_id: 'seven' }, 'EVIDENCE_INVALID', '.brief_id'],
  ['a brief with a fraction in text', { ...GOOD, brief_id: '7.5' }, 'EVIDENCE_INVALID', '.brief_id'],
  ['no criterion', without(GOOD, 'ac_id'), 'EVIDENCE_INVALID', '.ac_id'],
  ['a blank criterion', { ...GOOD, ac_id: '  ' }, 'EVIDENCE_INVALID', '.ac_id'],
  ['a criterion of any length', { ...GOOD, ac_id: 'x'.repeat(201) }, 'EVIDENCE_INVALID', '.ac_id'],
  ['no type', without(GOOD, 'type'), 'EVIDENCE_INVALID', '.type'],
  ['a type of its own', { ...GOOD, type: 'Text' }, 'EVIDENCE_INVALID', '.type'],
  ['neither text nor file', without(GOOD, 'text'), 'EVIDENCE_INVALID', ''],
  ['both text and file', { ...GOOD, artifact_path: 'a' }, 'EVIDENCE_INVALID', ''],
  ['a task that is none', { ...GOOD, task_id: [] }, 'EVIDENCE_INVALID', '.task_id'],
  ['an agent that is none', { ...GOOD, created_by_agent: {} }, 'EVIDENCE_INVALID', '.created_by_agent'],
  ['a size that is none', { ...GOOD, size_bytes: 'much' }, 'EVIDENCE_INVALID', '.size_bytes'],
  ['a size below nothing', { ...GOOD, size_bytes: -1 }, 'EVIDENCE_INVALID', '.size_bytes'],
  ['a size beyond the limit', { ...GOOD, size_bytes: ARTIFACT_BYTES_MAX + 1 }, 'EVIDENCE_TOO_LARGE', '.size_bytes'],
  ['a file that is no path', { ...FILE, artifact_path: 5 }, 'EVIDENCE_INVALID', '.artifact_path'],
  ['an absolute path', { ...FILE, artifact_path: '/etc/passwd' }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a path in a home', { ...FILE, artifact_path: '~/.ssh/id' }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a path on a drive', { ...FILE, artifact_path: 'C:\\x' }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a path that climbs out', { ...FILE, artifact_path: 'a/../../b' }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a path with a NUL', { ...FILE, artifact_path: 'a\0b' }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a path without end', { ...FILE, artifact_path: 'a/'.repeat(600) }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a link that leads out', { ...FILE, artifact_path: 'out.png' }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a file that nobody looked at', { ...FILE, artifact_path: 'b.png' }, 'EVIDENCE_OUTSIDE', '.artifact_path'],
  ['a file beyond the limit', { ...FILE, artifact_path: 'big.png' }, 'EVIDENCE_TOO_LARGE', '.artifact_path'],
  ['a text that is none', { ...GOOD, text: 5 }, 'EVIDENCE_INVALID', '.text'],
  ['a text beyond the limit', { ...GOOD, text: 'é'.repeat(TEXT_BYTES_MAX / 2 + 1) }, 'EVIDENCE_TOO_LARGE', '.text'],
];

test.each(BAD)('evidence with %s is not taken, nor is any other of the report', (_name, payload, code, place) => {
  const entries = [entry(GOOD), entry(payload), entry({ a: 1 }, 'services')];
  const { permitted, deposits, refused, rejected } = sortEntries(entries, ['services'], 'update_contracts', SEEN);
  expect(deposits).toEqual([]);
  expect(refused.map((each) => [each.contract, each.code, each.path])).toEqual([
    ['evidence', 'EVIDENCE_WITHHELD', 'update_contracts[0]'],
    ['evidence', code, `update_contracts[1].payload${place}`],
  ]);
  expect(rejected).toEqual(['evidence']);
  expect(permitted).toEqual([{ contract: 'services', payload: { a: 1 } }]);
});

const TAKEN: [string, JsonObject, JsonObject][] = [
  ['a text', GOOD, GOOD],
  ['an empty text', { ...GOOD, text: '' }, { ...GOOD, text: '' }],
  ['a brief written as text', { ...GOOD, brief_id: ' 12 ' }, { ...GOOD, brief_id: 12 }],
  ['a criterion written as a number', { ...GOOD, ac_id: 3 }, { ...GOOD, ac_id: '3' }],
  ['nulls for what is left out', { ...GOOD, artifact_path: null, task_id: null, size_bytes: null }, GOOD],
  [
    'a task and an agent',
    { ...GOOD, task_id: 'T-1', created_by_agent: 'qa' },
    { ...GOOD, task_id: 'T-1', created_by_agent: 'qa' },
  ],
  ['other members', { ...GOOD, mood: 'good' }, GOOD],
  [
    'a file, by its normal path and real size',
    { ...FILE, artifact_path: './shots//a.png', size_bytes: 5 },
    { ...FILE, size_bytes: 12 },
  ],
  ['a file that is not there', { ...FILE, artifact_path: 'none.png' }, { ...FILE, artifact_path: 'none.png' }],
];

test.each(TAKEN)('evidence with %s is taken without any permission', (_name, payload, deposit) => {
  const { deposits, refused } = sortEntries([entry(payload)], [], 'update_contracts', SEEN);
  expect([deposits, refused]).toEqual([[deposit], []]);
});

test('every type is taken, and a file that is not there is pointed out', () => {
  for (const type of EVIDENCE_TYPES) {
    expect(readDeposits([{ at: 'x', payload: { ...GOOD, type } }], null).deposits).toMatchObject([{ type }]);
  }
  const { findings } = readDeposits([{ at: 'x', payload: { ...FILE, artifact_path: 'none.png' } }], SEEN);
  expect(findings).toMatchObject([{ path: 'x.payload.artifact_path', message: 'there is no such file' }]);
});

test('a report deposits a bounded number of pieces', () => {
  const entries = Array.from({ length: DEPOSITS_MAX + 1 }, () => entry(GOOD));
  const { deposits, refused } = sortEntries(entries, [], 'update_contracts');
  expect([deposits.length, refused.at(-1)?.code, refused[0]?.code]).toEqual([0, 'CONTEXT_LIMIT', 'EVIDENCE_WITHHELD']);
  expect(sortEntries(entries.slice(1), [], 'update_contracts').deposits).toHaveLength(DEPOSITS_MAX);
});

test('what is deposited is a fact with its turn, without secrets, and under a name of its own', () => {
  const who: Writer = {
    ...{ agent: 'qa', agentId: 'a0c0ffee', cast: 'c1', turn: 3, attempt: 2 },
    ...{ writable: [], artifacts: SEEN },
  };
  const pen = newPen(emptyState(), 0, dialects);
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const entries = [entry({ ...GOOD, type: 'command_output', text: `token ${secret}` }), entry(FILE)];
  const { written, rejected } = writeSections(pen, entries, who);
  expect([written, rejected]).toEqual([['evidence:c1-3.2-1', 'evidence:c1-3.2-2'], []]);
  expect(pen.facts).toMatchObject([
    { kind: 'evidence.deposited', id: 'c1-3.2-1', cast: 'c1', turn: 3, agent: 'qa', brief_id: 7, ac_id: 'AC-1' },
    { kind: 'evidence.deposited', id: 'c1-3.2-2', artifact_path: 'shots/a.png', size_bytes: 12 },
  ]);
  expect(JSON.stringify(pen.facts)).not.toContain(secret);
  expect(pen.state.knowledge).toEqual(emptyState().knowledge);
});

test('bad evidence is refused where other writes are, each piece by itself', () => {
  const pen = newPen(emptyState(), 0, dialects);
  const who: Writer = {
    ...{ agent: 'qa', agentId: 'a0c0ffee', cast: 'c1', turn: 3, attempt: 2 },
    ...{ writable: ['services'], artifacts: {} },
  };
  const entries = [entry({ ...GOOD, type: 'x' }), entry({ ...GOOD, ac_id: '' }), entry({ port: 80 }, 'services')];
  expect(writeSections(pen, entries, who).written).toEqual(['services']);
  expect(pen.facts).toMatchObject([
    {
      kind: 'context.rejected',
      section: 'evidence',
      code: 'EVIDENCE_INVALID',
      path: 'update_contracts[0].payload.type',
    },
    {
      kind: 'context.rejected',
      section: 'evidence',
      code: 'EVIDENCE_INVALID',
      path: 'update_contracts[1].payload.ac_id',
    },
    { kind: 'context.written', section: 'services' },
  ]);
});

test('the files to look at are those that can lie in the folder, each once', () => {
  const named = (path: Json) => entry({ ...FILE, artifact_path: path });
  const update_contracts = [named('a'), named('./a'), named('../b'), named('/c'), named(5), entry(GOOD), 7, null];
  expect(artifactsNamed({ update_contracts })).toEqual(['a']);
  expect(artifactsNamed({ update_contracts: 'none' })).toEqual([]);
});

const member = fc.oneof(fc.jsonValue(), fc.constantFrom(...EVIDENCE_TYPES), fc.constantFrom('a/b', '../x', '7', 7));
const payload = fc.oneof(
  fc.jsonValue(),
  fc
    .dictionary(
      fc.constantFrom(
        'brief_id',
        'ac_id',
        'type',
        'text',
        'artifact_path',
        'task_id',
        'created_by_agent',
        'size_bytes',
      ),
      member,
    )
    .map((changes) => ({ ...GOOD, ...changes })),
);

test('whatever is deposited, all of it is taken or none, and what is taken is taken again', () => {
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 4 }), (payloads) => {
      const entries = payloads.map((each) => entry(each as Json));
      const { deposits, refused } = sortEntries(entries, [], 'update_contracts');
      expect(refused.length === 0 ? deposits.length : refused.length).toBe(entries.length);
      for (const { code, path } of refused) expect([code, path]).not.toContain(undefined);
      const again = sortEntries(JSON.parse(JSON.stringify(deposits.map((each) => entry(each)))), [], 'x');
      expect(again.deposits).toEqual(deposits);
      expect(() => artifactsNamed({ update_contracts: entries })).not.toThrow();
    }),
    { numRuns: runs },
  );
});
