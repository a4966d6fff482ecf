// The history as the page reads it: the newest entries first, page by page, and a cast as one file of evidence.
import { expect, test } from 'vitest';
import { openWorkspace } from '../../src/api/open-workspace.ts';
import { agent, cast, environment, flow, project } from '../cli/baton.ts';

const LONG = 'x'.repeat(3_000);
type Rows = readonly { readonly seq: number; readonly fact: { readonly kind: string; readonly output?: unknown } }[];

async function worked() {
  const dir = project();
  const { cast: id } = await cast(dir, flow({ Say: agent }, { 'Socket-1': { materia: 'Say', parse: 'text' } }), {
    Say: [LONG],
  });
  const open = openWorkspace(dir, { env: environment(dir) });
  const read = async (input: object) => (await open.log(input as never)).details.entries as unknown as Rows;
  return { open, read, id };
}

test('pages of the log meet, and none is read twice', async () => {
  const { read } = await worked();
  const all = await read({ after: 0 });
  const seqs: number[] = [];
  for (let before = all.length + 1; before > 1; ) {
    const page = await read({ last: 3, before });
    seqs.unshift(...page.map(({ seq }) => seq));
    before = page[0]?.seq ?? 0;
  }
  expect(seqs).toEqual(all.map(({ seq }) => seq));
});

test('a kind and a cast narrow a page; long texts stay where they are', async () => {
  const { read, id } = await worked();
  const kinds = await read({ last: 50, kind: 'turn.' });
  expect(kinds.map(({ fact }) => fact.kind.startsWith('turn.'))).toEqual(kinds.map(() => true));
  expect(kinds.length).toBeGreaterThan(0);
  expect(await read({ last: 2, cast: id, before: 9_999 })).toHaveLength(2);
  expect(await read({ last: 2, before: 9_999 })).toEqual((await read({ after: 0 })).slice(-2));
  const [said] = (await read({ last: 50, kind: 'turn.accepted', short: true })).map(({ fact }) => fact.output);
  expect(said).toMatchObject({ digest: expect.any(String), preview: expect.stringMatching(/^x{100}/) });
});

test('a bundle without a file to write is the answer itself, and verifies', async () => {
  const { open, id } = await worked();
  const { allow, details } = await open.export({ cast: id });
  expect([allow, typeof details.bundle, String(details.bundle).length > LONG.length]).toEqual([true, 'string', true]);
});
