import { expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { CLEAN, envelope, ID, NOW, put } from './fixtures/world.ts';
import { validateGoverned } from './validate.ts';

const load = () => CLEAN;

test.each<[string, unknown]>([
  ['a text', 'options'],
  ['a list', []],
  ['no time', {}],
  ['nothing', undefined],
  ['a time that is a number', { now: 5 }],
  ['a time without an offset', { now: '2026-02-11T00:45:02' }],
  ['a registry that is no folder', { now: NOW, registry: 5 }],
  ['ids that are no list', { now: NOW, seen_handoff_ids: ID }],
  ['ids that are no texts', { now: NOW, seen_handoff_ids: [1] }],
  ['an age below zero', { now: NOW, max_age_s: -1 }],
  ['an age that is a text', { now: NOW, max_age_s: '300' }],
  ['a skew without bound', { now: NOW, max_skew_s: Number.POSITIVE_INFINITY }],
  ['a strictness that is a text', { now: NOW, strict: 'yes' }],
])('options with %s are wrong usage', (_name, options) => {
  expect(validateGoverned(envelope(), options, load)).toMatchObject({ allow: false, code: 'BAD_USAGE' });
});

test.each<[JsonObject, unknown, string]>([
  [{}, envelope(), 'OK'],
  [{}, JSON.stringify(envelope()), 'OK'],
  [{ registry: null }, envelope(), 'OK'],
  [{ seen_handoff_ids: [] }, envelope(), 'OK'],
  [{ seen_handoff_ids: [ID] }, envelope(), 'REPLAY'],
  [{ seen_handoff_ids: [ID.toUpperCase()] }, envelope(), 'REPLAY'],
  [{ max_age_s: 30 }, envelope(), 'OK'],
  [{ max_age_s: 29.999 }, envelope(), 'TIMESTAMP_STALE'],
  [{ now: '2026-02-11T00:44:02Z', max_skew_s: 60 }, envelope(), 'OK'],
  [{ now: '2026-02-11T00:44:02Z', max_skew_s: 59 }, envelope(), 'TIMESTAMP_FUTURE'],
  [{ now: '2026-02-11T00:50:02Z' }, envelope(), 'OK'],
  [{ now: '2026-02-11T00:50:02.001Z' }, envelope(), 'TIMESTAMP_STALE'],
  [{}, put(envelope(), '/extra', 1), 'OK'],
  [{ strict: true }, put(envelope(), '/extra', 1), 'SCHEMA_UNKNOWN_MEMBER'],
  [{}, [], 'SCHEMA_TYPE'],
  [{}, null, 'SCHEMA_TYPE'],
  [{}, '"x"', 'SCHEMA_TYPE'],
  [{}, 'x', 'PARSE'],
  [{}, '', 'PARSE'],
  [{}, undefined, 'PARSE'],
])('%j', (options, input, code) => {
  expect(validateGoverned(input, { now: NOW, ...options }, load).code).toBe(code);
});

test('the folder of a line reaches the loader; a loader that fails refuses', () => {
  const asked: (string | null)[] = [];
  const remember = (dir: string | null) => {
    asked.push(dir);
    return CLEAN;
  };
  validateGoverned(envelope(), { now: NOW, registry: 'other' }, remember);
  validateGoverned(envelope(), { now: NOW }, remember);
  expect(asked).toEqual(['other', null]);
  const verdict = validateGoverned(envelope(), { now: NOW }, () => {
    throw new Error('disk on fire');
  });
  expect(verdict).toMatchObject({ code: 'REGISTRY_UNUSABLE', details: { stage: 1 } });
});
