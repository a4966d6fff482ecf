import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { diffOf } from './diff.ts';
import { isDenied } from './json-file.ts';
import { HOSTS, type InstallRecord, type Plan, planInstall, planUndo, recordIn, recordText } from './plan.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);
const how = { program: '/opt/my baton/bin/baton', dir: '/w', reportOnly: false };
type Files = Record<string, string | null>;

function hostNamed(name: string) {
  const host = HOSTS.find((one) => one.name === name);
  if (!host) throw new Error(`there is no ${name}`);
  return host;
}

function carriedOut(files: Files, plan: Plan | Denied): Files {
  if (isDenied(plan)) throw new Error(plan.reason);
  return { ...files, ...Object.fromEntries(plan.changes.map(({ file, after }) => [file, after])) };
}

function installed(
  name: string,
  files: Files,
  record: InstallRecord = {},
  more = {},
): { files: Files; record: InstallRecord } {
  const plan = planInstall(hostNamed(name), (file) => files[file] ?? null, record, { ...how, ...more });
  return { files: carriedOut(files, plan), record: isDenied(plan) ? {} : plan.record };
}

function undone(name: string, files: Files, record: InstallRecord): Files {
  return carriedOut(
    files,
    planUndo(hostNamed(name), (file) => files[file] ?? null, record),
  );
}

const SETTINGS = '.claude/settings.json';
const odd = '{"model": "x",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}';

test.each<[string, string, Files]>([
  ['claude', 'nothing', {}],
  [
    'claude',
    'settings in a style of their own',
    { [SETTINGS]: odd, '.mcp.json': '{"mcpServers":{"other":{"command":"x"}}}' },
  ],
  ['claude', 'settings that are empty', { [SETTINGS]: '', '.mcp.json': '{}' }],
  ['codex', 'nothing', {}],
  ['codex', 'settings without an end of line', { '.codex/config.toml': 'model = "x"' }],
  [
    'codex',
    'other servers, and a text that only looks like ours',
    {
      '.codex/config.toml':
        'mcp_servers.a.command = "z"\nb = """\n[mcp_servers.baton]\n"""\n[mcp_servers.c]\n# baton = 1\n',
    },
  ],
  ['codex', 'hooks of its own', { '.codex/hooks.json': odd }],
  ['pi', 'nothing', {}],
])('%s with %s becomes exactly what it was', (name, _, before) => {
  const { files, record } = installed(name, before);
  expect(files).not.toEqual(before);
  const again = installed(name, files, record);
  expect(again.files).toEqual(files);
  const kept = recordIn(recordText(again.record));
  const after = undone(name, again.files, kept);
  for (const file of Object.keys(files)) expect(after[file] ?? null).toBe(before[file] ?? null);
});

test('settings that keep every hook from running are pointed out', () => {
  const { warnings } = hostNamed('claude');
  expect(warnings?.(SETTINGS, '{"disableAllHooks": true}')).toHaveLength(1);
  expect(warnings?.(SETTINGS, '{"disableAllHooks": false}')).toEqual([]);
});

test('what was there stays, also what came later', () => {
  const { files, record } = installed('claude', { [SETTINGS]: odd });
  const settings = JSON.parse(files[SETTINGS] ?? '');
  expect(settings).toMatchObject({ model: 'x', hooks: { Stop: [{ hooks: [{ command: 'say done' }] }, {}] } });
  settings.model = 'y';
  settings.hooks.Stop.push({ hooks: [{ type: 'command', command: 'later' }] });
  const changed = { ...files, [SETTINGS]: JSON.stringify(settings) };
  const again = installed('claude', changed, record);
  const after = undone('claude', again.files, again.record);
  expect(JSON.parse(after[SETTINGS] ?? '')).toEqual({
    model: 'y',
    hooks: {
      Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }, { hooks: [{ type: 'command', command: 'later' }] }],
    },
  });
  expect(JSON.parse(undone('claude', changed, {})[SETTINGS] ?? '').hooks.Stop).toHaveLength(2);
});

