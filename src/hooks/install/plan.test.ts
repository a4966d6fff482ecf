import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { isDenied } from './host.ts';
import { anyClaudeHost, HOSTS, hasHooks, sharedClaudeHost } from './hosts.ts';
import {
  changedLines,
  type InstallPlan,
  type InstallRecord,
  planInstall,
  planUndo,
  recordIn,
  recordText,
} from './plan.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const how = { program: '/opt/my baton/bin/baton', dir: '/w', reportOnly: false };
type Files = Record<string, string | null>;

const ALL_HOSTS = [...HOSTS, sharedClaudeHost];

function hostNamed(name: string) {
  const host = ALL_HOSTS.find((one) => one.name === name);
  if (!host) throw new Error(`there is no ${name}`);
  return host;
}

function carriedOut(files: Files, plan: InstallPlan | Denied): Files {
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
const LOCAL = '.claude/settings.local.json';
const odd = '{"model": "x",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}';

test.each<[string, string, Files]>([
  ['claude', 'nothing', {}],
  ['claude', 'settings in a style of their own', { [LOCAL]: odd }],
  ['claude --shared', 'nothing', {}],
  [
    'claude --shared',
    'settings in a style of their own',
    { [SETTINGS]: odd, '.mcp.json': '{"mcpServers":{"other":{"command":"x"}}}' },
  ],
  ['claude --shared', 'settings that are empty', { [SETTINGS]: '', '.mcp.json': '{}' }],
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
  const { warnings } = hostNamed('claude --shared');
  expect(warnings?.(SETTINGS, '{"disableAllHooks": true}')).toHaveLength(1);
  expect(warnings?.(SETTINGS, '{"disableAllHooks": false}')).toEqual([]);
});

test('a file keeps its form: only what is added is new', () => {
  const before = '{ "model": "x",\n    "permissions": {"deny": ["WebFetch"]} }\n';
  const { files } = installed('claude', { [LOCAL]: before });
  expect(
    files[LOCAL]?.startsWith('{ "model": "x",\n    "permissions": {"deny": ["WebFetch"]},\n    "hooks": {\n'),
  ).toBe(true);
});

test('Baton is taken out of the settings of the person and of the team', () => {
  const local = installed('claude', { [LOCAL]: odd });
  const both = installed('claude --shared', { ...local.files, [SETTINGS]: odd });
  expect([hasHooks(both.files[SETTINGS] ?? null), hasHooks(odd), hasHooks(null)]).toEqual([true, false, false]);
  const plan = planUndo(anyClaudeHost, (file) => both.files[file] ?? null, {});
  expect(carriedOut(both.files, plan)).toEqual({ [LOCAL]: odd, [SETTINGS]: odd, '.mcp.json': null });
});

test('what was there stays, also what came later', () => {
  const { files, record } = installed('claude --shared', { [SETTINGS]: odd });
  const settings = JSON.parse(files[SETTINGS] ?? '');
  expect(settings).toMatchObject({ model: 'x', hooks: { Stop: [{ hooks: [{ command: 'say done' }] }, {}] } });
  settings.model = 'y';
  settings.hooks.Stop.push({ hooks: [{ type: 'command', command: 'later' }] });
  const changed = { ...files, [SETTINGS]: JSON.stringify(settings) };
  const again = installed('claude --shared', changed, record);
  const after = undone('claude --shared', again.files, again.record);
  expect(JSON.parse(after[SETTINGS] ?? '')).toEqual({
    model: 'y',
    hooks: {
      Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }, { hooks: [{ type: 'command', command: 'later' }] }],
    },
  });
  expect(JSON.parse(undone('claude --shared', changed, {})[SETTINGS] ?? '').hooks.Stop).toHaveLength(2);
});

test('hooks name the folder of the session; before a tool they refuse when baton cannot be started', () => {
  const { files } = installed('claude --shared', {});
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
  const missing = `command -v '/opt/my baton/bin/baton' >/dev/null || { echo 'baton is not installed here, so its hook refuses every tool call: install it, or remove its hooks from .claude/settings.json' >&2; exit 2; }`;
  const command = `${missing}; '/opt/my baton/bin/baton' -C "$CLAUDE_PROJECT_DIR" hook PreToolUse || exit 2`;
  expect(hooks.PreToolUse[0].hooks).toEqual([{ type: 'command', command, timeout: 15 }]);
  // Only before a tool acts a missing program refuses: a prompt or the end of a turn is not blocked.
  const others = Object.entries<JsonObject[]>(hooks).filter(([event]) => event !== 'PreToolUse');
  for (const [event, [group]] of others) {
    expect(JSON.stringify(group)).toMatch(new RegExp(`exit 1; }; .* hook ${event}"`));
  }
  expect(JSON.parse(files['.mcp.json'] ?? '')).toEqual({
    mcpServers: { baton: { command: how.program, args: ['mcp'] } },
  });
  const { files: looking } = installed('claude --shared', files, {}, { reportOnly: true });
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
  const command = expect.stringMatching(/; '\/opt\/my baton\/bin\/baton' -C '\/w'\\''s' hook PreToolUse \|\| exit 2$/);
  expect(hooks.PreToolUse).toEqual([
    { matcher: 'Bash|apply_patch|Edit|Write', hooks: [{ type: 'command', command, timeout: 15 }] },
  ]);
  expect(hooks.Stop).toHaveLength(2);
  expect(undone('codex', files, {})['.codex/hooks.json']).toBe(odd);
});

test.each<[string, Files, string]>([
  ['claude --shared', { [SETTINGS]: '// mine\n{}' }, 'INVALID_CONFIG'],
  ['claude --shared', { [SETTINGS]: '[]' }, 'INVALID_CONFIG'],
  ['claude --shared', { [SETTINGS]: '{"hooks":[]}' }, 'INVALID_CONFIG'],
  ['claude --shared', { [SETTINGS]: '{"hooks":{"Stop":{}}}' }, 'INVALID_CONFIG'],
  ['claude --shared', { '.mcp.json': '{"mcpServers":{"baton":{"command":"other"}}}' }, 'NOT_ALLOWED_NOW'],
  ['claude --shared', { '.mcp.json': '{"mcpServers":[]}' }, 'INVALID_CONFIG'],
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
      const { files, record } = installed('claude --shared', before);
      expect(undone('claude --shared', files, record)[SETTINGS]).toBe(before[SETTINGS]);
      expect(undone('claude --shared', files, {})[SETTINGS]).toBe(before[SETTINGS]);
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});

test('whatever stands in a file or a record, the answer is a plan or a refusal', () => {
  const text = fc.oneof(fc.string(), fc.json(), fc.constant('# >>> baton'), fc.constant(null));
  fc.assert(
    fc.property(fc.constantFrom(...ALL_HOSTS), text, text, (host, content, record) => {
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
  expect(changedLines('f', before, after)).toEqual(lines);
});
