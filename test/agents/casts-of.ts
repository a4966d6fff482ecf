// The three real programs drive whole casts: they edit files with their own tools, mend a broken answer within the same
// conversation, fail honestly, are refused tools, are ended with everything they started, and outlive a killed Baton.
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { json } from '../cli/baton.ts';
import { worktreesOf } from '../cli/repository.ts';
import { assertInstalled, showsAll } from './contenders.ts';
import { type Parts, type Planning, REAL, type RealProgram, type Studio, studio } from './real-cast.ts';

async function open(
  program: RealProgram,
  parts: (dir: string) => Parts = () => ({}),
  planning: Planning = {},
): Promise<Studio> {
  const made = await studio(program, parts, planning);
  onTestFinished(() => made.close());
  return made;
}

/** Where the programs keep their conversations as files, below their home. */
const SESSIONS: Readonly<Partial<Record<RealProgram['name'], string>>> = {
  claude: '.claude/projects',
  codex: '.codex/sessions',
  pi: '.pi/agent/sessions',
  gemini: '.gemini/tmp',
};

/** Removes the builder's conversation, as if the cast went on on another machine. */
function forgetBuilder(folder: string): void {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, file);
    if (lstatSync(path).isFile() && readFileSync(path, 'utf8').includes('ROLE=build')) rmSync(path);
  }
}

const WHOLE = ['Socket-1', 'Socket-2', 'Socket-3', 'Socket-4'];

