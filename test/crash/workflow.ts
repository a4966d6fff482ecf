// The workflow that is killed: twelve items, rework on every third, and a utility that is caught in the middle of
// writing a file. What it ends with depends on the script alone, so that a disturbed run can be compared with a quiet one.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ITEMS = 12;

const config = {
  materia: {
    Plan: { tools: 'none', prompt: 'Plan it.', generator: true },
    Build: { tools: 'none', prompt: 'Build it.' },
    Stamp: { type: 'utility', command: ['node', './stamp.mjs'], parse: 'json', timeoutMs: 60_000 },
    Eval: { tools: 'none', prompt: 'Evaluate it.' },
    Maintain: { tools: 'none', prompt: 'Tidy up.' },
    Narrate: { tools: 'none', prompt: 'Tell it.' },
  },
  loadouts: {
    Kill: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Plan', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': {
          materia: 'Build',
          parse: 'text',
          assign: { lastBuild: '$' },
          edges: [{ when: 'always', to: 'Socket-3' }],
        },
        'Socket-3': { materia: 'Stamp', assign: { stamps: '$.stamps' }, edges: [{ when: 'always', to: 'Socket-4' }] },
        'Socket-4': {
          materia: 'Eval',
          parse: 'json',
          edges: [
            { when: 'satisfied', to: 'Socket-5' },
            { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2 },
          ],
        },
        'Socket-5': {
          materia: 'Maintain',
          parse: 'json',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges: [{ when: 'always', to: 'Socket-2' }],
        },
        'Socket-6': { materia: 'Narrate', parse: 'text' },
      },
      loops: {
        items: {
          sockets: ['Socket-2', 'Socket-3', 'Socket-4', 'Socket-5'],
          consumes: { from: 'Socket-1', output: 'workItems' },
          exits: [
            { id: 'exit:Socket-5:satisfied', from: 'Socket-5', condition: 'satisfied', targetSocketId: 'Socket-6' },
          ],
        },
      },
    },
  },
};

// Writes its file piece by piece; a copy that was cut off leaves half a file, which the next copy replaces.
const stamp = `import { openSync, writeSync, closeSync, readFileSync } from 'node:fs';
const input = JSON.parse(readFileSync(0, 'utf8'));
const file = openSync(input.itemKey + '.stamp', 'w');
for (let piece = 0; piece < 5; piece++) {
  writeSync(file, input.itemKey + ' piece ' + piece + '\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4);
}
closeSync(file);
console.log(JSON.stringify({ stamps: (input.state.stamps ?? 0) + 1 }));
`;

export function layOut(dir: string): void {
  mkdirSync(join(dir, '.baton'), { recursive: true });
  writeFileSync(join(dir, '.baton', 'config.json'), JSON.stringify(config));
  writeFileSync(join(dir, '.baton', 'stamp.mjs'), stamp);
  writeFileSync(join(dir, 'agents.json'), JSON.stringify(script()));
}

function script() {
  const items = Array.from({ length: ITEMS }, (_, index) => ({
    title: `Item ${index + 1}`,
    context: `Do part ${index + 1}.`,
  }));
  const evaluations = items.flatMap((_, index) =>
    index % 3 === 1
      ? [say({ satisfied: false, context: `Part ${index + 1} lacks a test.` }), say({ satisfied: true })]
      : [say({ satisfied: true, context: `Part ${index + 1} is fine.` })],
  );
  return {
    Plan: [say({ workItems: items, context: 'Twelve parts.' })],
    Build: [
      { $turn: { delayMs: 6, output: 'built', usage: { input: 10, output: 5 }, write: { 'built.txt': 'built\n' } } },
      '$repeat',
    ],
    Eval: evaluations,
    Maintain: [say({ satisfied: true }), '$repeat'],
    Narrate: ['All twelve parts are done.'],
  };
}

function say(output: unknown) {
  return { $turn: { delayMs: 3, output, usage: { input: 7, output: 3 } } };
}
