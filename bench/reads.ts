// How fast a payload is read in full, valid or not, beside plain shape validators on the same bytes; and whether hostile
// text is answered in time that grows with its length alone.
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { exampleReport } from '../src/dialects/gaia/brief.ts';
import { readReport } from '../src/dialects/gaia/read.ts';
import { handoffSchema } from '../src/dialects/materia/contract.ts';
import { readMateria } from '../src/dialects/materia/read.ts';
import { EXAMPLE_RESULT } from '../src/dialects/operator/brief.ts';
import { validateOperator } from '../src/dialects/operator/read.ts';
import type { Contract } from '../src/kernel/dialect.ts';
import { EXAMPLE } from '../src/trust/dialect.ts';
import { ref } from '../src/trust/fixtures/world.ts';
import { loadRegistryFolder, registryLoader } from '../src/trust/registry-folder.ts';
import { validateGoverned } from '../src/trust/validate.ts';
import type { Row } from './row.ts';

const REGISTRY = fileURLToPath(new URL('../src/trust/fixtures/registry', import.meta.url));
const BYTES = 1300;
const TARGET = 50_000;
const generator: Contract = {
  dialect: 'materia',
  generator: true,
  utility: false,
  requires: ['workItems'],
  assign: {},
  schema: null,
};

const items = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    title: `Item ${index}`,
    context: 'Say what has to change, where, and how to see that it is done.',
  }));
const valid = JSON.stringify({ workItems: items(12), context: 'Twelve items.' });
const invalid = JSON.stringify({ workItems: items(12).map((item) => ({ ...item, id: 1 })), satisfied: 'yes' });

const padded = (value: object, field: string) => {
  const bare = JSON.stringify({ ...value, [field]: '' });
  return JSON.stringify({ ...value, [field]: 'x'.repeat(Math.max(0, BYTES - bare.length)) });
};
const gaiaReport = (complete: boolean) => {
  const report = exampleReport({}) as Record<string, unknown>;
  if (!complete) delete report.evidence_report;
  return `Done.\n\`\`\`agent_contract_handoff\n${padded(report, 'user_facing_summary')}\n\`\`\`\n`;
};
const operatorResult = (complete: boolean) =>
  padded(complete ? EXAMPLE_RESULT : { ...EXAMPLE_RESULT, status: 'finished' }, 'x_note');

export function readRates(): Row[] {
  const loader = registryLoader(REGISTRY);
  const governed = (text: string) => validateGoverned(text, { now: EXAMPLE.timestamp }, loader);
  const known = loadRegistryFolder(REGISTRY);
  // The example of the brief has placeholders for hashes; these are the registry's own.
  const [source, target] = [EXAMPLE.source_agent, EXAMPLE.target_agent].map(({ agent_id }) => ref(agent_id, known));
  const { request, state } = EXAMPLE.context;
  const roomy = (note: string) =>
    JSON.stringify({
      ...EXAMPLE,
      source_agent: source,
      target_agent: target,
      context: { request, state: { ...state, accumulated_context: { ...state.accumulated_context, note } } },
    });
  const prose = 'The interviews were held in March, twelve of them, and each was read by two people. ';
  const envelope = roomy(prose.repeat(20).slice(0, BYTES - roomy('').length));
  const first = governed(envelope);
  if (!first.allow) throw new Error(`the envelope of the benchmark is refused: ${first.code}`);
  return [
    rate('materia, valid', valid, (text) => readMateria(text, generator)),
    rate('materia, invalid', invalid, (text) => readMateria(text, generator)),
    rate('materia, cut short', valid.slice(0, -10), (text) => readMateria(text, generator)),
    rate('gaia, valid', gaiaReport(true), (text) => readReport(text)),
    rate('gaia, invalid', gaiaReport(false), (text) => readReport(text)),
    rate('operator result, valid', operatorResult(true), (text) => validateOperator('operator/result', text)),
    rate('operator result, invalid', operatorResult(false), (text) => validateOperator('operator/result', text)),
    rate('operator result, cut short', operatorResult(true).slice(0, -10), (text) =>
      validateOperator('operator/result', text),
    ),
    rate('governed handoff, accepted', envelope, governed),
    rate(
      'governed handoff, refused',
      envelope.replace('"protocol_version":"1.0.0"', '"protocol_version":"9.0.0"'),
      governed,
    ),
    rate('governed handoff, cut short', envelope.slice(0, -10), governed),
    ...yardsticks(),
  ];
}

