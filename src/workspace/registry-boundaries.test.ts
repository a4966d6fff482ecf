import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import { checkBoundary, mediatorBetween } from '../trust/boundary.ts';
import { lockOf } from '../trust/lock.ts';
import { LOCK_PATH, loadRegistry, MANIFEST_PATH } from '../trust/registry.ts';
import { hashBytes } from '../trust/registry-folder.ts';
import { TRUST_POLICY } from '../trust/stage.ts';
import { boundariesIn, boundariesOf } from './registry-boundaries.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const IDS = ['plan', 'build', 'judge', 'team', 'chief', 'nobody', 'constructor', '__proto__'];
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Who exists, and why whom cannot be handed to; null where nothing can be said. */
type Answers = Readonly<Record<string, boolean | string | null>> | null;

function answers(
  knows: (id: string) => boolean,
  refusal: (source: string, target: string) => string | null,
): NonNullable<Answers> {
  const pairs = IDS.flatMap((source) => IDS.map((target) => [source, target] as const));
  return Object.fromEntries([
    ...IDS.map((id) => [id, knows(id)]),
    ...pairs.map(([source, target]) => [`${source}>${target}`, refusal(source, target)]),
  ]);
}

function byManifest(manifest: Uint8Array): Answers {
  const found = boundariesOf(manifest);
  return found && answers(found.knows, (source, target) => found.refusal(source, target, ['task']));
}

/** By the whole registry, with a lock that was made for this manifest where one can be made. */
function byRegistry(manifest: Uint8Array): Answers {
  const { usable, agents } = loadRegistry(
    '',
    (path) => (path === MANIFEST_PATH ? manifest : lockFor(manifest)),
    hashBytes,
  );
  if (!usable) return null;
  return answers(
    (id) => agents.has(id),
    (source, target) => {
      const [from, to] = [agents.get(source), agents.get(target)];
      if (!from || !to || mediatorBetween(agents.values(), from, to, { type: 'task' }) !== null) return null;
      return checkBoundary(from, to, { type: 'task' }, TRUST_POLICY)[0]?.message ?? null;
    },
  );
}

function lockFor(manifest: Uint8Array): Uint8Array {
  let json: Json = {};
  try {
    json = JSON.parse(new TextDecoder().decode(manifest));
  } catch {
    // What is no JSON is refused whatever the lock says.
  }
  return bytesOf(JSON.stringify(lockOf(json, () => null, hashBytes)));
}

const agent = (collaboration?: Json): JsonObject => (collaboration === undefined ? {} : { collaboration });
const to = (...targets: string[]): JsonObject => ({ allow: targets.map((target) => ({ target })) });
const manifestOf = (domains: Json, more: JsonObject = {}): string =>
  JSON.stringify({ version: '1.0.0', domains, ...more });
const pair = { plan: agent(to('build')), build: agent() };

