import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Contract } from '../../kernel/dialect.ts';
import { materia } from '../index.ts';
import { handoffSchema } from './contract.ts';

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 500) };
const timeout = 10_000 + 3 * runs.numRuns;

const contract: Contract = {
  dialect: 'materia',
  generator: false,
  utility: false,
  requires: [],
  assign: {},
  schema: null,
};
const validate = new Ajv2020({ strict: true }).compile(handoffSchema);

test(
  'the schema and the reader agree on what a handoff is',
  () => {
    const text = fc.constantFrom('', ' ', 'x', '\u00a0', '\ufeff', 'a b');
    const oddly = <T>(value: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue() });
    const item = fc.record({ title: oddly(text), context: oddly(text), id: text }, { requiredKeys: [] });
    const event = fc.record(
      {
        type: oddly(text),
        severity: oddly(fc.constantFrom('debug', 'info', 'warning', 'error', 'critical', 'fatal')),
        message: oddly(text),
        payload: oddly(fc.constant({ a: 1 })),
        source: oddly(fc.record({ materia: oddly(text), socketId: oddly(text) }, { requiredKeys: [] })),
        other: text,
      },
      { requiredKeys: [] },
    );
    const payload = fc.record(
      {
        workItems: oddly(fc.array(oddly(item), { maxLength: 2 })),
        satisfied: oddly(fc.boolean()),
        context: oddly(text),
        event: oddly(fc.array(oddly(event), { maxLength: 2 })),
        other: text,
      },
      { requiredKeys: [] },
    );
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(payload, (given) => {
        const raw = JSON.stringify(given);
        const { ok } = materia.read(raw, contract);
        seen.add(ok);
        // A key that poisons prototypes is refused before any schema is asked.
        if (!raw.includes('__proto__')) expect(ok, raw).toBe(validate(JSON.parse(raw)));
      }),
      runs,
    );
    expect(seen.size).toBe(2);
  },
  timeout,
);
