// The trust layer through the command line: pinned prompts, what a changed one brings about, and how a person lets it go.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { entryFromLine } from '../../src/log/line.ts';
import { loadRegistry } from '../../src/trust/registry.ts';
import { hashBytes } from '../../src/trust/registry-folder.ts';
import { verifyHandoff } from '../../src/trust/verify.ts';
import { baton, json, pinTeam, project, put, read } from './baton.ts';

const AGENTS = {
  'Auto-Plan': [{ workItems: [{ title: 'Greet', context: 'Say hello.' }] }],
  Build: ['Built.', '$repeat'],
  'Auto-Eval': [{ satisfied: true }, '$repeat'],
  Maintain: [{ satisfied: true }, '$repeat'],
  Narrate: ['Done.'],
};
const BUILD = '.baton/prompts/build.md';
const MANIFEST = '.baton/versions/prompt-manifest.json';

const LOCK = '.baton/versions/prompt-lock.json';

type Row = { readonly kind: string; readonly by: string } & JsonObject;

async function initialised(): Promise<string> {
  const dir = project({ 'agents.json': AGENTS });
  await pinTeam(dir);
  return dir;
}

const cast = async (dir: string) =>
  json<JsonObject>(await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'Greet']));
const codeOf = async (dir: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  json<{ code: string }>(await baton(dir, ['registry', ...args, '--json'], { env })).code;
const blocked = async (dir: string) =>
  json<{ key: string; times: number }[]>(await baton(dir, ['registry', 'quarantine', '--json']));
const log = async (dir: string, prefix: string) =>
  json<Row[]>(await baton(dir, ['log', '--json', '--after', '0'])).filter(({ kind }) => kind.startsWith(prefix));

function raise(dir: string, id: string, version: string): void {
  const manifest = JSON.parse(read(dir, MANIFEST));
  manifest.domains[id].version = version;
  put(dir, { [MANIFEST]: manifest });
}

test('an edited prompt stops the next dispatch, is blocked, and works again once a person has locked and released it', async () => {
  const dir = await initialised();
  expect(await cast(dir)).toMatchObject({ status: 'completed', trust: 'on' });
  put(dir, { [BUILD]: `${read(dir, BUILD)}And be quick.\n` });
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'PROMPT_BYTES_MISMATCH' });
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'QUARANTINED' });
  expect(await blocked(dir)).toMatchObject([{ key: 'domain-02-build', times: 2 }]);
  const release = ['release', 'domain-02-build', '--reason', 'reworded on purpose'];
  expect(await codeOf(dir, release)).toBe('PROMPT_BYTES_MISMATCH');
  expect(await codeOf(dir, ['lock'])).toBe('OK');
  expect(await codeOf(dir, release)).toBe('VERSION_MISMATCH');
  raise(dir, 'domain-02-build', '1.2.0');
  expect(await codeOf(dir, ['lock', '--reason', 'quicker'])).toBe('OK');
  expect((await cast(dir)).code).toBe('QUARANTINED');
  for (const env of [{ BATON_ATTEMPT: '1.1' }, { BATON_ATTEMPT_DIR: '/somewhere' }]) {
    expect(await codeOf(dir, release, env)).toBe('APPROVER_IS_AGENT');
    expect(await codeOf(dir, ['lock'], env)).toBe('APPROVER_IS_AGENT');
  }
  expect(await codeOf(dir, release)).toBe('OK');
  expect(await blocked(dir)).toEqual([]);
  expect(await cast(dir)).toMatchObject({ status: 'completed' });
  const [released] = await log(dir, 'quarantine.released');
  expect(released).toMatchObject({
    by: expect.stringMatching(/^token:/),
    reason: 'reworded on purpose',
    outcome: 'legitimate_change',
  });
});

test('a prompt that is put back makes the release possible and does not perform it', async () => {
  const dir = await initialised();
  const text = read(dir, BUILD);
  put(dir, { [BUILD]: 'x' });
  expect((await cast(dir)).code).toBe('PROMPT_BYTES_MISMATCH');
  put(dir, { [BUILD]: text });
  const failed = await cast(dir);
  expect(failed.code).toBe('QUARANTINED');
  expect(await codeOf(dir, ['release', 'domain-02-build', '--reason', 'restored'])).toBe('OK');
  const ran = await baton(dir, ['recast', String(failed.cast), '--json']);
  expect(json<JsonObject>(ran).status).toBe('completed');
});

test('every dispatch of an agent is attested, and every handoff has an id of its own', async () => {
  const dir = await initialised();
  await cast(dir);
  const started = (await log(dir, 'attempt.started')) as unknown as {
    turn: number;
    attestation?: { agent: string };
    envelope?: JsonObject;
  }[];
  const agents = started.filter(({ attestation }) => attestation);
  expect(agents.map(({ attestation }) => attestation?.agent)).toEqual([
    'domain-01-plan',
    'domain-02-build',
    'domain-03-evaluate',
    'domain-04-maintain',
    'domain-05-narrate',
  ]);
  const ids = agents.map(({ envelope }) => envelope?.handoff_id ?? null);
  expect([ids[0], new Set(ids).size]).toEqual([null, 5]);
});

