// The model server speaks four protocols; these tests read it as a client would.
import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { type Answers, type ModelServer, modelServer } from './index.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const start = async (answers: Answers) => {
  server = await modelServer({ answers, models: ['one', 'two'] });
  return server;
};

const PATHS = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  generate: '/v1beta/models/some-model',
} as const;
type Protocol = keyof typeof PATHS;
const ALL = Object.keys(PATHS) as Protocol[];

const bodyOf = (protocol: Protocol, said: readonly string[], stream: boolean): JsonObject => {
  const messages = said.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
  if (protocol === 'generate') {
    const contents = said.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'model', parts: [{ text }] }));
    const tools = [{ functionDeclarations: [{ name: 'look' }] }];
    return { systemInstruction: { parts: [{ text: 'be good' }] }, contents, tools };
  }
  const common = { model: 'some-model', stream };
  if (protocol === 'messages') return { ...common, system: 'be good', messages, tools: [{ name: 'look' }] };
  if (protocol === 'chat') {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    return { ...common, messages: [{ role: 'system', content: 'be good' }, ...messages], tools };
  }
  return { ...common, instructions: 'be good', input: messages, tools: [{ type: 'function', name: 'look' }] };
};

/** Gemini's way of answering is part of its path. */
const pathOf = (protocol: Protocol, stream: boolean) =>
  protocol === 'generate'
    ? `${PATHS.generate}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
    : PATHS[protocol];
const post = (protocol: Protocol, said: readonly string[] = ['hi'], stream = false) =>
  fetch(`${server?.url}${pathOf(protocol, stream)}`, {
    method: 'POST',
    body: JSON.stringify(bodyOf(protocol, said, stream)),
  });

/** The text of a stream, put together as each protocol's clients do. */
const textOf = (stream: string) =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)))
    .map((event) => {
      if (event.type === 'content_block_delta') return event.delta.text ?? '';
      if (event.type === 'response.output_text.delta') return event.delta;
      if (event.candidates) return event.candidates[0].content.parts[0]?.text ?? '';
      return event.choices?.[0]?.delta.content ?? '';
    })
    .join('');

test.each(ALL)('%s: an answer whole, with its usage', async (protocol) => {
  await start([{ text: 'hello', usage: { input: 7, output: 3 } }]);
  const response = await post(protocol);
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text).toContain('"hello"');
  expect(text).toMatch(/"(?:input_tokens|prompt_tokens|promptTokenCount)":7/);
  expect(text).toMatch(/"(?:output_tokens|completion_tokens|candidatesTokenCount)":3/);
});

test.each(ALL)('%s: an answer as a stream', async (protocol) => {
  await start(['a rather long answer that takes several pieces']);
  const response = await post(protocol, ['hi'], true);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(textOf(await response.text())).toBe('a rather long answer that takes several pieces');
});

test.each(ALL.flatMap((protocol) => [false, true].map((stream) => [protocol, stream] as const)))(
  '%s: a tool call, streamed: %s',
  async (protocol, stream) => {
    await start([{ toolCalls: [{ name: 'look', input: { at: 'this' } }] }]);
    const text = await (await post(protocol, ['hi'], stream)).text();
    expect(text).toContain('"look"');
    expect(text).toMatch(/tool_use|function_call|tool_calls|functionCall/);
  },
);

test.each(ALL)('%s: an error with its status and the time to wait', async (protocol) => {
  await start([{ status: 429, message: 'slow down', retryAfterSeconds: 2 }]);
  const response = await post(protocol);
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '2']);
  expect(await response.text()).toMatch(
    /(?:rate_limit|RESOURCE_EXHAUSTED).*slow down|slow down.*(?:rate_limit|RESOURCE_EXHAUSTED)/,
  );
});

test.each(ALL)('%s: a stream that is cut in its middle', async (protocol) => {
  await start([{ cut: 'during', text: 'this one is cut somewhere in the middle of its many words' }]);
  const response = await post(protocol, ['hi'], true);
  await expect(response.text()).rejects.toThrow();
});

test.each(ALL)(
  '%s: a short answer that breaks off has said half of its text and nothing that ends it',
  async (protocol) => {
    const { url } = await start([{ stall: 'during', text: 'half' }]);
    const body = JSON.stringify(bodyOf(protocol, ['hi'], true));
    const response = await fetch(`${url}${pathOf(protocol, true)}`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(300),
    });
    let heard = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) heard += decoder.decode(chunk, { stream: true });
    } catch {
      // It never ends by itself.
    }
    expect(textOf(heard)).toBe('ha');
    expect(heard).not.toMatch(/"finish_reason":"|message_stop|response\.completed|\[DONE\]/);
  },
);

test.each(['before', 'during'] as const)('silence %s the answer lasts until the server is closed', async (when) => {
  const { close } = await start([{ stall: when }]);
  const asked = post('messages', ['hi'], true).then((response) => response.text());
  const first = await Promise.race([asked, new Promise((resolve) => setTimeout(() => resolve('silence'), 200))]);
  expect(first).toBe('silence');
  await Promise.all([expect(asked).rejects.toThrow(), close()]);
  server = null;
});

test('a flood is as long as it should be', async () => {
  await start([{ text: 'x', floodBytes: 100_000 }]);
  expect(textOf(await (await post('chat', ['hi'], true)).text())).toHaveLength(100_001);
});

test('answers are used in order, and one too many is a refusal that nobody retries', async () => {
  await start(['one', 'two']);
  expect(await (await post('chat')).text()).toContain('"one"');
  expect(await (await post('chat')).text()).toContain('"two"');
  const response = await post('chat');
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('no answer for request 3')]);
});

test('a function answers what it is asked', async () => {
  await start(({ number, messages }) => `${number}: ${messages.at(-1)?.text}`);
  expect(await (await post('responses', ['what'])).text()).toContain('"1: what"');
});

test.each(ALL)('%s: the log says who asked what', async (protocol) => {
  const { requests } = await start(() => 'ok');
  await post(protocol, ['first']);
  await post(protocol, ['another']);
  await post(protocol, ['first', 'ok', 'second']);
  expect(requests[0]).toMatchObject({ number: 1, protocol, model: 'some-model', system: 'be good', tools: ['look'] });
  expect(requests.map(({ conversation }) => conversation)).toEqual(['c1', 'c2', 'c1']);
  expect(requests[2]?.messages.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'first'],
    ['assistant', 'ok'],
    ['user', 'second'],
  ]);
});

test('what is around the answers: models, token counts, and nothing else', async () => {
  const { url } = await start([]);
  expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'one' }, { id: 'two' }] });
  const counted = await fetch(`${url}/v1/messages/count_tokens`, {
    method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(40) }] }),
  });
  expect(await counted.json()).toEqual({ input_tokens: 10 });
  expect((await fetch(`${url}/v1/other`, { method: 'POST', body: '{}' })).status).toBe(404);
  expect((await fetch(`${url}/v1/messages`, { method: 'POST', body: 'oops' })).status).toBe(400);
  expect(server?.requests).toEqual([]);
});
