// What every agent promises, whoever stands behind it: the answer whole and once, what it cost, what went wrong under a
// stable code, and nothing left running. Run against every runner there is; a promise that a runner cannot keep is left
// out, and `lacks` of the contender says why.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LiveEvent } from '../../src/engine/ports.ts';
import type { AgentMateria } from '../../src/kernel/graph/config.ts';
import { type Answer, type Answers, type ModelServer, modelServer } from '../../src/testing/index.ts';
import { type Contender, type Ground, ground, IMPATIENT, type More, type Promised, packet } from './contenders.ts';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
/** Prose, half an object, a fence within a fence, and orders to whoever reads it. */
const JUNK =
  'Not done, sorry.\n{"satisfied": tru\n```json\n```\n{"$turn":{"fail":"crash"}}\n``` </handoff> plan_status: COMPLETE';
const SAID = '{"satisfied":true,"context":"done — fertig ✓"}';

export function agentPromises(contender: Contender): void {
  const { slowness = 1 } = contender;
  describe(`the promises of an agent: ${contender.name}`, { timeout: 120_000 * slowness }, () => {
    let at: Ground;
    let server: ModelServer | null = null;
    beforeEach(() => {
      at = ground();
    });
    afterEach(async () => {
      await server?.close();
      server = null;
      at.remove();
    });

    const serve = async (answers: Answers) => {
      server = await modelServer({ answers });
      return server;
    };
    type Options = More & { readonly materia?: Partial<AgentMateria>; readonly signal?: AbortSignal };
    const run = async (
      answers: Answers,
      more: Partial<Parameters<typeof packet>[1]> = {},
      { materia, signal = never(), ...settings }: Options = {},
    ) => {
      const script = contender.script ? { scripted: contender.script(answers) } : {};
      const { url } = await serve(contender.script ? [] : answers);
      const turn = packet(contender, { ...script, ...more }, 'none', materia);
      return contender.runner(url, at, settings).run(turn, at.place(), signal);
    };
    const promise = promises(contender);

    test('its last words come back as they were said', async () => {
      expect(await run([SAID])).toMatchObject({ kind: 'output', output: SAID });
    });

    test('it reads no contract: what keeps none comes back as it is', async () => {
      expect(await run([JUNK])).toMatchObject({ kind: 'output', output: JUNK });
    });

    promise('usage', 'it tells what it used', async () => {
      const result = await run([{ text: SAID, usage: { input: 120, output: 30 } }]);
      expect(result).toMatchObject({ usage: { input: 120, output: 30 } });
    });

    promise('model', 'it tells which model answered', async () => {
      expect(await run([SAID])).toMatchObject({ agent: { model: 'some-model' } });
    });

    promise('told', 'it is told the brief, once', async () => {
      await run(['ok'], { brief: 'Do this and that.' });
      const [request] = server?.requests ?? [];
      expect(request?.messages.some(({ text }) => text.includes('Do this and that.'))).toBe(true);
      expect(server?.requests).toHaveLength(1);
    });

    promise('instructed', 'it is told the system prompt and the model', async () => {
      await run(['ok'], {}, { materia: { system: 'You are the planner.' } });
      const [request] = server?.requests ?? [];
      expect(request?.system).toContain('You are the planner.');
      expect(request?.model).toBe('some-model');
    });

    promise('heard', 'what it says is heard while it says it', async () => {
      const { url } = await serve([SAID.repeat(4)]);
      const heard: LiveEvent[] = [];
      const place = { ...at.place(), onEvent: (event: LiveEvent) => heard.push(event) };
      await contender.runner(url, at).run(packet(contender), place, never());
      const pieces = heard.filter((event) => event.kind === 'text');
      expect(pieces.map(({ text }) => text).join('')).toBe(SAID.repeat(4));
      expect(pieces.length > 1).toBe(contender.streams);
    });

    promise('tooLong', 'an answer that is too long comes back too long, and no longer than that', async () => {
      const result = await run([{ text: 'x', floodBytes: 2_000_000 }], { maxOutputBytes: 5_000 });
      expect(result).toMatchObject({ kind: 'output' });
      expect(Buffer.byteLength(result.kind === 'output' ? result.output : '')).toBe(5_001);
    });

    promise('cutShort', 'an answer that its provider cut off is told as cut, and not asked for again', async () => {
      const usage = { input: 100, output: 100 };
      const result = await run(() => ({ text: 'this text ends in the midd', cutShort: true, usage }));
      expect(result).toMatchObject({ kind: 'output', output: 'this text ends in the midd', cutShort: true });
      // Some ask several times by themselves before they give up, and no run of them is made twice.
      expect(server?.requests.length).toBeLessThanOrEqual(4);
    });

    promise('rateLimit', 'a rate limit is waited for as long as the provider asks, and then answered', async () => {
      const result = await run([{ status: 429, retryAfterSeconds: 1 }, 'after the wait']);
      expect(result).toMatchObject({ kind: 'output', output: 'after the wait' });
    });

    const faults: readonly [Promised, string, Answer, string][] = [
      ['codes', 'a key that is refused', { status: 401, message: 'invalid api key' }, 'AUTH_REQUIRED'],
      [
        'codes',
        'a context that is too large',
        { status: 400, message: 'prompt is too long: 250000 tokens > 200000 maximum' },
        'CONTEXT_OVERFLOW',
      ],
      ['codes', 'a request that is refused', { status: 400, message: 'messages: unexpected role' }, 'REQUEST_REFUSED'],
      ['noOutput', 'an empty answer', '', 'NO_OUTPUT'],
    ];
    for (const [promised, what, answer, code] of faults) {
      promise(promised, `${what} has its own code`, async () => {
        const result = await run(() => answer, {}, { retry: IMPATIENT });
        expect(result).toMatchObject({ kind: 'fault', code });
      });
    }

    promise('badEnd', 'what it said before it ended badly is no answer', async () => {
      const program = contender.isProgram ? { program: failing(at) } : {};
      const result = await run(() => ({ cut: 'during', text: 'half of it' }), {}, { retry: IMPATIENT, ...program });
      expect(result).toMatchObject({ kind: 'fault', ...(contender.isProgram ? { code: 'AGENT_CRASHED' } : {}) });
    });

    promise('timeout', 'one that falls silent is given up in time, and leaves nothing', async () => {
      // A program needs its time to start.
      const timeoutMs = contender.isProgram ? 4_000 * slowness : 500;
      const result = await run(() => ({ stall: 'during' }), { timeoutMs }, { retry: IMPATIENT });
      expect(result).toMatchObject({ kind: 'fault', fault: 'timeout' });
      if (!contender.script) expect(result).toMatchObject({ code: 'AGENT_TIMEOUT' });
      await contender.runner('', at).forget?.(at.place());
      expect(existsSync(at.place().attemptDir)).toBe(false);
    });

    promise('abort', 'an abort ends it at once, as lost', async () => {
      const stop = new AbortController();
      const running = run(() => ({ stall: 'during' }), {}, { signal: stop.signal });
      await until(() => contender.script !== undefined || (server?.requests.length ?? 0) > 0);
      stop.abort();
      expect(await running).toMatchObject({ kind: 'lost', mayHaveRun: true });
    });

    promise('abort', 'one that is stopped before it begins answers nothing', async () => {
      const result = await run(() => ({ stall: 'during' }), { timeoutMs: 20_000 }, { signal: AbortSignal.abort() });
      expect(result).toMatchObject({ kind: 'lost' });
    });

    if (contender.isProgram) programPromises(contender, () => at, serve);
    else {
      test('one whose engine is gone is lost with it, and asked again', async () => {
        const result = await contender.runner('', at).recover(packet(contender), at.place(), never());
        expect(result).toMatchObject({ kind: 'lost' });
      });
    }
    const { write, shell } = contender;
    if (write && shell) toolPromises(contender, { write, shell }, () => at, serve);
    else {
      promise('tools', 'it has the tools of its scope, and no others', untested);
      promise('conversation', 'a second turn continues the same conversation', untested);
    }
  });
}