test('a verdict is derived again from a bundle alone, after the registry has moved on', async () => {
  const dir = await initialised();
  expect(await cast(dir)).toMatchObject({ status: 'completed' });
  raise(dir, 'domain-02-build', '2.0.0');
  expect(await codeOf(dir, ['lock'])).toBe('OK');
  expect((await baton(dir, ['export', 'latest', '-o', 'run.baton'])).code).toBe(0);
  const { facts, texts } = JSON.parse(read(dir, 'run.baton')) as {
    readonly facts: readonly { readonly line: string }[];
    readonly texts: Readonly<Record<string, string>>;
  };
  const entries = facts.map(({ line }) => entryFromLine(line, (digest) => texts[digest] ?? ''));
  const loaded = entries.flatMap(({ fact }) => (fact.kind === 'registry.loaded' ? fact : []));
  expect(loaded).toHaveLength(1);
  const prompts = entries.flatMap(({ fact }) =>
    fact.kind === 'cast.started' ? Object.values(fact.rules.materia) : [],
  );
  const files = new Map(
    Object.values(
      JSON.parse(loaded[0]?.texts?.lock ?? '').prompts as Record<string, { file: string; hash: string }>,
    ).flatMap(({ file, hash }) => {
      const found = prompts.find((materia) => materia.type === 'agent' && hashBytes(materia.prompt) === hash);
      return found?.type === 'agent' ? [[file, found.prompt] as const] : [];
    }),
  );
  files.set(MANIFEST.replace('.baton/', ''), loaded[0]?.texts?.manifest ?? '');
  files.set(LOCK.replace('.baton/', ''), loaded[0]?.texts?.lock ?? '');
  const registry = loadRegistry('', (path) => (files.has(path) ? Buffer.from(files.get(path) ?? '') : null), hashBytes);
  const attempts = entries.flatMap(({ fact }) => (fact.kind === 'attempt.started' && fact.envelope ? fact : []));
  expect(attempts.length).toBeGreaterThan(2);
  for (const { attestation, envelope } of attempts) {
    const verdict = verifyHandoff(envelope?.envelope, {
      registry,
      now: envelope?.timestamp ?? '',
      seen: { has: () => false },
      maxAgeS: 300,
      maxSkewS: 60,
      policy: { phrases: 'flag' },
      origin: 'graph',
    });
    expect(registry.digest).toBe(attestation?.registry);
    expect(verdict).toMatchObject({
      code: 'OK',
      details: {
        envelope_digest: envelope?.digest,
        pattern: envelope?.pattern,
        registry_digest: attestation?.registry,
      },
    });
  }
});

test('a missing registry is no way around it', async () => {
  const dir = await initialised();
  await cast(dir);
  rmSync(join(dir, '.baton', 'versions'), { recursive: true });
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'REGISTRY_UNUSABLE', trust: 'on' });
  expect(await codeOf(dir, ['verify'])).toBe('REGISTRY_UNUSABLE');
});

/** The configuration without the identities of these materia. */
function unnamed(dir: string, ids: readonly string[]): void {
  const config = JSON.parse(read(dir, '.baton/config.json'));
  for (const id of ids) delete config.materia[id].identity;
  put(dir, { '.baton/config.json': config });
}

test.each([
  ['nobody has an identity', ['Auto-Plan', 'Build', 'Auto-Eval', 'Maintain', 'Narrate'], 0],
  ['one agent has none', ['Build'], 1],
])('a registry holds from the first cast on: %s', async (_, ids, attested) => {
  const dir = await initialised();
  rmSync(join(dir, '.baton', 'state'), { recursive: true });
  unnamed(dir, ids);
  put(dir, { [BUILD]: 'Do whatever you like.' });
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'AGENT_UNKNOWN', trust: 'on' });
  const started = await log(dir, 'attempt.started');
  expect(started.filter(({ attestation }) => attestation)).toHaveLength(attested);
  expect((await log(dir, 'registry.loaded')).length).toBe(1);
});

test('a registry that cannot be read lets nobody through on the first cast either', async () => {
  const dir = await initialised();
  rmSync(join(dir, '.baton', 'state'), { recursive: true });
  unnamed(dir, ['Auto-Plan', 'Build', 'Auto-Eval', 'Maintain', 'Narrate']);
  put(dir, { [MANIFEST]: '{' });
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'REGISTRY_UNUSABLE', trust: 'on' });
});

