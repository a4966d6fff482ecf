// `baton new` with the real programs: each drafts a team, is told what was wrong with its first answer, and gets no tools of ours.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { modelServer } from '../../src/testing/index.ts';
import { batonProcess as baton, json, project, read } from '../cli/baton.ts';
import { assertInstalled, CLI, homeFolder, scratchFolder, showsAll } from './contenders.ts';
import { REAL } from './real-cast.ts';

beforeAll(assertInstalled);

const DRAFT = {
  name: 'pair',
  description: 'Builds and judges.',
  steps: ['build', 'judge'],
  prompts: { build: 'Build.' },
};
const WHOLE = { ...DRAFT, prompts: { build: 'Build.', judge: 'Judge.' } };

// pi needs a variable of its own, which only a materia can name.
test.each(
  REAL.filter((program) => program.name !== 'pi' && showsAll(program)).map(
    (program) => [program.name, program] as const,
  ),
)('%s drafts a team and repairs its draft once', async (name, program) => {
  const [dir, home] = [project(), homeFolder()];
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const isRepair = (text: string) => text.includes('Your last answer cannot be used');
  const server = await modelServer({
    answers: ({ messages }) => JSON.stringify(messages.some(({ text }) => isRepair(text)) ? WHOLE : DRAFT),
  });
  onTestFinished(server.close);
  const { materia, env } = program.setUp(server.url, home);
  const PATH = `${join(CLI, 'node_modules', '.bin')}:${process.env.PATH}`;
  const how = { env: { ...env, HOME: home, PATH, TMPDIR: scratchFolder() } };
  const where = [`--model=${materia.model}`, `--base-url=${materia.baseUrl}`];
  const ran = await baton(dir, ['new', `--runner=${name}`, ...where, '--yes', '--json', 'build and judge'], how);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('asked once more')]);
  expect(json<JsonObject>(ran)).toMatchObject({ written: true, loadout: 'pair' });
  expect(read(dir, '.baton/prompts/judge.md')).toBe('Judge.\n');
  expect(server.requests.some(({ messages }) => messages.some(({ text }) => isRepair(text)))).toBe(true);
});
