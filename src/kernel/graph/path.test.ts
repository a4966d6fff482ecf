import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { expressionsIn, render, resolvePath, type Scope, setPath } from './path.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const TIMEOUT_MS = 10_000 + RUNS * 20;

const scope: Scope = {
  request: 'Ship it',
  data: {
    slot: { deep: ['a', { b: 1 }] },
    request: 'stored',
    flag: false,
    nothing: null,
    item: 'stale',
    cursor: 'kept',
  },
  item: { title: 'First' },
  itemVars: { item: { title: 'First' }, workItem: { title: 'First' } },
  cursors: { workItemIndex: 2, 'a.b': 5 },
  lastOutput: 'raw',
  lastJson: { satisfied: true },
  payload: { list: [{ label: 'x' }], text: 'prose' },
};

test.each<[source: string, value: Json | undefined]>([
  ['$', { list: [{ label: 'x' }], text: 'prose' }],
  ['$.text', 'prose'],
  ['$.list.0.label', 'x'],
  ['$.list.1', undefined],
  ['$.list.length', undefined],
  ['$.list.-1', undefined],
  ['$.list.00', undefined],
  ['$.text.0', undefined],
  ['state', { ...scope.data, ...scope.itemVars }],
  ['state.slot.deep.1.b', 1],
  ['state.workItem.title', 'First'],
  ['state.missing.deeper', undefined],
  ['item', { title: 'First' }],
  ['item.title', 'First'],
  ['lastJson', { satisfied: true }],
  ['lastJson.satisfied', true],
  ['lastOutput', 'raw'],
  ['lastOutput.length', undefined],
  ['slot.deep.0', 'a'],
  ['workItem.title', 'First'],
  ['flag', false],
  ['nothing', null],
  ['nothing.more', undefined],
  // Only templates know the request and the cursors by name; elsewhere these are slots like any other.
  ['request', 'stored'],
  ['cursor', 'kept'],
  ['constructor', undefined],
  ['slot.__proto__', undefined],
  ['state.toString', undefined],
  ['slot.deep.length', undefined],
])('%s resolves to %j', (source, value) => {
  expect(resolvePath(source, scope)).toEqual(value);
});

test('without an output at hand `$` is nothing', () => {
  const { payload: _none, ...without } = scope;
  expect(resolvePath('$', without)).toBeUndefined();
  expect(resolvePath('$.text', without)).toBeUndefined();
});

test('outside a loop `item` is a slot like any other', () => {
  expect(resolvePath('item', { ...scope, item: undefined, itemVars: {} })).toBe('stale');
});

const before: JsonObject = { a: { b: 1, c: 2 }, list: [{ t: 1 }, { t: 2 }], text: 'x' };

test.each<[target: string, value: Json | undefined, after: JsonObject]>([
  ['new', 1, { ...before, new: 1 }],
  ['a.b', 5, { ...before, a: { b: 5, c: 2 } }],
  ['a.d.e', null, { ...before, a: { b: 1, c: 2, d: { e: null } } }],
  ['text.deep', true, { ...before, text: { deep: true } }],
  ['a', undefined, { list: before.list ?? null, text: 'x' }],
  ['a.b', undefined, { ...before, a: { c: 2 } }],
  ['missing.deep', undefined, before],
  ['text.deep', undefined, before],
  ['list.1.t', 9, { ...before, list: [{ t: 1 }, { t: 9 }] }],
  ['list.2', 'new', { ...before, list: [{ t: 1 }, { t: 2 }, 'new'] }],
  ['list.0', undefined, { ...before, list: [null, { t: 2 }] }],
  ['list.2', undefined, before],
  ['list.9', 1, { ...before, list: { 9: 1 } }],
  ['list.name', 1, { ...before, list: { name: 1 } }],
  ['', 1, before],
  ['a..b', 1, before],
  ['__proto__.x', 1, before],
  ['a.constructor', 1, before],
])('setting %s to %j', (target, value, after) => {
  const untouched = JSON.stringify(before);
  expect(setPath(before, target, value)).toEqual(after);
  expect(JSON.stringify(before)).toBe(untouched);
});

test('setting a path shares everything beside it', () => {
  const after = setPath(before, 'a.b', 5);
  expect(after.list).toBe(before.list);
});