test('what was locked is in force at once: taking the registry away is noticed', async () => {
  const dir = await initialised();
  expect(json<JsonObject>(await baton(dir, ['status', '--json'])).trust).toBe('on');
  rmSync(join(dir, '.baton', 'versions'), { recursive: true });
  put(dir, { [BUILD]: 'Do whatever you like.' });
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'REGISTRY_UNUSABLE', trust: 'on' });
});

test('without a registry a cast is attested whole or not at all', async () => {
  const dir = await initialised();
  for (const folder of ['versions', 'state']) rmSync(join(dir, '.baton', folder), { recursive: true });
  expect(await cast(dir)).toMatchObject({ status: 'completed', trust: 'on' });
  put(dir, { [BUILD]: 'Do whatever you like.' });
  expect(await cast(dir)).toMatchObject({ cast: null, status: 'failed', code: 'REGISTRY_UNUSABLE' });
});

test('a workspace that never had a registry works, and says so', async () => {
  const config = {
    materia: { Say: { prompt: 'Say it.', tools: 'none' } },
    loadouts: { Main: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Say' } } } },
  };
  const dir = project({ '.baton/config.json': config, 'agents.json': { Say: ['said'] } });
  expect(await cast(dir)).toMatchObject({ status: 'completed', trust: 'off' });
  expect(json<JsonObject>(await baton(dir, ['status', '--json'])).trust).toBe('off');
  expect((await baton(dir, ['registry', 'list'])).stdout).toContain('trust: off');
  expect((await baton(dir, ['status'])).stdout).not.toContain('pinned');
});

test('a lock covers what agents run with, and verify reports what drifted', async () => {
  const dir = await initialised();
  const [row] = json<JsonObject[]>(await baton(dir, ['registry', 'list', '--json']));
  expect(row).toMatchObject({
    id: 'domain-01-plan',
    runner: 'claude',
    tools: 'readOnly',
    pinned: false,
    status: 'active',
  });
  const config = JSON.parse(read(dir, '.baton/config.json'));
  config.materia.Build.model = 'some-model';
  put(dir, { '.baton/config.json': config });
  const verified = await baton(dir, ['registry', 'verify', '--json']);
  expect(json<JsonObject>(verified)).toMatchObject({
    allow: true,
    details: { problems: [{ code: 'APPROVAL_DRIFT', agent: 'domain-02-build' }] },
  });
  expect(await codeOf(dir, ['verify', '--strict'])).toBe('APPROVAL_DRIFT');
});

const manifestOf = (dir: string) => JSON.parse(read(dir, MANIFEST));
const remarks = async (dir: string) =>
  json<{ details: { problems: { code: string; agent: string }[] } }>(
    await baton(dir, ['registry', 'verify', '--json']),
  ).details.problems.map(({ code, agent }) => `${code} ${agent}`);

test.each<[string, (dir: string) => void, string]>([
  [
    'a wrong canonical id',
    (dir) => {
      const manifest = manifestOf(dir);
      manifest.domains['domain-02-build'].canonical_id = 'other';
      put(dir, { [MANIFEST]: manifest });
    },
    'AGENT_UNKNOWN',
  ],
  ['a version that is none', (dir) => raise(dir, 'domain-02-build', 'v1'), 'VERSION_NOT_SEMVER'],
  ['a prompt that is not there', (dir) => rmSync(join(dir, BUILD)), 'LOCK_ENTRY_MISSING'],
  [
    'shares that do not add up',
    (dir) => {
      const composition = { 'domain-01-plan': 50, 'domain-02-build': 40 };
      put(dir, {
        [MANIFEST]: {
          ...manifestOf(dir),
          archetypes: { both: { file: 'prompts/build.md', version: '1.0.0', composition } },
        },
      });
    },
    'COMPOSITION_SUM',
  ],
])('what verify would refuse is not locked: %s', async (_, change, code) => {
  const dir = await initialised();
  const before = read(dir, LOCK);
  change(dir);
  expect(await codeOf(dir, ['lock'])).toBe(code);
  expect(read(dir, LOCK)).toBe(before);
});

test.each<[string, (dir: string) => void, string]>([
  ['another prompt', (dir) => put(dir, { [BUILD]: 'Other words.' }), 'VERSION_NOT_RAISED domain-02-build'],
  ['a lower version', (dir) => raise(dir, 'domain-02-build', '0.9.0'), 'VERSION_NOT_RAISED domain-02-build'],
  [
    'other boundaries',
    (dir) => {
      const manifest = manifestOf(dir);
      manifest.domains['domain-02-build'].collaboration.allow = [];
      put(dir, { [MANIFEST]: manifest });
    },
    'VERSION_NOT_RAISED domain-02-build',
  ],
  [
    'other boundaries under a new minor version',
    (dir) => {
      raise(dir, 'domain-02-build', '1.2.0');
      const manifest = manifestOf(dir);
      manifest.domains['domain-02-build'].collaboration.allow = [];
      put(dir, { [MANIFEST]: manifest });
    },
    'VERSION_NOT_RAISED domain-02-build',
  ],
  [
    'an agent less',
    (dir) => {
      const manifest = manifestOf(dir);
      delete manifest.domains['domain-05-narrate'];
      delete manifest.taxonomy;
      for (const { collaboration } of Object.values<{ collaboration?: { allow?: { target: string }[] } }>(
        manifest.domains,
      ))
        if (collaboration?.allow)
          collaboration.allow = collaboration.allow.filter(({ target }) => target !== 'domain-05-narrate');
      put(dir, { [MANIFEST]: manifest });
    },
    'LOCK_ENTRY_GONE domain-05-narrate',
  ],
])('the lock remembers what was locked before: %s under the same version', async (_, change, remark) => {
  const dir = await initialised();
  change(dir);
  expect(await codeOf(dir, ['lock'])).toBe('OK');
  expect(await remarks(dir)).toContain(remark);
  expect(json<JsonObject>(await baton(dir, ['registry', 'verify', '--strict', '--json'])).allow).toBe(false);
  if (remark.startsWith('LOCK')) return;
  raise(dir, 'domain-02-build', '2.0.0');
  expect(await codeOf(dir, ['lock'])).toBe('OK');
  expect(await remarks(dir)).not.toContain(remark);
});

test('what is locked has its time from the first lock on, and so has what was superseded', async () => {
  const dir = await initialised();
  raise(dir, 'domain-02-build', '1.2.0');
  await baton(dir, ['registry', 'lock']);
  const { history } = JSON.parse(read(dir, LOCK));
  expect(history['domain-02-build']).toMatchObject([
    { version: '1.1.0', locked_at: expect.stringMatching(/^\d{4}-/), until: expect.stringMatching(/^\d{4}-/) },
  ]);
});

test('a pinned prompt that is no text is said to be that, before and at its dispatch, and blocks nobody', async () => {
  const dir = await initialised();
  writeFileSync(join(dir, BUILD), Buffer.from([0xff, 0xfe, 0x41]));
  raise(dir, 'domain-02-build', '1.2.0');
  expect(await codeOf(dir, ['lock'])).toBe('OK');
  const { details } = json<{ details: { issues: JsonObject[] } }>(await baton(dir, ['check', '--json']));
  expect(details.issues.map(({ message }) => message)).toEqual([expect.stringContaining('not UTF-8 text')]);
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'PROMPT_NOT_TEXT' });
  expect(await blocked(dir)).toEqual([]);
});