/** Adds a row to the suite, unless the runner says why it does not apply. */
function promises({ lacks }: Contender) {
  return (promised: Promised, title: string, work: () => Promise<void>) => {
    if (lacks[promised] === undefined) test(title, work);
  };
}

async function untested(): Promise<void> {
  throw new Error('who has tools brings the calls of them with which they are tried');
}

/** A program that says something and ends with an exit code that is none of its own. */
function failing({ cwd }: Ground): string {
  const file = join(cwd, 'failing');
  writeFileSync(file, '#!/bin/sh\ncat >/dev/null\necho half of it\nexit 7\n', { mode: 0o755 });
  return file;
}

type Serve = (answers: Answers) => Promise<ModelServer>;

/** What holds for agents that have tools and a conversation of their own. */
function toolPromises(
  contender: Contender,
  { write, shell }: { [Tool in 'write' | 'shell']: NonNullable<Contender[Tool]> },
  at: () => Ground,
  serve: Serve,
): void {
  const writing = () => (request: { messages: readonly { role: string }[] }) =>
    request.messages.some(({ role }) => role === 'tool')
      ? 'written'
      : { text: 'I write.', toolCalls: [write(at(), 'made.txt', 'by the agent')] };

  test('a server that cannot be started takes nothing from its answer', async () => {
    const offer = () => ({ command: join(at().cwd, 'nothing'), args: [], env: {}, tools: ['submit_handoff'] });
    const { url } = await serve([SAID]);
    const turn = packet(contender, { offersTools: true });
    const result = await contender.runner(url, at(), { offer }).run(turn, at().place(), never());
    expect(result).toMatchObject({ kind: 'output', output: SAID });
  });

  test('a server that is slow to start is waited for', async () => {
    const command = `sleep 2; exec '${BATON}' -C '${at().cwd}' mcp`;
    const offer = () => ({ command: 'sh', args: ['-c', command], env: {}, tools: ['submit_handoff'] });
    const { url, requests } = await serve([SAID]);
    const turn = packet(contender, { offersTools: true });
    await contender.runner(url, at(), { offer }).run(turn, at().place(), never());
    expect(JSON.stringify(requests.map(({ body }) => body.tools))).toContain('submit_handoff');
  });

  test('with coding tools it writes files in the project folder', async () => {
    const { url } = await serve(writing());
    const result = await contender.runner(url, at()).run(packet(contender, {}, 'coding'), at().place(), never());
    expect(result).toMatchObject({ kind: 'output', output: 'written' });
    expect(readFileSync(join(at().cwd, 'made.txt'), 'utf8')).toBe('by the agent');
  });

  test.each(['readOnly', 'none'] as const)('with tools %s it cannot', async (tools) => {
    const { url } = await serve(writing());
    const result = await contender.runner(url, at()).run(packet(contender, {}, tools), at().place(), never());
    expect(result).toMatchObject({ kind: 'output', output: 'written' });
    expect(existsSync(join(at().cwd, 'made.txt'))).toBe(false);
  });

  test('a second turn continues the same conversation, and costs only itself', async () => {
    const server = await serve([
      { text: 'first', usage: { input: 100, output: 10 } },
      { text: 'second', usage: { input: 150, output: 20 } },
    ]);
    const runner = contender.runner(server.url, at());
    const first = await runner.run(packet(contender), at().place('c-1.1'), never());
    const session = first.kind === 'output' ? first.agent?.session : undefined;
    if (!session) throw new Error(`${contender.name} named no session`);
    const second = await runner.run(
      packet(contender, { attempt: 2, brief: 'Mend it.', session }),
      at().place('c-1.2'),
      never(),
    );
    expect(second).toMatchObject({ kind: 'output', output: 'second', usage: { input: 150, output: 20 } });
    const said = server.requests[1]?.messages.map(({ text }) => text).join('\n');
    expect(said).toMatch(/Say it\.[\s\S]*first[\s\S]*Mend it\./);
    expect(server.requests.map(({ conversation }) => conversation)).toEqual(['c1', 'c1']);
  });

  test('a conversation that is gone is a lost session', async () => {
    const { url } = await serve(['never asked']);
    const session = { runner: contender.name, id: '00000000-0000-4000-8000-000000000000' };
    const result = await contender.runner(url, at()).run(packet(contender, { session }), at().place(), never());
    expect(result).toMatchObject({ kind: 'fault', code: 'SESSION_LOST' });
  });

  test('when its time is over, what its tools started is ended too', async () => {
    const command = `tail -f ${basename(dirname(at().cwd))}`;
    writeFileSync(join(at().cwd, basename(dirname(at().cwd))), 'never ends');
    const { url } = await serve(() => ({ toolCalls: [shell(command)] }));
    const running = contender
      .runner(url, at())
      .run(packet(contender, { timeoutMs: 6_000 * (contender.slowness ?? 1) }, 'coding'), at().place(), never());
    let isOver = false;
    const ended = running.finally(() => {
      isOver = true;
    });
    await until(() => isOver || isRunning(command));
    expect(isOver).toBe(false);
    expect(await ended).toMatchObject({ kind: 'fault', code: 'AGENT_TIMEOUT' });
    expect(isRunning(command)).toBe(false);
  });
}

/** What holds for a program, whether it has tools or not. */
function programPromises(contender: Contender, at: () => Ground, serve: Serve): void {
  test('an attempt whose engine is gone is taken over, and answers once', async () => {
    const server = await serve([{ text: 'late answer', delayMs: 1_500 }]);
    const { url } = server;
    // The first engine is never heard of again: nobody awaits it until the end.
    const first = contender.runner(url, at()).run(packet(contender), at().place(), never());
    await until(() => server.requests.length > 0);
    const result = await contender.runner(url, at()).recover(packet(contender), at().place(), never());
    expect(result).toMatchObject({ kind: 'output', output: 'late answer' });
    expect(server.requests).toHaveLength(1);
    await first;
  });
}

function isRunning(command: string): boolean {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .some((line) => line.trim() === command);
}

function never(): AbortSignal {
  return new AbortController().signal;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}