/** JSON.parse and a shape check, without extraction, duplicate keys, hints or a verdict. */
function yardsticks(): Row[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true }).compile(handoffSchema);
  const item = z.strictObject({ title: z.string().min(1), context: z.string().min(1) });
  const zod = z.strictObject({
    workItems: z.array(item),
    satisfied: z.boolean().optional(),
    context: z.string().optional(),
  });
  const plain = (row: Row): Row => ({ what: row.what, value: row.value });
  return [
    plain(rate('JSON.parse + ajv, valid', valid, (text) => ajv(JSON.parse(text)))),
    plain(rate('JSON.parse + ajv, invalid', invalid, (text) => ajv(JSON.parse(text)))),
    plain(rate('JSON.parse + zod, valid', valid, (text) => zod.safeParse(JSON.parse(text)))),
    plain(rate('JSON.parse + zod, invalid', invalid, (text) => zod.safeParse(JSON.parse(text)))),
  ];
}

/**
 * By the time the processor spent on it, all threads together, in the best of several rounds: whatever else runs on the
 * machine can only make a read dearer.
 */
function rate(what: string, text: string, read: (text: string) => unknown): Row {
  const once = (count: number) => {
    const began = process.cpuUsage();
    for (let index = 0; index < count; index++) read(text);
    const { user, system } = process.cpuUsage(began);
    return (count * 1_000_000) / (user + system);
  };
  once(20_000);
  const value = Math.max(...Array.from({ length: 9 }, () => once(5_000)));
  return {
    what: `${what} (${text.length} B)`,
    value: `${Math.round(value).toLocaleString('en')}/s`,
    target: '≥ 50,000/s',
    met: value >= TARGET,
  };
}

const HOSTILE: readonly (readonly [string, (bytes: number) => string])[] = [
  ['unclosed braces', (bytes) => '{'.repeat(bytes)],
  ['nested fences', (bytes) => '```json\n{"a":\n'.repeat(bytes / 14)],
  ['backticks', (bytes) => '`'.repeat(bytes)],
  ['deep nesting', (bytes) => `${'[{"a":'.repeat(bytes / 12)}1${'}]'.repeat(bytes / 12)}`],
  ['quotes and escapes', (bytes) => '{"\\"'.repeat(bytes / 4)],
  ['many small objects', (bytes) => '{"a":1} '.repeat(bytes / 8)],
];

/** Time for a text of 1 MB over that for a quarter of it: 4 is linear, 16 quadratic. Under a millisecond nothing can be said. */
export function hostileTexts(): Row[] {
  const loader = registryLoader(REGISTRY);
  const readers: readonly (readonly [string, (text: string) => unknown])[] = [
    ['materia', (text) => readMateria(text, generator)],
    ['gaia', (text) => readReport(text)],
    ['operator', (text) => validateOperator('operator/result', text)],
    ['governed', (text) => validateGoverned(text, { now: EXAMPLE.timestamp }, loader)],
  ];
  return readers.flatMap(([reader, read]) =>
    HOSTILE.map(([name, make]): Row => {
      const small = timed(read, make(250_000));
      const large = timed(read, make(1_000_000));
      const grows = large / Math.max(small, 1);
      return {
        what: `${reader}: 1 MB of ${name}`,
        value: `${large.toFixed(1)} ms, ${grows.toFixed(1)}× a quarter of it`,
        target: '≤ 8×',
        met: grows <= 8,
      };
    }),
  );
}

function timed(read: (text: string) => unknown, text: string): number {
  const times = Array.from({ length: 7 }, () => {
    const began = performance.now();
    read(text);
    return performance.now() - began;
  });
  return Math.min(...times);
}