test('hooks name the folder of the session and refuse when baton cannot be started', () => {
  const { files } = installed('claude', {});
  const { hooks } = JSON.parse(files[SETTINGS] ?? '');
  expect(Object.keys(hooks)).toEqual([
    'PreToolUse',
    'PostToolUse',
    'UserPromptSubmit',
    'Stop',
    'SubagentStart',
    'SubagentStop',
    'SessionStart',
  ]);
  expect(hooks.PreToolUse[0]).toMatchObject({ matcher: 'Write|Edit|MultiEdit|NotebookEdit|Bash|Task|Agent' });
  expect(hooks.PostToolUse[0]).toMatchObject({ matcher: 'Write|Edit|MultiEdit|NotebookEdit|Bash|Task|Agent' });
  const command = `'/opt/my baton/bin/baton' -C "$CLAUDE_PROJECT_DIR" hook PreToolUse || exit 2`;
  expect(hooks.PreToolUse[0].hooks).toEqual([{ type: 'command', command, timeout: 15 }]);
  expect(JSON.parse(files['.mcp.json'] ?? '')).toEqual({
    mcpServers: { baton: { command: how.program, args: ['mcp'] } },
  });
  const { files: looking } = installed('claude', files, {}, { reportOnly: true });
  expect(looking[SETTINGS]).toContain('hook PreToolUse --report-only || true');
  expect(looking[SETTINGS]).not.toContain('exit 2');
});

test('codex gets the same hooks, for the tools by which it writes, and the workspace by name', () => {
  const { files } = installed('codex', { '.codex/hooks.json': odd }, {}, { dir: "/w's" });
  const { hooks } = JSON.parse(files['.codex/hooks.json'] ?? '') as { hooks: Record<string, JsonObject[]> };
  expect(Object.keys(hooks)).toEqual([
    'Stop',
    'PreToolUse',
    'PostToolUse',
    'UserPromptSubmit',
    'SubagentStop',
    'SessionStart',
  ]);
  const command = `'/opt/my baton/bin/baton' -C '/w'\\''s' hook PreToolUse || exit 2`;
  expect(hooks.PreToolUse).toEqual([
    { matcher: 'Bash|apply_patch|Edit|Write', hooks: [{ type: 'command', command, timeout: 15 }] },
  ]);
  expect(hooks.Stop).toHaveLength(2);
  expect(undone('codex', files, {})['.codex/hooks.json']).toBe(`${JSON.stringify(JSON.parse(odd), null, '\t')}\n`);
});

test.each<[string, Files, string]>([
  ['claude', { [SETTINGS]: '// mine\n{}' }, 'INVALID_CONFIG'],
  ['claude', { [SETTINGS]: '[]' }, 'INVALID_CONFIG'],
  ['claude', { [SETTINGS]: '{"hooks":[]}' }, 'INVALID_CONFIG'],
  ['claude', { [SETTINGS]: '{"hooks":{"Stop":{}}}' }, 'INVALID_CONFIG'],
  ['claude', { '.mcp.json': '{"mcpServers":{"baton":{"command":"other"}}}' }, 'NOT_ALLOWED_NOW'],
  ['claude', { '.mcp.json': '{"mcpServers":[]}' }, 'INVALID_CONFIG'],
  ['codex', { '.codex/config.toml': '[mcp_servers.baton]\ncommand = "x"\n' }, 'NOT_ALLOWED_NOW'],
  ...[
    '[mcp_servers]\nbaton = { command = "z" }',
    'mcp_servers.baton.command = "z"',
    'mcp_servers = { baton = { command = "z" } }',
    '[mcp_servers]\nbaton.command = "z"',
    '[ mcp_servers . \'baton\' ]\ncommand = "z"',
    '["mcp_servers"."bat\\u006fn".env]\nA = "z"',
    '[[mcp_servers.baton]]\ncommand = "z"',
    'mcp_servers = { other = { command = "z" } }',
    '[[mcp_servers]]\nother = { command = "z" }',
    'mcp_servers = 1',
  ].map((toml): [string, Files, string] => ['codex', { '.codex/config.toml': toml }, 'NOT_ALLOWED_NOW']),
  ['codex', { '.codex/config.toml': 'a = = 3' }, 'INVALID_CONFIG'],
  ['codex', { '.codex/config.toml': '[a]\n[a]' }, 'INVALID_CONFIG'],
  [
    'codex',
    {
      '.codex/config.toml': '# >>> baton: written by `baton install codex`; `baton install codex --undo` takes it out',
    },
    'INVALID_CONFIG',
  ],
  ['codex', { '.codex/hooks.json': '{"hooks":[]}' }, 'INVALID_CONFIG'],
  ['pi', { '.pi/extensions/baton.ts': 'export default 1;' }, 'NOT_ALLOWED_NOW'],
])('%s with %j is left alone: %s', (name, files, code) => {
  expect(planInstall(hostNamed(name), (file) => files[file] ?? null, {}, how)).toMatchObject({ allow: false, code });
});

