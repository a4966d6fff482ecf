// `baton validate` and `baton explain`, as other people's hooks call them.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baton, CHECKOUT, json, project } from './baton.ts';

const registry = join(CHECKOUT, 'src', 'trust', 'fixtures', 'registry');

test.each([
  ['{"satisfied":true}', 0, 'OK'],
  ['Here you go: {"satisfied":false}', 0, 'OK'],
  ['{"satisfied":"yes"}', 1, 'CONTRACT_VIOLATION'],
  ['no json', 1, 'NOT_JSON'],
])('one payload on standard input: %s', async (input, code, verdict) => {
  const ran = await baton(project(), ['validate', 'materia', '--options', '{"requires":["satisfied"]}'], { input });
  expect([ran.code, json(ran).code]).toEqual([code, verdict]);
});

test('a payload in a file, and wrong usage', async () => {
  const dir = project({ 'a.json': '{}' });
  expect((await baton(dir, ['validate', 'materia', 'a.json'])).code).toBe(0);
  for (const args of [
    ['validate'],
    ['validate', 'nonsense'],
    ['validate', 'materia', 'gone.json'],
    ['validate', 'materia', 'a', 'b'],
  ]) {
    expect((await baton(dir, args)).code, args.join(' ')).toBe(2);
  }
});

test('every line is answered, in order, whatever it holds', async () => {
  const lines = [
    '{"id":1,"input":{"context":"a\u2028b\u2029c"}}',
    '{"id":2,"input":{"satisfied":1}}',
    'garbage',
    '',
    '{"id":3,"input_raw":"{}","options":null}',
    '{"id":4,"input":{"a":1,"a":2}}',
    '{"id":5,"input":{"__proto__":{"x":1}}}',
    '{"id":6,"options":{"requires":"satisfied"},"input":{}}',
    '{"id":7}',
    '{"id":8,"input_raw":5}',
    `{"id":9,"input":${'['.repeat(300)}${']'.repeat(300)}}`,
    '\ufeff{"id":10,"input":"{}"}\r',
    '[]',
  ];
  const ran = await baton(project(), ['validate', 'materia', '--jsonl'], { input: lines.join('\n') });
  const answers = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(ran.code).toBe(0);
  expect(answers.map(({ id, code }) => [id, code])).toEqual([
    [1, 'OK'],
    [2, 'CONTRACT_VIOLATION'],
    [null, 'BAD_USAGE'],
    [3, 'OK'],
    [4, 'NOT_JSON'],
    [5, 'NOT_JSON'],
    [6, 'BAD_USAGE'],
    [7, 'BAD_USAGE'],
    [8, 'BAD_USAGE'],
    [9, 'NOT_JSON'],
    [10, 'OK'],
    [null, 'BAD_USAGE'],
  ]);
  for (const answer of answers) expect(Object.keys(answer)).toEqual(['id', 'allow', 'code', 'reason', 'details']);
});

test.each([
  ['materia', 'NOT_JSON'],
  ['governed/handoff', 'PARSE'],
])(
  '%s: bytes that are no text get the same answer in a line and in a file, and the other lines theirs',
  async (kind, code) => {
    const spoilt = (text: string) => Buffer.from(text, 'latin1');
    const lines = [
      spoilt('{"id":1,"input":{"context":"\xff"}}'),
      spoilt('{"id":"\xff","input":{}}'),
      spoilt('\xff'),
      Buffer.alloc(16 * 1024 * 1024 + 1, ' '),
      Buffer.from('{"id":2}'),
    ].flatMap((line) => [line, Buffer.from('\n')]);
    const ran = await baton(project(), ['validate', kind, '--jsonl', '--registry', registry], {
      input: Buffer.concat(lines),
    });
    const answers = ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([ran.code, answers.map((answer) => [answer.id, answer.code])]).toEqual([
      0,
      [
        [1, code],
        [null, code],
        [null, code],
        [null, 'BAD_USAGE'],
        [2, 'BAD_USAGE'],
      ],
    ]);
    const single = await baton(project(), ['validate', kind, '--registry', registry], {
      input: spoilt('{"a":"\xff"}'),
    });
    const { id: _, ...first } = answers[0];
    expect([single.code, json(single)]).toEqual([1, first]);
  },
);

test('an envelope is judged as it was written, not as parsing would leave it', async () => {
  const line = '{"id":1,"options":{"now":"2026-02-11T00:45:02Z"},"input":{"handoff_id":"x","handoff_id":"y"}}';
  const ran = await baton(project(), ['validate', 'governed/handoff', '--jsonl', '--registry', registry], {
    input: line,
  });
  expect(json(ran)).toMatchObject({ id: 1, code: 'PARSE' });
});