test.each<[string, string | Uint8Array, Answers]>([
  ['no JSON', '{', null],
  ['a member twice', '{"version":"1.0.0","version":"1.0.0","domains":{"plan":{}}}', null],
  ['a member that reaches for a prototype', '{"version":"1.0.0","domains":{"plan":{}},"__proto__":{}}', null],
  ['bytes that are no text', new Uint8Array([0x7b, 0xff, 0x7d]), null],
  ['a mark of the byte order', `\uFEFF${manifestOf(pair)}`, { 'plan>build': null }],
  ['a list', '[]', null],
  ['no agents', manifestOf({}), null],
  ['only names that are no ids', manifestOf({ 'Plan A': {} }), null],
  ['no version', JSON.stringify({ domains: pair }), null],
  ['a version that is no text', JSON.stringify({ version: 1, domains: pair }), null],
  ['a version that is not semver', JSON.stringify({ version: '1.0', domains: pair }), null],
  ['half a character', manifestOf({ plan: { name: '\ud800' } }), null],
  ['half a character in a name', manifestOf({ plan: { '\ud800': 1 } }), null],
  ['a declared partner', manifestOf(pair), { plan: true, judge: false, 'plan>build': null }],
  ['the other way round', manifestOf(pair), { 'build>plan': 'the boundaries of build do not reach plan' }],
  ['agents under taxonomy', JSON.stringify({ version: '1.0.0', taxonomy: { domains: pair } }), { plan: true }],
  [
    'one name in two sections',
    manifestOf(pair, { orchestrators: { plan: {} } }),
    { plan: false, build: true, 'plan>build': null },
  ],
  ['a record that is no object', manifestOf({ plan: 1 }), { plan: true }],
  [
    'a denial',
    manifestOf({ ...pair, plan: agent({ ...to('build'), deny: ['build'] }) }),
    { 'plan>build': 'plan denies handing to build' },
  ],
  [
    'a denial that is not understood',
    manifestOf({ ...pair, plan: agent({ ...to('build'), deny: 'build' }) }),
    { 'plan>build': 'plan denies handing to build' },
  ],
  [
    'a line that is only drawn',
    manifestOf({ ...pair, plan: agent({ allow: [{ target: 'build', mode: 'demarcate' }] }) }),
    { 'plan>build': 'the boundaries of plan do not reach build' },
  ],
  [
    'a partner through an orchestrator that is there',
    manifestOf(
      { ...pair, plan: agent({ allow: [{ target: 'build', mode: 'mediate' }] }) },
      { orchestrators: { desk: agent() } },
    ),
    { 'plan>build': null },
  ],
  [
    'a partner through an orchestrator, and none is there',
    manifestOf({ ...pair, plan: agent({ allow: [{ target: 'build', mode: 'mediate' }] }) }),
    { 'plan>build': 'the boundaries of plan do not reach build' },
  ],
  [
    'a partner for some requests only',
    manifestOf({ ...pair, plan: agent({ allow: [{ target: 'build', types: ['task'], scopes: ['a'] }] }) }),
    { 'plan>build': null },
  ],
  [
    'a partner for requests that no cast makes',
    manifestOf({ ...pair, plan: agent({ allow: [{ target: 'build', types: ['analysis'] }] }) }),
    { 'plan>build': 'plan may hand to build, but not a request of type task' },
  ],
  [
    'a partner for requests that do not exist',
    manifestOf({ ...pair, plan: agent({ allow: [{ target: 'build', types: ['wish'] }] }) }),
    { 'plan>build': 'the boundaries of plan do not reach build' },
  ],
  [
    'an archetype and its parts',
    manifestOf({ plan: {}, build: {}, judge: {} }, { archetypes: { team: { composition: { plan: 50, build: 50 } } } }),
    {
      'team>plan': null,
      'plan>team': null,
      'team>judge': 'judge is no part of team and not among its boundaries',
      'judge>team': 'the boundaries of judge do not reach team',
      'team>team': 'archetypes do not hand to each other',
    },
  ],
  [
    'an orchestrator',
    manifestOf(pair, { orchestrators: { chief: {} } }),
    { 'chief>build': null, 'build>chief': null, 'chief>chief': 'orchestrators do not hand to each other' },
  ],
])('%s: the manifest alone says what the whole registry says', (_, manifest, expected) => {
  const bytes = typeof manifest === 'string' ? bytesOf(manifest) : manifest;
  const found = byManifest(bytes);
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
  expect(found).toEqual(byRegistry(bytes));
});

test.each<[string, JsonObject, string | null]>([
  ['in order', {}, null],
  ['another canonical id', { canonical_id: 'other' }, 'the canonical_id of team is not its key in the manifest'],
  ['retired', { status: 'retired' }, 'team is retired'],
  ['shares of 99', { composition: { plan: 50, build: 49 } }, 'the shares of team add up to 99, not 100'],
])('an archetype that is %s can start: %s', (_, change, expected) => {
  const team = { composition: { plan: 50, build: 50 }, ...change };
  const found = boundariesOf(bytesOf(manifestOf(pair, { archetypes: { team } })));
  expect(found?.unfit('team')).toBe(expected);
  expect(found?.unfit('nobody')).toBeNull();
});

