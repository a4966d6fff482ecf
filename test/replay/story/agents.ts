// Agents whose programs really run: attempts that fail in every way and go on, notes of the programs, outputs that are
// verified, cut or scrubbed, a turn that a person takes, and a utility that cannot do its job.
import type { AgentNote } from '../../../src/kernel/cast/state.ts';
import type { Code } from '../../../src/kernel/codes.ts';
import { always, graph, no, notSatisfied, satisfied, yes } from '../../loadouts.ts';
import { SEAL, type Stage } from './stage.ts';

const LIVE = graph(
  {
    'Socket-1': { materia: 'Ask', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Print', edges: [always('Socket-3')] },
    'Socket-3': { materia: 'Decide' },
  },
  {
    materia: {
      Ask: {
        ...{ tools: 'coding', prompt: 'Ask about it. '.repeat(160), parse: 'json' },
        ...{ runner: 'claude', model: 'golden-1', fallbacks: [{ model: 'golden-2' }] },
      },
      Print: { type: 'utility', command: ['print'], env: ['LANG'], writes: ['printed.txt'] },
      Decide: { tools: 'none', prompt: 'Decide it.', parse: 'json', runner: 'person' },
    },
  },
);

/** Looks like a key, so that it is taken out. */
const SECRET = `AKIA${'B'.repeat(16)}`;

const NOTE: AgentNote = {
  ...{ runner: 'claude', model: 'golden-2-exact', unpriced: true },
  session: { runner: 'claude', id: 's-1', usage: { input: 40, output: 10, cost: 0 } },
  ...{ denials: ['Bash'], warnings: ['it cannot think as hard as it was asked to'], commands: ['ls src'] },
};

export async function tellOfAgents(stage: Stage): Promise<void> {
  await live(stage);
  await broken(stage);
  await published(stage);
  await halted(stage);
  await talked(stage);
  await reworked(stage);
}

const TALK = graph(
  { 'Socket-1': { materia: 'Plan', parse: 'json' } },
  { materia: { Plan: { tools: 'none', prompt: 'Plan it.', runner: 'claude', multiTurn: true } }, language: 'German' },
);

/** An agent talks with a person before it answers, and hears what is said to the cast beside that. */
async function talked(stage: Stage): Promise<void> {
  await stage.start('talked', { config: TALK, request: 'golden talked' });
  await stage.prepare('talked');
  await stage.say(await stage.turn('talked'), 'Tabs or spaces?');
  await stage.tell({ kind: 'turn.answer', cast: 'talked', output: 'tabs' });
  await stage.tell({ kind: 'cast.say', cast: 'talked', item: null, text: 'The tests lie in test/unit.' });
  await stage.prepare('talked');
  await stage.say(await stage.turn('talked'), 'Tabs it is.');
  await stage.tell({ kind: 'turn.finish', cast: 'talked' });
  await stage.prepare('talked');
  await stage.say(await stage.turn('talked'), '{"satisfied":true}');
}

const REWORK = graph(
  {
    'Socket-1': { materia: 'Code', parse: 'json', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Judge', parse: 'json', edges: [satisfied('end'), notSatisfied('Socket-1')] },
  },
  {
    materia: {
      Code: { tools: 'coding', prompt: 'Code it.', runner: 'claude', model: 'golden-1' },
      Judge: { tools: 'none', prompt: 'Judge it.', runner: 'claude' },
    },
  },
);

/** Rework goes on in the agent's own conversation, until a crash in a worktree puts the files back. */
async function reworked(stage: Stage): Promise<void> {
  await stage.start('reworked', { config: REWORK, request: 'golden reworked', root: '/golden/reworked' });
  await stage.prepare('reworked');
  const usage = { input: 30, output: 3, cost: 0.01 };
  const first = await stage.turn('reworked');
  const interrupt = { item: null, text: 'Use tabs.', interrupt: true } as const;
  await stage.tell({ kind: 'cast.say', cast: 'reworked', ...interrupt });
  await stage.tell({ kind: 'attempt.interrupted', ...first, usage, agent: NOTE });
  await stage.prepare('reworked');
  await stage.say(await stage.turn('reworked'), '{"context":"done"}', { agent: NOTE });
  await stage.prepare('reworked');
  await stage.say(await stage.turn('reworked'), no('Spaces are left.'));
  await stage.prepare('reworked');
  const again = await stage.turn('reworked');
  await stage.tell({ kind: 'attempt.lost', ...again, mayHaveRun: true, reason: 'the process is gone' });
  await stage.prepare('reworked');
  await stage.say(await stage.turn('reworked'), '{"context":"done"}');
  await stage.prepare('reworked');
  await stage.say(await stage.turn('reworked'), yes);
}

async function live(stage: Stage): Promise<void> {
  const fails = async (
    code: Code,
    more: {
      readonly retryAfterMs?: number;
      readonly agent?: AgentNote;
      readonly said?: string;
      readonly tries?: number;
    } = {},
  ) => {
    const at = await stage.turn('live');
    const told = { fault: 'refused', reason: 'the program says so', code, ...more } as const;
    await stage.tell({ kind: 'attempt.failed', ...at, ...told });
  };
  const prepare = () => stage.prepare('live', { seal: SEAL });
  await stage.start('live', { config: LIVE, request: 'golden live' });
  await prepare();
  await fails('MODEL_UNAVAILABLE', { agent: { runner: 'claude', model: 'golden-1' } });
  await prepare();
  await fails('RATE_LIMITED', { retryAfterMs: 5_000 });
  stage.wait(5_000);
  await stage.tell({ kind: 'clock.rang', cast: 'live' });
  await prepare();
  await fails('CONTEXT_OVERFLOW', { said: 'I have read too much.', tries: 2 });
  await prepare();
  await stage.say(await stage.turn('live'), 'No JSON at all.', { agent: NOTE }, 'NOT_JSON');
  await prepare();
  await fails('SESSION_LOST');
  await prepare();
  const usage = { input: 100, output: 20, cost: 0.01, cached: 60, estimated: true } as const;
  const asked = await stage.turn('live');
  await stage.say(asked, { ...yes, context: `It was ${SECRET}.` }, { agent: NOTE, usage });
  await stage.verify(asked, {
    changes: { 'notes.md': 'sha256:0', 'old.md': null },
    turnChecks: [
      { name: 'test', ok: false, found: 'exit code 1 instead of 0', output: '1 of 2 tests failed' },
      { name: 'lint', ok: true, found: 'exit code 0' },
    ],
    diff: { base: '0'.repeat(40), text: 'diff --git a/notes.md b/notes.md\n+a note' },
  });

  await prepare();
  const printed = await stage.turn('live');
  await stage.say(printed, 'The head of a long print.', { truncated: true });
  await stage.verify(printed);

  await prepare();
  await stage.tell({ kind: 'turn.answer', cast: 'live', output: '{"satisfied":true}' });
  await stage.verify(await stage.turn('live'));
}

/** What a utility says of its failure is kept. */
async function broken(stage: Stage): Promise<void> {
  const socket = { materia: 'Tool', assign: { found: '$.state.repository' } };
  await stage.start('broken', { config: graph({ 'Socket-1': socket }), request: 'golden broken' });
  await stage.prepare('broken', { seal: SEAL });
  const at = await stage.turn('broken');
  await stage.say(at, { satisfied: false, state: { repository: { ok: false, error: 'there is none' } } });
  await stage.verify(at, {}, 'UTILITY_FAILED');
}

/** What must not be done twice is cut off: a person says that it was done. */
async function published(stage: Stage): Promise<void> {
  await stage.start('published', {
    config: graph({ 'Socket-1': { materia: 'Publish' } }),
    request: 'golden published',
  });
  await stage.prepare('published');
  const at = await stage.turn('published');
  await stage.tell({ kind: 'attempt.failed', ...at, fault: 'timeout', reason: 'it took too long' });
  const decision = { choice: 'accept', output: '{"satisfied":true}', reason: 'it is there' } as const;
  await stage.tell({ kind: 'turn.decide', cast: 'published', turn: at.turn, ...decision });
}

/** What an agent used before it was stopped is told afterwards; the cast goes on from there. */
async function halted(stage: Stage): Promise<void> {
  await stage.start('halted', { config: LIVE, request: 'golden halted' });
  await stage.prepare('halted', { seal: SEAL });
  const at = await stage.turn('halted');
  await stage.tell({ kind: 'cast.pause', cast: 'halted', reason: 'a person stopped it' });
  const usage = { input: 70, output: 7, cost: 0.02 };
  await stage.tell({ kind: 'attempt.spent', ...at, usage, agent: NOTE });
  await stage.tell({ kind: 'cast.resume', cast: 'halted', reason: 'back' });
  await stage.prepare('halted');
}