test('explain tells what a code means, what caused it and what to do; findings of reports are codes too', async () => {
  const dir = project();
  expect((await baton(dir, ['explain', 'LOCK_CONFLICT'])).stdout).toMatch(
    /another task holds.*caused by +two tasks want the same file.*what to do/s,
  );
  expect(json(await baton(dir, ['explain', 'plan_status:DONE', '--json']))).toMatchObject({
    code: 'PLAN_STATUS',
    http: 422,
  });
  expect((await baton(dir, ['explain', 'NO_SUCH_CODE'])).code).toBe(2);
});

test.each([
  ['OK', 'OK'],
  ['ASSIGN:$.foo', 'ASSIGN'],
  ['SCHEMA:$.bar.0', 'SCHEMA'],
  ['verbatim_outputs_missing', 'VERBATIM_OUTPUTS_MISSING'],
])('explain knows %s, which may stand in an answer', async (text, code) => {
  const ran = await baton(project(), ['explain', text, '--json']);
  expect([ran.code, json(ran).code]).toEqual([0, code]);
});

test.each([
  ['materia', '{"require":["satisfied"]}', '{}'],
  ['operator/locks', '{"strict":"true"}', '{"locks":[],"foo":1}'],
])('an option of %s that would loosen a contract in silence is refused: %s', async (kind, options, input) => {
  const ran = await baton(project(), ['validate', kind, '--options', options], { input });
  expect([ran.code, json(ran).code]).toEqual([2, 'BAD_USAGE']);
});

test.each([
  ['{"require":["satisfied"]}', 'has no option'],
  ['{"requires":"satisfied"}', 'options.requires must be'],
  ['{"strict":"true"}', 'options.strict must be'],
  ['not json', '--options must be a JSON object'],
  ['[]', '--options must be a JSON object'],
])('options for all lines that are wrong usage are told before any line is answered: %s', async (options, words) => {
  const ran = await baton(project(), ['validate', 'materia', '--jsonl', '--options', options, '--json'], {
    input: '{"id":1,"input":{}}',
  });
  expect([ran.code, json(ran).code, json(ran).reason]).toEqual([2, 'BAD_USAGE', expect.stringContaining(words)]);
});

test('--options hold for every line, and a line has its own before them', async () => {
  const lines = [
    '{"id":1,"input":{}}',
    '{"id":2,"input":{"satisfied":true}}',
    '{"id":3,"input":{},"options":{"requires":[]}}',
    '{"id":4,"input":{},"options":{"utility":false}}',
    '{"id":5,"input_raw":"{}","options":null}',
    '{"id":6,"input":{"satisfied":true},"option":{"generator":true}}',
    '{"id":7,"input":{"satisfied":true},"kind":"materia"}',
    '{"id":8,"input":{"satisfied":true},"kind":"gaia"}',
    '{"id":9,"input":null}',
  ];
  const ran = await baton(project(), ['validate', 'materia', '--jsonl', '--options', '{"requires":["satisfied"]}'], {
    input: lines.join('\n'),
  });
  const answers = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([ran.code, answers.map(({ id, code }) => [id, code])]).toEqual([
    0,
    [
      [1, 'CONTRACT_VIOLATION'],
      [2, 'OK'],
      [3, 'OK'],
      [4, 'CONTRACT_VIOLATION'],
      [5, 'CONTRACT_VIOLATION'],
      [6, 'BAD_USAGE'],
      [7, 'OK'],
      [8, 'BAD_USAGE'],
      [9, 'NOT_JSON'],
    ],
  ]);
});

test('a relative registry of a line begins at the folder that -C names', async () => {
  const line = '{"id":1,"options":{"registry":"registry","now":"2026-02-11T00:45:02Z"},"input":{}}';
  const args = ['-C', join(registry, '..'), 'validate', 'governed/handoff', '--jsonl'];
  expect(json(await baton(project(), args, { input: line }))).toMatchObject({ id: 1, code: 'SCHEMA_MISSING' });
});

test('a key that stands twice in a line is not hidden by parsing it', async () => {
  const lock = (task: string) => `{"task_id":"${task}","resource":"a","active":true}`;
  const line = `{"id":1,"input":{"locks":[${lock('T-1')},${lock('T-2')}],"locks":[]}}`;
  const ran = await baton(project(), ['validate', 'operator/locks', '--jsonl'], { input: line });
  expect(json(ran)).toMatchObject({ id: 1, code: 'SCHEMA_INVALID', reason: expect.stringContaining('written twice') });
});
