// Who is offered our own tools, and that the brief says so exactly then.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { JsonObject } from '../json.ts';
import { packetOf } from './packet.ts';
import { offeredTools } from './rules.ts';

const agent = (more: JsonObject): JsonObject => ({ prompt: 'Go.', tools: 'none', model: 'm', ...more });

test.each<[string, JsonObject, JsonObject, boolean]>([
  ['claude', agent({ runner: 'claude' }), {}, true],
  ['codex', agent({ runner: 'codex' }), {}, true],
  ['pi', agent({ runner: 'pi' }), {}, true],
  ['a model without tools', agent({ runner: 'anthropic' }), {}, false],
  ['any other program', agent({ runner: 'command', command: ['x'] }), {}, false],
  ['an agent that declines', agent({ mcp: false }), {}, false],
  ['a workspace that declines', agent({}), { mcp: false }, false],
  ['an agent that asks for it all the same', agent({ mcp: true }), { mcp: false }, true],
  ['an agent in a sandbox', agent({ sandbox: 'bwrap' }), {}, false],
])('%s', (_what, materia, config, isOffered) => {
  const cast = play({
    config: graph({ 'Socket-1': { materia: 'M', edges: [always('end')] } }, { materia: { M: materia }, ...config }),
  });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  expect(packetOf(cast.cast, cast.turn).offersTools).toBe(isOffered);
  expect(cast.turn.brief?.includes('`submit_handoff`')).toBe(isOffered);
});

test('a scripted agent calls nothing, so it is offered nothing', () => {
  const config = graph({ 'Socket-1': { materia: 'M' } }, { materia: { M: agent({ runner: 'claude' }) } });
  expect(play({ config, agents: { M: ['done'] } }).briefs('Socket-1')[0]).not.toContain('submit_handoff');
});

test('a fallback on another runner is offered what that runner can use', () => {
  const fallbacks = [{ runner: 'openai', model: 'm' }];
  const config = graph({ 'Socket-1': { materia: 'M' } }, { materia: { M: agent({ runner: 'codex', fallbacks }) } });
  const cast = play({ config });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  const reason = 'not here';
  cast.tell({
    kind: 'attempt.failed',
    cast: 'c',
    turn: 1,
    attempt: 1,
    fault: 'refused',
    reason,
    code: 'AGENT_UNAVAILABLE',
  });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
  expect(cast.all('attempt.started').map(({ brief }) => brief.includes('submit_handoff'))).toEqual([true, false]);
});

const OWN = ['submit_handoff', 'read_context'];
const LEDGER = ['heartbeat', 'worklog_add', 'lock_check', 'lock_request'];

test.each<[string, JsonObject, string | null, readonly string[]]>([
  ['a text', { parse: 'text' }, null, OWN],
  ['a text about a task', { parse: 'text' }, 'T-1', [...OWN, ...LEDGER]],
  ['a result of the ledger', { contract: 'operator' }, null, [...OWN, ...LEDGER]],
  ['a report that may ask for permission', { contract: 'gaia' }, null, [...OWN, 'request_approval', 'run_approved']],
])('the turn that returns %s is offered the tools that fit it', (_what, socket, task, tools) => {
  const config = graph(
    { 'Socket-1': { materia: 'M', edges: [always('end')], ...socket } },
    { materia: { M: agent({ runner: 'claude' }) } },
  );
  const { cast } = play({ config });
  expect(offeredTools(cast, { socket: 'Socket-1', task })).toEqual(tools);
});