test('where servers are written so that no table can be added, it is said what to add by hand', () => {
  const read = (file: string) => (file.endsWith('.toml') ? 'mcp_servers = { other = { command = "z" } }' : null);
  expect(planInstall(hostNamed('codex'), read, {}, how)).toMatchObject({
    reason: expect.stringContaining(
      'add by hand: baton = { command = "/opt/my baton/bin/baton", args = ["-C", "/w", "mcp"] }',
    ),
  });
});

test('whatever the settings are, taking Baton out again leaves them as they were', () => {
  const handler = fc.record({ type: fc.constant('command'), command: fc.string() });
  const group = fc.record({ matcher: fc.string(), hooks: fc.array(handler, { minLength: 1, maxLength: 2 }) });
  const event = fc.constantFrom('PreToolUse', 'Stop', 'Notification');
  const settings = fc.record(
    {
      model: fc.string(),
      permissions: fc.jsonValue(),
      hooks: fc.dictionary(event, fc.array(group, { minLength: 1, maxLength: 3 }), { minKeys: 1 }),
    },
    { requiredKeys: ['model'] },
  );
  fc.assert(
    fc.property(settings, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const before = { [SETTINGS]: JSON.stringify(value, null, indent) };
      const { files, record } = installed('claude', before);
      expect(undone('claude', files, record)[SETTINGS]).toBe(before[SETTINGS]);
      expect(JSON.parse(undone('claude', files, {})[SETTINGS] ?? '')).toEqual(
        JSON.parse(before[SETTINGS]) as JsonObject,
      );
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});

test('whatever stands in a file or a record, the answer is a plan or a refusal', () => {
  const text = fc.oneof(fc.string(), fc.json(), fc.constant('# >>> baton'), fc.constant(null));
  fc.assert(
    fc.property(fc.constantFrom(...HOSTS), text, text, (host, content, record) => {
      for (const plan of [
        planInstall(host, () => content, recordIn(record), how),
        planUndo(host, () => content, recordIn(record)),
      ]) {
        expect(isDenied(plan) || Array.isArray(plan.changes)).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
});

test.each<[string | null, string | null, readonly string[]]>([
  [null, 'a\n', ['f (new)', '+ a']],
  ['a\n', null, ['f (removed)', '- a']],
  ['a\nb\nc\n', 'a\nx\nc\n', ['f', '  a', '- b', '+ x', '  c']],
  ['1\n2\n3\n4\n5\n', '1\n2\n3\n4\nx\n5\n', ['f', '  2', '  3', '  4', '+ x', '  5']],
  ['a\na\n', 'a\n', ['f', '  a', '- a']],
])('%j becomes %j', (before, after, lines) => {
  expect(diffOf('f', before, after)).toEqual(lines);
});