test('a denial that is no list of ids cannot be locked', async () => {
  const dir = await initialised();
  const manifest = JSON.parse(read(dir, MANIFEST));
  manifest.domains['domain-02-build'].collaboration.deny = 'domain-01-plan';
  put(dir, { [MANIFEST]: manifest });
  expect(await codeOf(dir, ['lock'])).toBe('BOUNDARY_MALFORMED');
});

test('an edge that could never pass is found before anything runs', async () => {
  const dir = await initialised();
  const manifest = JSON.parse(read(dir, MANIFEST));
  manifest.domains['domain-02-build'].collaboration.allow = [];
  put(dir, { [MANIFEST]: manifest });
  await baton(dir, ['registry', 'lock']);
  const checked = json<{ allow: boolean; details: { issues: JsonObject[] } }>(await baton(dir, ['check', '--json']));
  const about = checked.details.issues.filter(({ path }) => String(path).startsWith('loadouts.Full-Auto.'));
  expect([checked.allow, about]).toMatchObject([
    true,
    [{ code: 'BOUNDARY_REFUSED', level: 'warning', path: 'loadouts.Full-Auto.sockets.Socket-4.edges[0]' }],
  ]);
  expect((await baton(dir, ['check', '--strict'])).code).toBe(1);
  expect(await cast(dir)).toMatchObject({ status: 'failed', code: 'BOUNDARY_NOT_ALLOWED' });
});

test('a handoff and a prompt as the lock names it lead to the turns they had part in', async () => {
  const dir = await initialised();
  await cast(dir);
  const traced = async (word: string) => json<JsonObject[]>(await baton(dir, ['trace', word, '--json']));
  const all = await traced('latest');
  const built = all.findIndex(({ materia }) => materia === 'Build');
  expect(all[0]?.handoff).toBeNull();
  expect(await traced(String(all[built]?.handoff))).toEqual(all.slice(built));
  const { prompts } = JSON.parse(read(dir, LOCK)) as { prompts: Record<string, { hash: string }> };
  expect(await traced(prompts['domain-02-build']?.hash ?? '')).toEqual(all.slice(built));
  expect((await baton(dir, ['trace', '550e8400-e29b-41d4-a716-446655440000'])).code).toBe(2);
});