test('what an agent denies stays denied through an orchestrator, and through nobody else', () => {
  const domains = { ...pair, plan: agent({ deny: ['build'] }) };
  const found = boundariesOf(bytesOf(manifestOf(domains, { orchestrators: { chief: {} } })));
  expect(found?.mediated('plan', 'chief', 'build')).toBe('plan denies handing to build, through chief too');
  expect([found?.mediated('build', 'chief', 'plan'), found?.mediated('plan', 'plan', 'build')]).toEqual([null, null]);
});

test('whatever the manifest, the two agree', () => {
  const id = fc.constantFrom(...IDS, 'Not An Id');
  const odd = fc.constantFrom<Json[]>(null, 1, 'build', '\ud800', [], ['build'], {}, { target: 1 });
  const mostly = (usual: fc.Arbitrary<Json>) =>
    fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: odd });
  const some = (members: Record<string, fc.Arbitrary<Json>>) =>
    fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
  const edge = some({
    target: mostly(id),
    mode: mostly(fc.constantFrom('collaborate', 'demarcate', 'other')),
    types: mostly(fc.subarray(['query', 'task', 'wish'])),
    scopes: mostly(fc.subarray(['a', 'b'])),
  });
  const collaboration = some({
    allow: mostly(fc.array(mostly(edge), { maxLength: 3 })),
    deny: mostly(fc.array(id, { maxLength: 2 })),
  });
  const composition = fc.dictionary(id, fc.constantFrom<Json[]>(50, 0.5, 'x'), {
    maxKeys: 3,
  }) as fc.Arbitrary<JsonObject>;
  const record = some({ collaboration: mostly(collaboration), composition: mostly(composition), name: odd });
  const section = fc.dictionary(id, mostly(record), { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;
  const sections = { domains: mostly(section), archetypes: mostly(section), orchestrators: mostly(section) };
  const manifest = some({
    version: fc.oneof({ weight: 9, arbitrary: fc.constant<Json>('1.0.0') }, { weight: 1, arbitrary: odd }),
    taxonomy: mostly(some(sections)),
    ...sections,
  });
  const text = fc.oneof(
    { weight: 9, arbitrary: manifest.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: manifest.map((value) => JSON.stringify(value).slice(0, -1)) },
    { weight: 1, arbitrary: fc.string() },
  );
  fc.assert(
    fc.property(text, (written) => {
      expect(byManifest(bytesOf(written))).toEqual(byRegistry(bytesOf(written)));
    }),
    { numRuns: RUNS },
  );
});

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'boundaries-')));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function folder(name: string, files: Readonly<Record<string, string>>): string {
  const dir = join(scratch, name);
  mkdirSync(join(dir, 'versions'), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

test('a folder without a manifest says nothing; one whose lock is out of date still says who may hand to whom', () => {
  expect(boundariesIn(join(scratch, 'nowhere'))).toBeNull();
  expect(boundariesIn(folder('lock-only', { [LOCK_PATH]: '{}' }))).toBeNull();
  const found = boundariesIn(
    folder('changed', { [MANIFEST_PATH]: manifestOf(pair), [LOCK_PATH]: '{"version":"0.9.0"}' }),
  );
  expect(found?.refusal('build', 'plan')).toBe('the boundaries of build do not reach plan');
});

test('a manifest that lies outside the folder is not read', () => {
  const inside = folder('inside', {});
  writeFileSync(join(scratch, 'outside.json'), manifestOf(pair));
  symlinkSync(join(scratch, 'outside.json'), join(inside, MANIFEST_PATH));
  expect(boundariesIn(inside)).toBeNull();
});
