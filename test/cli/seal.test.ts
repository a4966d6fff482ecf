// A turn may change the project, never what governs it.
import { expect, test } from 'vitest';
import { baton, project, read } from './baton.ts';

const config = {
  materia: { Tool: { type: 'utility', command: ['node', './tool.mjs'], parse: 'json' } },
  loadouts: { One: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Tool' } } } },
};
const tool = (file: string) =>
  `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(file)}, 'changed');\nconsole.log('{"state":{"x":1}}');\n`;

test('a utility that writes into .baton is refused, and its handoff is not kept', async () => {
  const dir = project({ '.baton/config.json': config, '.baton/tool.mjs': tool('.baton/prompts.md') });
  const { code, stdout } = await baton(dir, ['cast', '--json', 'go']);
  const cast = JSON.parse(stdout);
  expect([code, cast.status, cast.code, cast.data]).toEqual([1, 'failed', 'SCOPE_VIOLATION', {}]);
});

test('a utility that writes into the project is not', async () => {
  const dir = project({ '.baton/config.json': config, '.baton/tool.mjs': tool('made.txt') });
  const { code, stdout } = await baton(dir, ['cast', '--json', 'go']);
  expect([code, JSON.parse(stdout).data]).toEqual([0, { x: 1 }]);
  expect(read(dir, 'made.txt')).toBe('changed');
});
