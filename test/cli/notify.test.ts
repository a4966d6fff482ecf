// A person is told that a cast waits, failed or ended: by a program, by a webhook on loopback, by the bell.
import { chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { desktopCommand, occasionIn } from '../../src/app/driving/notify.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { asBlock, reportOf } from '../reports.ts';
import { agent, baton, flow, json, project, put, read } from './baton.ts';

const ASKING = flow(
  { Spec: agent },
  { 'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia', label: 'find' } },
);
/** Appends what comes on standard input to a file. */
const NOTE = `import { appendFileSync, readFileSync } from 'node:fs';
appendFileSync('told.jsonl', readFileSync(0)); appendFileSync('args', process.argv.slice(2).join(' ') + '\\n');`;
const COMMAND = [process.execPath, 'note.mjs', 'a b', '$HOME'];

function prepared(notify: JsonObject, turns: readonly Json[], more: JsonObject = {}): string {
  const config = { ...ASKING, activeLoadout: 'L', notify, ...more };
  return project({ '.baton/config.json': config, 'a.json': { Spec: [...turns] }, 'note.mjs': NOTE });
}

const toldIn = (dir: string) =>
  read(dir, 'told.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
const casting = ['cast', '--agents', 'a.json', 'Find it; rm -rf /'];
const asks = asBlock(reportOf('NEEDS_INPUT', { next_action: 'tabs $(touch bad)?' }));
const done = asBlock(reportOf('COMPLETE'));

test('a program is told once that a cast waits, and once that it ended, with words as data', async () => {
  const dir = prepared({ command: COMMAND }, [asks, done]);
  expect((await baton(dir, ['trust'])).code).toBe(0);
  expect((await baton(dir, casting)).code).toBe(4);
  expect((await baton(dir, ['answer', 'latest', 'tabs'])).code).toBe(0);
  expect(toldIn(dir)).toMatchObject([
    {
      ...{ event: 'waiting', status: 'waiting', code: 'ANSWER_NEEDED', request: 'Find it; rm -rf /' },
      text: expect.stringMatching(/^L waits for you \(ANSWER_NEEDED\): find asks: tabs \$\(touch bad\)\?/),
      next: expect.stringMatching(/ why \S+$/),
    },
    {
      event: 'ended',
      status: 'completed',
      code: null,
      text: 'L completed',
      next: expect.stringMatching(/ show \S+$/),
    },
  ]);
  // No shell saw the arguments.
  expect(read(dir, 'args')).toBe('a b $HOME\na b $HOME\n');
});

test.each<[string, readonly Json[], readonly string[]]>([
  ['failed', ['no block', 'again none'], ['failed']],
  ['waiting', ['no block', 'again none'], []],
])('on %s alone: what else happens is not told', async (on, turns, told) => {
  const dir = prepared({ on: [on], command: COMMAND }, turns);
  await baton(dir, ['trust']);
  expect((await baton(dir, casting)).code).toBe(1);
  const found = told.length === 0 ? [] : toldIn(dir).map(({ event }) => event);
  expect(found).toEqual(told);
});

async function webhook(status: number) {
  const bodies: JsonObject[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      bodies.push(JSON.parse(body));
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x` };
}

test('a webhook gets the event as JSON', async () => {
  const { bodies, url } = await webhook(204);
  const dir = prepared({ webhook: url }, [done]);
  await baton(dir, ['trust']);
  const ran = await baton(dir, casting);
  expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining('not told')]);
  expect(bodies).toMatchObject([{ event: 'ended', loadout: 'L', workspace: dir }]);
});

test('a notification that fails is said once, with its file, and the cast goes on', async () => {
  const { url } = await webhook(500);
  const dir = prepared({ webhook: url, command: ['./not-there'] }, [asks, done]);
  await baton(dir, ['trust']);
  const ran = await baton(dir, casting);
  expect(ran.code).toBe(4);
  expect(
    ran.stderr.match(
      /No notification by notify\.webhook of \S+config\.json: it answered with status 500; start what listens there, or correct notify\.webhook\./g,
    ),
  ).toHaveLength(1);
  expect(ran.stderr.match(/notify\.command of .*not-there is not found; correct notify\.command/g)).toHaveLength(1);
  const tried = await baton(dir, ['notify', '--json']);
  expect([tried.code, json(tried).reason]).toEqual([
    1,
    expect.stringContaining('notify.webhook: it answered with status 500'),
  ]);
});

test.each<[string, JsonObject, RegExp]>([
  [
    'a webhook at which nothing listens',
    { webhook: 'http://127.0.0.1:65533/x' },
    /^notify\.webhook: nothing answers at 127\.0\.0\.1:65533 \(the connection is refused\); start what listens there, or correct notify\.webhook \(in /,
  ],
  [
    'a program that is not there',
    { command: ['./not-there'] },
    /^notify\.command: \.\/not-there is not found; correct notify\.command \(in /,
  ],
  [
    'a program that fails',
    { command: ['sh', '-c', 'echo no room >&2; exit 3'] },
    /^notify\.command: it ended with 3: no room; correct notify\.command \(in /,
  ],
  [
    'a desktop that is not there',
    { desktop: true },
    /^notify\.desktop: notify-send is not found; install it \(apt install libnotify-bin, .*\), or leave notify\.desktop out/,
  ],
])('%s: the cause and the fix', async (_what, notify, said) => {
  const dir = prepared(notify, []);
  // Without the programs of a desktop.
  put(dir, { 'bin/sh': '#!/bin/sh\nexec /bin/sh "$@"\n' });
  chmodSync(join(dir, 'bin/sh'), 0o755);
  expect((await baton(dir, ['trust'])).code).toBe(0);
  const ran = await baton(dir, ['notify', '--json'], { env: { PATH: join(dir, 'bin') } });
  expect([ran.code, json(ran).reason]).toEqual([1, expect.stringMatching(said)]);
});

test('a folder that nobody trusts starts no program and sends nothing elsewhere', async () => {
  const { bodies, url } = await webhook(200);
  const dir = prepared({ webhook: url, command: COMMAND }, [done]);
  const ran = await baton(dir, casting, { env: { BATON_CONFIG: join(dir, 'user') } });
  expect([ran.code, bodies]).toEqual([0, []]);
  expect(ran.stderr.match(/the folder is not trusted; `.*trust` lets it run/g)).toHaveLength(2);
  expect(() => read(dir, 'args')).toThrow();
});

test('check names a mistake, and a cast goes on without notifications', async () => {
  const dir = prepared({ command: 'notify-me', bel: true, on: ['waits'] }, [done]);
  const { details } = json<{ details: { issues: { path: string }[] } }>(await baton(dir, ['check', '--json']));
  expect(details.issues.map(({ path }) => path).sort()).toEqual(['notify.bel', 'notify.command', 'notify.on[0]']);
});

test('words of agents are arguments of the desktop program, and no part of its script or markup', () => {
  const words = { text: 'Flow waits: "; rm -rf / \u001b[2J', request: '<b>bold</b> & more' };
  const mac = desktopCommand(words, 'darwin');
  expect(mac.slice(-2)).toEqual(['Flow waits: "; rm -rf / [2J', '<b>bold</b> & more']);
  expect(mac.slice(0, -2).join(' ')).not.toContain('rm');
  expect(desktopCommand(words, 'linux').at(-1)).toBe('&#60;b&#62;bold&#60;/b&#62; &#38; more');
});

test('an item that asks while others go on is told, and a report that goes on is not', () => {
  const fact = (outcome: string) => ({ fact: { kind: 'turn.reported', turn: 3, outcome, note: 'which?' } }) as never;
  expect(occasionIn([fact('ask')])).toMatchObject({ event: 'waiting', status: 'running', turn: 3, why: 'which?' });
  expect(occasionIn([fact('continue')])).toBeNull();
});

test('the own settings of a user count where the project has none', async () => {
  const dir = prepared({}, [done], { notify: undefined as never });
  put(dir, { 'user/config.json': { notify: { on: ['ended'], command: COMMAND } } });
  const ran = await baton(dir, casting, { env: { BATON_CONFIG: join(dir, 'user') } });
  expect([ran.code, toldIn(dir).map(({ event }) => event)]).toEqual([0, ['ended']]);
});
