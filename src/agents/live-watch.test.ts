// Which attempts are listened to, and in whose words.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { always, graph } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import type { JsonObject } from '../kernel/json.ts';
import { type AttemptEvent, type LiveListener, listenLive } from './live-watch.ts';

let dir: string;
let heard: AttemptEvent[];
let watch: LiveListener;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-watch-'));
  heard = [];
  watch = listenLive(dir, (one) => heard.push(one));
});
afterEach(async () => {
  await watch.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A cast whose first turn is under way. */
function running(materia: JsonObject) {
  const own = { prompt: 'Go.', tools: 'none', model: 'm', ...materia };
  const config = graph({ 'Socket-1': { materia: 'M', edges: [always('end')] } }, { materia: { M: own } });
  const cast = play({ config });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  return cast;
}

function print(file: string, ...lines: (string | object)[]): void {
  const path = join(dir, 'attempts', file);
  mkdirSync(dirname(path), { recursive: true });
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  appendFileSync(path, `${text.join('\n')}\n`);
}

const claudes = { type: 'assistant', message: { content: [{ type: 'tool_use', name: 'Read' }] } };
const codexs = { type: 'item.started', item: { type: 'command_execution' } };
const pis = { type: 'tool_execution_start', toolName: 'read' };

test.each<[string, JsonObject, string, string | object, object]>([
  ['claude', { runner: 'claude' }, 'c-1.1/stdout', claudes, { kind: 'tool', name: 'Read' }],
  ['codex', { runner: 'codex' }, 'c-1.1/stdout', codexs, { kind: 'tool', name: 'command_execution' }],
  ['pi', { runner: 'pi' }, 'c-1.1/stdout', pis, { kind: 'tool', name: 'read' }],
  ['a program', { runner: 'command', command: ['x'] }, 'c-1.1/stdout', 'hello', { kind: 'text', text: 'hello\n' }],
  ['a model', { runner: 'openai' }, 'c-1.1/live.jsonl', { kind: 'text', text: 'hi' }, { kind: 'text', text: 'hi' }],
])('%s is heard', async (_who, materia, file, line, event) => {
  const { cast } = running(materia);
  watch.look(cast);
  print(file, line);
  await watch.stop();
  expect(heard).toEqual([{ turn: 1, attempt: 1, socket: 'Socket-1', event }]);
});

test('a run that was made again is the one that is listened to', async () => {
  const { cast } = running({ runner: 'pi' });
  print('c-1.1/stdout', pis);
  watch.look(cast);
  print('c-1.1.again-1/stdout', { ...pis, toolName: 'grep' });
  watch.look(cast);
  await watch.stop();
  expect(heard.map(({ event }) => event)).toContainEqual({ kind: 'tool', name: 'grep' });
});

test('of a long past only the end is told, and it goes on from there', async () => {
  const { cast } = running({ runner: 'openai' });
  print(
    'c-1.1/live.jsonl',
    { kind: 'text', text: 'first' },
    { kind: 'text', text: 'x'.repeat(300_000) },
    { kind: 'text', text: 'last' },
  );
  watch.look(cast);
  await watch.stop();
  expect(heard.map(({ event }) => event)).toEqual([{ kind: 'text', text: 'last' }]);
});

test('a file that was cut is read from its beginning', async () => {
  const { cast } = running({ runner: 'openai' });
  const file = join(dir, 'attempts', 'c-1.1', 'live.jsonl');
  print('c-1.1/live.jsonl', { kind: 'text', text: 'a long beginning' });
  watch.look(cast);
  while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  writeFileSync(file, '\n{"kind":"text","text":"b"}\n');
  while (heard.length === 1) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(heard.at(-1)?.event).toEqual({ kind: 'text', text: 'b' });
});

test('a turn that is over is not listened to, nor one that nobody runs', async () => {
  const over = running({ runner: 'claude' });
  over.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'done' });
  watch.look(over.cast);
  const person = running({ runner: 'person' });
  watch.look(person.cast);
  print('c-1.1/stdout', claudes);
  await watch.stop();
  expect(heard).toEqual([]);
});