test.each([
  ['no slots', 'no slots'],
  ['{{request}}!', 'Ship it!'],
  ['{{ request }}', 'Ship it'],
  ['{{item.title}}/{{ workItem.title }}', 'First/First'],
  ['{{missing}}|{{state.missing.x}}|{{$}}|{{$.text}}|{{cursor.none}}', '||||'],
  ['{{cursor.workItemIndex}} {{cursor.a.b}}', '2 5'],
  ['{{lastOutput}} {{lastJson.satisfied}} {{flag}} {{nothing}}', 'raw true false null'],
  ['{{lastJson}}', '{\n  "satisfied": true\n}'],
  ['{{itemJson}}', '{\n  "title": "First"\n}'],
  ['{{state.slot.deep}}', '[\n  "a",\n  {\n    "b": 1\n  }\n]'],
  ['{{constructor}}{{toString}}', ''],
  ['{{{request}}}', '{Ship it}'],
  ['{{ {{request}}', '{{ Ship it'],
  ['{{request', '{{request'],
  ['{{}} {{ }}', '{{}} {{ }}'],
  ['{{ "a": 1 }} {{a\nb}}', '{{ "a": 1 }} {{a\nb}}'],
  ['{"x": {"y": 1}} }} {{request}}', '{"x": {"y": 1}} }} Ship it'],
])('%j renders as %j', (template, text) => {
  expect(render(template, scope, { maxSlotBytes: 1000 })).toBe(text);
});

test('`stateJson` is everything paths can see', () => {
  expect(JSON.parse(render('{{stateJson}}', scope, { maxSlotBytes: 10_000 }))).toEqual(resolvePath('state', scope));
});

test('what is filled in is never read as a template again', () => {
  const sly = { ...scope, request: '{{secret}} {{{{request}}}}', data: { secret: 'told' } };
  expect(render('{{request}}', sly, { maxSlotBytes: 1000 })).toBe(sly.request);
  const halves = { ...scope, data: { a: '{{sec', b: 'ret}}', secret: 'told' } };
  expect(render('{{a}}{{b}}', halves, { maxSlotBytes: 1000 })).toBe('{{secret}}');
});

test('a long slot is cut, and says so', () => {
  expect(render('<{{request}}>', { ...scope, request: 'abcdefgh' }, { maxSlotBytes: 5 })).toBe(
    '<abcde… [3 characters cut]>',
  );
  expect(render('{{request}}', { ...scope, request: 'abcd' }, { maxSlotBytes: 4 })).toBe('abcd');
});

test('a cut never splits a character in two', () => {
  const text = render('{{request}}', { ...scope, request: 'ab😀cd' }, { maxSlotBytes: 3 });
  expect(text).toBe('ab… [4 characters cut]');
});

test('a value that is nested beyond reason is not shown', () => {
  let deep: Json = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(render('{{x}}', { ...scope, data: { x: deep } }, { maxSlotBytes: 100 })).toBe('[nested too deeply to show]');
});

test('a path of any length is followed and set', () => {
  const path = Array.from({ length: 50_000 }, () => 'a').join('.');
  expect(resolvePath(path, { ...scope, data: setPath({}, path, 'deep') })).toBe('deep');
});

test.each(['{{', '}}', '{', '{{ ', '{{x}}', '{{"', '{ {'])('a template of many %j takes little time', (part) => {
  const started = performance.now();
  expressionsIn(part.repeat(200_000));
  expressionsIn(`${part.repeat(200_000)}}}`);
  expect(performance.now() - started).toBeLessThan(60_000);
});

test(
  'any template renders, and text without braces stays as it is',
  () => {
    const part = fc.oneof(fc.constantFrom('{{', '}}', '{', '}', 'request', 'item.title', ' ', '"', '\n'), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const template = parts.join('');
        const text = render(template, { ...scope, request: '{{request}}' }, { maxSlotBytes: 50 });
        if (!template.includes('{{')) expect(text).toBe(template);
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

test(
  'what was set is found again',
  () => {
    const segment = fc.constantFrom('a', 'b', 'slot', '0', '1', 'x y');
    const data = fc.dictionary(segment, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(data, fc.array(segment, { minLength: 1, maxLength: 5 }), fc.jsonValue(), (start, segments, value) => {
        const path = segments.join('.');
        const after = setPath(start, path, value as Json);
        expect(resolvePath(`state.${path}`, { ...scope, itemVars: {}, data: after })).toEqual(value);
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);
