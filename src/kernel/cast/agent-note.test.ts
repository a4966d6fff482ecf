import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleanNote } from './budget.ts';
import type { AgentNote } from './state.ts';

const SECRET = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const session = (id: string) => ({ session: { runner: 'claude', id } });

test.each<[string, AgentNote | undefined, AgentNote | undefined]>([
  ['nothing', undefined, undefined],
  ['empty lists', { denials: [], warnings: [] }, undefined],
  ['a model', { runner: 'claude', model: 'm' }, { runner: 'claude', model: 'm' }],
  ['a missing price', { unpriced: true }, { unpriced: true }],
  ['a conversation', session('0b-c_d.e'), session('0b-c_d.e')],
  ['a conversation that would be an option', session('--resume'), undefined],
  ['a conversation that would be a path', session('../x'), undefined],
  ['a name twice', { denials: ['Bash', 'Bash'] }, { denials: ['Bash'] }],
  ['that no command was run', { commands: [] }, { commands: [] }],
  ['a command twice', { commands: ['ls', 'ls'] }, { commands: ['ls'] }],
])('%s is noted as it may be', (_what, note, kept) => {
  expect(cleanNote(note)).toEqual(kept);
});

test('a flood of names is cut, and a secret in a warning is not kept', () => {
  const note = cleanNote({
    denials: Array.from({ length: 1_000 }, (_, index) => `tool-${index}`),
    warnings: ['the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz was refused'],
    model: 'm'.repeat(10_000),
    commands: [
      `curl -H 'Authorization: Bearer ${SECRET}'`,
      ...Array.from({ length: 99 }, (_, index) => `${index}${'x'.repeat(999)}`),
    ],
  });
  expect(note?.commands).toHaveLength(50);
  expect(note?.commands?.[0]).not.toContain(SECRET);
  expect(note?.commands?.[1]).toHaveLength(300);
  expect(note?.denials).toHaveLength(50);
  expect(note?.warnings?.[0]).not.toContain('abcdefghijklmnop');
  expect(note?.model?.length).toBeLessThanOrEqual(300);
});

test('whatever a program says of itself, what is noted is small and is noted again as it is', () => {
  const text = fc.string({ maxLength: 300 });
  const any = fc.record(
    {
      runner: text,
      model: text,
      session: fc.record({ runner: text, id: text }),
      denials: fc.array(text, { maxLength: 8 }),
      warnings: fc.array(text, { maxLength: 8 }),
      commands: fc.array(text, { maxLength: 8 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(any, (note) => {
      const kept = cleanNote(note);
      if (kept === undefined) return;
      expect(JSON.stringify(kept).length).toBeLessThan(400_000);
      expect(Object.keys(cleanNote(kept) ?? {})).toEqual(Object.keys(kept));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
