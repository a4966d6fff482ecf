// How often the real programs ask a provider that does not get better: within the budget of their turn, and hardly again
// where asking cannot help.
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { modelServer } from '../../src/testing/index.ts';
import { assertInstalled, ground, IMPATIENT, PROGRAMS, packet, showsAll } from './contenders.ts';

beforeAll(assertInstalled);

const rows = PROGRAMS.filter(showsAll).flatMap((contender) => [
  [contender.name, 500, 'PROVIDER_ERROR', 5, contender] as const,
  [contender.name, 401, 'AUTH_REQUIRED', 2, contender] as const,
]);

test.each(rows)('%s, with a lasting %s (%s), asks at most %s times', async (_name, status, code, max, contender) => {
  const server = await modelServer({ answers: () => ({ status, message: 'it does not get better' }) });
  const at = ground();
  onTestFinished(async () => {
    await server.close();
    at.remove();
  });
  const runner = contender.runner(server.url, at, { retry: IMPATIENT });
  const given = packet(contender, { timeoutMs: 120_000 });
  expect(await runner.run(given, at.place(), new AbortController().signal)).toMatchObject({ kind: 'fault', code });
  expect(server.requests.length).toBeLessThanOrEqual(max);
});