/** What one of the programs has to show; each has a file of its own, so that they run side by side. */
export function castsOf(name: RealProgram['name']): void {
  const program = REAL.find((each) => each.name === name);
  if (!program) throw new Error(`there is no program ${name}`);
  describe(`a cast on ${name}`, { timeout: 240_000 * program.slowness }, () => {
    beforeAll(assertInstalled);

    test('plans, builds, evaluates and maintains a repository with its own tools, in a worktree', async () => {
      const at = await open(program, () => ({}), { worktree: true });
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'completed', accepted: 4 });
      expect(view.path.map(({ socket }) => socket)).toEqual(WHOLE);
      expect(existsSync(join(at.dir, 'greet.txt'))).toBe(false);
      expect((await at.baton('merge', view.cast)).code).toBe(0);
      expect(readFileSync(join(at.dir, 'greet.txt'), 'utf8')).toBe('hello');
      expect(readFileSync(join(at.dir, 'NOTES.md'), 'utf8')).toBe('greets');
      expect(view.usage.tokens).toBeGreaterThan(0);
      expect(view.usage.cost > 0).toBe(program.tellsCost);
      for (const { agent } of view.turns ?? []) {
        expect(agent).toMatchObject({ runner: name, session: { runner: name } });
        expect(agent?.model !== undefined).toBe(program.tellsModel);
      }
      // Each turn is a conversation of its own.
      expect(new Set(at.server.requests.map(({ conversation }) => conversation)).size).toBe(4);
    });

    test('Baton is killed in the middle of a turn and carries on with the answer the program gave meanwhile', async () => {
      const at = await open(program, () => ({
        evaluate: async () => ({ text: '{"satisfied":true}', delayMs: 3_000 }),
      }));
      const running = at.begin();
      await eventually(() => at.asked('evaluate').length > 0);
      running.child.kill('SIGKILL');
      await running.ended;
      const view = json<CastView>(await at.baton('resume', '--json', '--turns'));
      expect(view).toMatchObject({ status: 'completed', accepted: 4 });
      expect(at.asked('evaluate')).toHaveLength(1);
      expect(view.path.map(({ socket }) => socket)).toEqual(WHOLE);
    });

    test('it is interrupted while its model works, and goes on in the same conversation with what was said', async () => {
      const at = await open(
        program,
        (dir) => ({
          build({ tools, request }) {
            if (tools === 0)
              return { text: 'I write.', toolCalls: [program.write(worktreesOf(dir)[0] ?? '', 'greet.txt', 'hello')] };
            const isTold = JSON.stringify(request.messages).includes('Say it in French');
            return isTold ? '{"context":"greet.txt is written"}' : { text: 'Too late.', delayMs: 600_000 };
          },
        }),
        { worktree: true },
      );
      const running = at.begin();
      await eventually(() => at.asked('build').length > 1);
      const said = json<JsonObject>(await at.baton('say', '--json', 'latest:WI-1', '--interrupt', 'Say it in French'));
      expect(said.reason).toBe('Build (Greet) is interrupted and goes on with it');
      expect((await running.ended).code).toBe(0);
      const view = json<CastView>(await at.baton('show', '--json', '--turns'));
      expect(view).toMatchObject({ status: 'completed', accepted: 4 });
      const asked = at.asked('build');
      expect(asked.at(-1)?.conversation).toBe(asked[0]?.conversation);
      const told = lastUser(asked.at(-1)?.messages ?? []);
      expect(told).toMatch(/You were interrupted[\s\S]*Say it in French/);
      expect(told).not.toContain('ROLE=');
      const facts = await at.facts();
      const kinds = facts
        .map(({ kind }) => kind)
        .filter((kind) => /^attempt\.(interrupted|lost|failed|spent)$/.test(kind));
      expect(kinds).toEqual(['attempt.interrupted']);
      // What it had done by then is kept, and it was not asked to do it again.
      expect((await at.baton('merge', view.cast)).code).toBe(0);
      expect(readFileSync(join(at.dir, 'greet.txt'), 'utf8')).toBe('hello');
    });

    test('what a person says while it works comes with the answer of the next tool of ours that it calls', async () => {
      const submits = { toolCalls: [program.submit({ workItems: [] })] };
      const at = await open(
        program,
        () => ({
          async plan({ tools }) {
            if (tools === 0) await at.baton('say', 'latest', 'Plan nothing today');
            return tools < 2 ? submits : 'I have handed it in.';
          },
        }),
        { tools: 'none' },
      );
      expect(await at.cast()).toMatchObject({ status: 'completed', accepted: 1 });
      const results = at.asked('plan').map(({ messages }) => messages.findLast(({ role }) => role === 'tool')?.text);
      expect(results).toEqual([
        undefined,
        expect.stringContaining('Plan nothing today'),
        expect.not.stringContaining('Plan nothing today'),
      ]);
    });

    if (!showsAll(program)) return;

    test('its work comes back to it in its own conversation; where that is gone, in a new one with the whole brief', async () => {
      const verdicts = [
        { satisfied: false, context: 'Say it twice.' },
        { satisfied: false, context: 'Say it thrice.' },
        { satisfied: true },
      ];
      // A program may ask its model more than once for an answer.
      const seen: string[] = [];
      const place = { home: '' };
      const kept = SESSIONS[name];
      const at = await open(program, () => ({
        evaluate({ request: { conversation } }) {
          if (!seen.includes(conversation)) seen.push(conversation);
          const turn = seen.indexOf(conversation);
          if (turn === 1 && kept !== undefined) forgetBuilder(join(place.home, kept));
          return JSON.stringify(verdicts[turn]);
        },
      }));
      place.home = at.home;
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'completed' });
      const builds = (view.turns ?? []).filter(({ materia }) => materia === 'Build');
      expect(builds.map(({ turn, attempt, session }) => [turn, attempt, session !== undefined])).toEqual([
        [2, 1, false],
        [4, 1, true],
        [6, 1, true],
        ...(kept === undefined ? [] : [[6, 2, false]]),
      ]);
      expect(builds.map(({ brief }) => brief.includes('ROLE=build'))).toEqual(builds.map(({ session }) => !session));
      expect(builds.at(-1)?.brief).toContain('Say it thrice.');
      // The model sees the first brief as what was said before, and not once more.
      const again = at.asked('build').find(({ messages }) => lastUser(messages).includes('Say it twice.'));
      expect(lastUser(again?.messages ?? [])).not.toContain('ROLE=build');
      expect(JSON.stringify(again?.messages)).toContain('ROLE=build');
      if (kept === undefined) return;
      expect(builds[2]?.verdict).toMatchObject({ details: { cause: 'SESSION_LOST' } });
    });

    test('a broken answer is mended in the second attempt, within the same conversation', async () => {
      const at = await open(program, () => ({
        evaluate: ({ request }) =>
          lastUser(request.messages).includes('was invalid') ? '{"satisfied":true}' : 'Looks good to me!',
      }));
      const view = await at.cast();
      expect(view.status).toBe('completed');
      const [first, second] = (view.turns ?? []).filter(({ socket }) => socket === 'Socket-3');
      expect(first).toMatchObject({ attempt: 1, output: 'Looks good to me!', verdict: { allow: false } });
      expect(second).toMatchObject({ attempt: 2, verdict: { allow: true } });
      expect(second?.brief).not.toContain('ROLE=');
      // What the model saw: the first brief, the broken answer, and what is wrong with it.
      const [before, after] = at.asked('evaluate');
      expect(after?.conversation).toBe(before?.conversation);
      const said = after?.messages.map(({ text }) => text).join('\n') ?? '';
      expect(said).toMatch(/ROLE=evaluate[\s\S]*Looks good to me![\s\S]*was invalid/);
    });

    test('a broken handoff is refused by the tool, mended within the turn, and needs no repair turn', async () => {
      const said = (tools: number) =>
        [program.submit('My plan is good.'), program.submit({ workItems: [] })].slice(tools, tools + 1);
      const parts: Parts = { plan: ({ tools }) => (tools < 2 ? { toolCalls: said(tools) } : 'I have handed it in.') };
      const at = await open(program, () => parts, { tools: 'none' });
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'completed', accepted: 1 });
      expect(view.turns).toMatchObject([
        { attempt: 1, output: '{"workItems":[]}', verdict: { allow: true }, agent: { runner: name } },
      ]);
      expect(view.turns?.[0]?.brief).toContain('submit_handoff');
      // What the model saw: the refusal, with what to mend, and then that the second one is taken.
      const results = at.asked('plan').map(({ messages }) => messages.findLast(({ role }) => role === 'tool')?.text);
      expect(results).toEqual([
        undefined,
        expect.stringContaining('NOT_JSON'),
        expect.stringContaining('keeps its contract'),
      ]);
    });

    test('what it used is counted although it hangs after it has handed its work in', async () => {
      const usage = { input: 50_000, output: 700 };
      const submits = { toolCalls: [program.submit({ workItems: [] })], usage };
      const parts: Parts = { plan: ({ tools }) => (tools === 0 ? submits : { stall: 'before' }) };
      const at = await open(program, () => parts, { tools: 'none', timeoutMs: 12_000 * program.slowness });
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'completed', accepted: 1 });
      expect(view.usage.tokens).toBe(program.tellsOnTheWay ? 50_700 : 0);
    });

    test('where a person stops the cast it is counted what it used until then', async () => {
      const usage = { input: 50_000, output: 700 };
      const parts: Parts = {
        plan: ({ tools }) => (tools === 0 ? { toolCalls: [program.shell('true')], usage } : { stall: 'before' }),
      };
      const at = await open(program, () => parts, { tools: 'coding' });
      const running = at.begin();
      await eventually(() => at.asked('plan').length > 1);
      running.child.kill('SIGINT');
      const view = json<CastView>(await running.ended);
      expect(view).toMatchObject({ status: 'paused' });
      expect(view.usage.tokens).toBe(program.tellsOnTheWay ? 50_700 : 0);
    });

    test('where the offer is declined it is neither made nor mentioned', async () => {
      const at = await open(program, () => ({ plan: () => '{"workItems":[]}' }), { mcp: false });
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'completed', accepted: 1 });
      expect(view.turns?.[0]?.brief).not.toContain('submit_handoff');
      expect(JSON.stringify(at.server.requests.map(({ body }) => body))).not.toContain('submit_handoff');
    });

    test('an answer that stays broken fails the cast, and nothing of it is handed on', async () => {
      const at = await open(program, () => ({ evaluate: () => 'Still no JSON.' }));
      const view = await at.cast();
      expect(view).toMatchObject({ status: 'failed', code: 'CONTRACT_VIOLATION' });
      expect(view.path.map(({ socket }) => socket)).toEqual(WHOLE.slice(0, 3));
      expect(at.asked('evaluate')).toHaveLength(2);
      expect(existsSync(join(at.dir, 'NOTES.md'))).toBe(false);
    });

    test('a tool outside its scope is refused to it', async () => {
      const at = await open(program, (dir) => ({
        evaluate: ({ tools }) =>
          tools > 0 ? '{"satisfied":true}' : { toolCalls: [program.write(dir, 'sneaked.txt', 'in')] },
      }));
      const view = await at.cast();
      expect(view.status).toBe('completed');
      expect(existsSync(join(at.dir, 'sneaked.txt'))).toBe(false);
      const [evaluated] = (view.turns ?? []).filter(({ socket }) => socket === 'Socket-3');
      expect((evaluated?.agent?.denials ?? []).length > 0).toBe(program.tellsDenials);
    });

    test('when its time is over it is ended with everything it had started', async () => {
      const at = await open(
        program,
        (dir) => ({ plan: () => ({ toolCalls: [program.shell(`tail -f ${basename(dir)}.log`)] }) }),
        { tools: 'coding', timeoutMs: 20_000 * program.slowness },
      );
      const command = `tail -f ${basename(at.dir)}.log`;
      execFileSync('touch', [join(at.dir, `${basename(at.dir)}.log`)]);
      const running = at.begin();
      let isOver = false;
      const ended = running.ended.finally(() => {
        isOver = true;
      });
      await eventually(() => isOver || processes().includes(command));
      expect(isOver).toBe(false);
      const view = json<CastView>(await ended);
      expect(view).toMatchObject({ status: 'failed', code: 'AGENT_TIMEOUT' });
      expect(view.usage.tokens > 0).toBe(program.tellsOnTheWay);
      expect(view.reason).toMatch(/last sign of life/);
      expect(processes()).not.toContain(command);
      expect(processes().filter((line) => line.includes(at.dir))).toEqual([]);
    });
  });
}

function lastUser(messages: readonly { readonly role: string; readonly text: string }[]): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? '';
}

/** Real programs take their time on a busy machine; the test's own limit ends it. */
async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(50);
}

function processes(): readonly string[] {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim());
}
