import { expect, test } from 'vitest';
import { newPen } from '../pen.ts';
import { emptyState, type State } from '../state.ts';
import { deny } from '../verdict.ts';
import { decideTrust } from './decide.ts';
import { block } from './quarantine.ts';
import type { LoadedRegistry } from './state.ts';

const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);
const registry = (version: string, hash: string, digest = hash.slice(0, 4)): LoadedRegistry => ({
  digest,
  lock: digest,
  version: '1.0.0',
  agents: { build: { version, hash } },
});

type Release = Extract<Parameters<typeof decideTrust>[1], { kind: 'quarantine.release' }>;
const wish = (change: Partial<Release> = {}): Release => ({
  kind: 'quarantine.release',
  at: 1,
  by: 'user:ann',
  id: 'build',
  reason: 'looked at it',
  isAgent: false,
  registry: registry('1.0.0', OLD),
  faults: {},
  ...change,
});

/** A workspace in which the prompt of `build` was found to be changed. */
function blocked(blocks: Parameters<typeof block>[1]['blocks'] = { agent: 'build', hash: null, context: null }): State {
  const state = emptyState();
  const pen = newPen(state, 0, {} as never);
  decideTrust(pen, { kind: 'registry.load', at: 0, by: 'user:ann', registry: registry('1.0.0', OLD) });
  const verdict = deny('PROMPT_BYTES_MISMATCH', 'build: its prompt is not the one that was locked');
  block(pen, { stage: 11, verdict, blocks }, { cast: 'c', turn: 1 });
  return state;
}

const say = (state: State, input: Release) => {
  const pen = newPen(state, 1, {} as never);
  return { verdict: decideTrust(pen, input), facts: pen.facts };
};

test.each<[string, Partial<Release>, string]>([
  ['an agent asks', { isAgent: true }, 'APPROVER_IS_AGENT'],
  ['an agent asks for what is not blocked', { isAgent: true, id: 'eval' }, 'APPROVER_IS_AGENT'],
  ['nothing blocks it', { id: 'eval' }, 'NOT_ALLOWED_NOW'],
  ['a name every object has', { id: 'constructor' }, 'NOT_ALLOWED_NOW'],
  ['the registry cannot be used', { registry: null }, 'REGISTRY_UNUSABLE'],
  [
    'the bytes still differ',
    { faults: { build: 'its prompt is not the one that was locked' } },
    'PROMPT_BYTES_MISMATCH',
  ],
  ['a new prompt under the old version', { registry: registry('1.0.0', NEW) }, 'VERSION_MISMATCH'],
  ['a new prompt under a lower version', { registry: registry('0.9.0', NEW) }, 'VERSION_MISMATCH'],
  ['said to be a change, and nothing was raised', { outcome: 'legitimate_change' }, 'VERSION_MISMATCH'],
  ['somebody else is at fault', { faults: { eval: 'gone' } }, 'OK'],
  ['the file was restored', {}, 'OK'],
  ['a new prompt under a higher version', { registry: registry('1.0.1', NEW) }, 'OK'],
])('%s: %s', (_, change, code) => {
  const state = blocked();
  const { verdict, facts } = say(state, wish(change));
  expect(verdict.code).toBe(code);
  expect(Object.keys(state.trust.quarantine)).toEqual(verdict.allow ? [] : ['build']);
  expect(facts).toHaveLength(verdict.allow ? 1 : 0);
});

test.each<[string, Partial<Release>, string]>([
  ['restored', {}, 'checkout_artifact'],
  ['changed on purpose', { registry: registry('2.0.0', NEW) }, 'legitimate_change'],
  ['what the person says', { outcome: 'tampering' }, 'tampering'],
])('the log keeps what came of it, with both pins: %s', (_, change, outcome) => {
  const { facts } = say(blocked(), wish(change));
  expect(facts).toMatchObject([
    { kind: 'quarantine.released', outcome, before: { hash: OLD }, reason: 'looked at it' },
  ]);
});

test.each<[string, readonly [string, string], readonly [string, string], string]>([
  ['the lock was changed under the same version, and put back', ['1.0.0', NEW], ['1.0.0', OLD], 'OK'],
  ['the lock was changed under a higher version, and put back', ['1.1.0', NEW], ['1.0.0', OLD], 'OK'],
  ['the changed lock stays, and the prompt was made to fit it', ['1.0.0', NEW], ['1.0.0', NEW], 'VERSION_MISMATCH'],
])('%s', (_, changed, now, code) => {
  const state = emptyState();
  const pen = newPen(state, 0, {} as never);
  for (const loaded of [registry('1.0.0', OLD), registry(...changed)])
    decideTrust(pen, { kind: 'registry.load', at: 0, by: 'user:ann', registry: loaded });
  const blocks = { agent: 'build', hash: null, context: null };
  block(pen, { stage: 11, verdict: deny('PROMPT_BYTES_MISMATCH', 'x'), blocks }, {});
  const { verdict, facts } = say(state, wish({ registry: registry(...now) }));
  expect(verdict.code).toBe(code);
  expect(facts).toMatchObject(code === 'OK' ? [{ outcome: 'checkout_artifact' }] : []);
});

test('the same event again is counted and opens nothing new', () => {
  const state = blocked();
  const pen = newPen(state, 5, {} as never);
  const verdict = deny('PROMPT_BYTES_MISMATCH', 'again');
  for (let time = 0; time < 3; time++)
    block(pen, { stage: 11, verdict, blocks: { agent: 'build', hash: null, context: null } }, {});
  expect(Object.values(state.trust.quarantine)).toMatchObject([{ key: 'build', times: 4, since: 0 }]);
});

test('an agent’s name releases everything that blocks it; a key only itself', () => {
  const pair = { agent: 'build', hash: NEW, context: null };
  const state = blocked(pair);
  const pen = newPen(state, 1, {} as never);
  block(pen, { stage: 11, verdict: deny('PROMPT_BYTES_MISMATCH', 'x'), blocks: { ...pair, hash: null } }, {});
  expect(Object.keys(state.trust.quarantine)).toEqual([`build@${NEW}`, 'build']);
  expect(say(state, wish({ id: `build@${NEW}` })).verdict.details.released).toEqual([`build@${NEW}`]);
  expect(say(state, wish()).verdict.details.released).toEqual(['build']);
});

test('a context that a person released stays released', () => {
  const state = blocked({ agent: null, hash: null, context: 'c0ffee' });
  expect(say(state, wish({ id: 'context:c0ffee', registry: null })).verdict.code).toBe('OK');
  expect(state.trust.cleared).toEqual({ c0ffee: true });
});

test('a registry is noted when it is another one', () => {
  const state = emptyState();
  const pen = newPen(state, 0, {} as never);
  for (const hash of [OLD, OLD, NEW])
    decideTrust(pen, { kind: 'registry.load', at: 0, by: 'x', registry: registry('1.0.0', hash) });
  expect(pen.facts.map(({ kind }) => kind)).toEqual(['registry.loaded', 'registry.loaded']);
});
