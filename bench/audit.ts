// What it costs to prove the history: verifying all of it, and signing it after a little was appended.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCheckpoint } from '../src/audit/make-checkpoint.ts';
import { verifyLog } from '../src/audit/verify-log.ts';
import { withEvidence } from '../src/log/sqlite/evidence.ts';
import { SqliteLog } from '../src/log/sqlite/log.ts';
import { makeLongLog } from './long-log.ts';
import type { Row } from './row.ts';

const TARGET = 100_000;

export async function auditTimes(facts: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-audit-'));
  const file = join(folder, 'state', 'log.sqlite');
  const place = { dir: folder, stateDir: join(folder, 'state') };
  const env = { BATON_CONFIG: join(folder, 'config'), BATON_CHECKPOINTS: join(folder, 'outside') };
  try {
    await makeLongLog(file, facts);
    const perSecond = await rateOf(facts, async () => {
      const verdict = await withEvidence(file, (evidence) => verifyLog(evidence, [], []));
      if (!verdict.allow) throw new Error(`the log of the benchmark does not verify: ${verdict.reason}`);
    });
    const sign = async () => {
      const log = new SqliteLog(file);
      return makeCheckpoint(place, log, env).finally(() => log.close());
    };
    const first = await timed(sign);
    await appendOne(file);
    const next = await timed(sign);
    return [
      {
        what: `verifying ${facts.toLocaleString('en')} facts`,
        value: `${Math.round(perSecond).toLocaleString('en')}/s`,
        target: '≥ 100,000/s',
        met: perSecond >= TARGET,
      },
      { what: 'the first checkpoint of them', value: `${first.toFixed(0)} ms` },
      { what: 'the next one, after one more fact', value: `${next.toFixed(1)} ms` },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** By the time the processor spent on it: whatever else runs on the machine can only make it dearer. */
async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (count * 1_000_000) / (user + system);
}

async function timed(work: () => Promise<{ readonly allow: boolean; readonly reason: string }>): Promise<number> {
  const began = performance.now();
  const { allow, reason } = await work();
  if (!allow) throw new Error(reason);
  return performance.now() - began;
}

async function appendOne(file: string): Promise<void> {
  const log = new SqliteLog(file);
  const { seq } = await log.head();
  await log.commit(seq, {
    decide: () => [{ fact: { kind: 'turn.dropped', cast: 'one-more', turn: 1 }, by: 'bench', at: seq }],
  });
  await log.close();
}
