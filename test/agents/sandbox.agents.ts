// The real programs in a sandbox: each works there with its own tools, and leaves nothing in its own folder.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { whyNoSandbox } from '../bubblewrap.ts';
import { assertInstalled, showsAll } from './contenders.ts';
import { type Parts, REAL, type RealProgram, type Studio, studio } from './real-cast.ts';

const canRun = whyNoSandbox() === null;

beforeAll(assertInstalled);

async function open(program: RealProgram, parts: () => Parts = () => ({})): Promise<Studio> {
  const made = await studio(program, parts, { sandbox: true, worktree: true });
  onTestFinished(() => made.close());
  return made;
}

/** Where a program keeps its conversations when it may. */
const FOLDERS: Readonly<Record<string, string>> = {
  ...{ codex: '.codex', pi: '.pi/agent', gemini: '.gemini', opencode: '.local/share/opencode' },
};

function filesBelow(folder: string): readonly string[] {
  return existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]).sort() : [];
}

describe.skipIf(!canRun).each(REAL.filter(showsAll).map((program) => [program.name, program] as const))(
  'a sandboxed cast on %s',
  { timeout: 240_000 },
  (name, program) => {
    test('plans, builds, evaluates and maintains, and what it writes for itself is gone afterwards', async () => {
      const at = await open(program);
      const folder = join(at.home, FOLDERS[name] ?? '');
      const before = filesBelow(folder);
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'completed', accepted: 4 });
      expect((view.turns ?? []).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
      expect((await at.baton('merge', view.cast)).code).toBe(0);
      expect(readFileSync(join(at.dir, 'greet.txt'), 'utf8')).toBe('hello');
      expect(readFileSync(join(at.dir, 'NOTES.md'), 'utf8')).toBe('greets');
      if (name in FOLDERS) expect(filesBelow(folder)).toEqual(before);
    });

    test('a broken answer is mended in a new conversation, which is told everything', async () => {
      const at = await open(program, () => ({
        evaluate: ({ request }) =>
          JSON.stringify(request.messages).includes('was invalid') ? '{"satisfied":true}' : 'Looks good to me!',
      }));
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'completed', accepted: 4 });
      const asked = at.asked('evaluate');
      expect(asked.at(-1)?.conversation).not.toBe(asked[0]?.conversation);
    });

    test('it writes nowhere but where it works', async () => {
      const out = { file: '' };
      const at = await open(program, () => ({
        build: ({ tools }) =>
          tools > 0
            ? '{"context":"tried"}'
            : { toolCalls: [program.shell(`echo in > ${out.file}; echo hello > greet.txt`)] },
      }));
      out.file = join(at.home, 'sneaked.txt');
      const view = await at.cast();
      expect(view.status).toBe('completed');
      expect(existsSync(out.file)).toBe(false);
      expect((await at.baton('merge', view.cast)).code).toBe(0);
      expect(readFileSync(join(at.dir, 'greet.txt'), 'utf8')).toBe('hello\n');
    });
  },
);
