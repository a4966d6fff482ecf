// `npm run soak`: the long counts of what the tests do briefly. `npm run soak -- kill` runs one group.
// It prints what it did, with seeds, as docs/soak.md records it.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { disturbedRun, type Quiet, quietRun } from '../crash/kill.ts';
import { jumpClocks, jumpLeases, jumpWaits, renameHosts, type Soaked, splitNamespaces } from './drivers.ts';
import { killedQueue } from './quests.ts';
import { race as raceFor } from './race.ts';
import { deletedLogs, readOnlyCopies } from './storage.ts';

const KILLS = Number(process.env.KILL_SEEDS ?? 200);
const FUZZ = process.env.FUZZ_RUNS ?? '100000';
const RANDOM_RUNS = process.env.RANDOM_RUNS ?? '2000';
const RACE_ROUNDS = Number(process.env.RACE_ROUNDS ?? 10_000);
const COPIES = Number(process.env.STORAGE_ROUNDS ?? 20);
const DRIVER_ROUNDS = Number(process.env.DRIVER_ROUNDS ?? 20);
const AT_ONCE = 2;
const QUESTS = Number(process.env.QUESTS ?? 50);
const [only] = process.argv.slice(2);

const GROUPS: Record<string, () => Promise<boolean>> = {
  kill,
  race,
  renames,
  namespaces,
  clocks,
  storage,
  quests,
  fuzz,
  random,
};

let good = true;
for (const [name, run] of Object.entries(GROUPS)) {
  if (only !== undefined && only !== name) continue;
  const began = performance.now();
  const passed = await run();
  good &&= passed;
  console.log(`${name}: ${passed ? 'passed' : 'FAILED'} in ${((performance.now() - began) / 1000).toFixed(0)} s`);
}
process.exitCode = good ? 0 : 1;

async function kill(): Promise<boolean> {
  const quiet = await quietRun();
  const seeds = Array.from({ length: KILLS }, (_, index) => index + 1);
  const failed: number[] = [];
  let kills = 0;
  const work = async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const result = await oneSeed(seed, quiet);
      kills += result.kills;
      if (!result.same) failed.push(seed);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  console.log(
    `${KILLS} casts disturbed by ${kills} SIGKILLs, each resumed; different from the quiet run: ${failed.length}`,
  );
  if (failed.length > 0) console.log(`seeds: ${failed.join(', ')}`);
  return failed.length === 0;
}

async function race(): Promise<boolean> {
  const { rounds, zombies, lateRefused, faults } = await raceFor(RACE_ROUNDS);
  console.log(
    `${rounds} rounds of 8 processes for overlapping paths, one winner each; ${zombies} zombies, ${lateRefused} of their ${zombies * 3} late acts refused; faults: ${faults.length}`,
  );
  for (const fault of faults) console.log(fault);
  return faults.length === 0 && lateRefused === zombies * 3;
}

async function storage(): Promise<boolean> {
  const copies = readOnlyCopies(COPIES);
  console.log(
    `${COPIES} copies on a read-only medium, six looks at each; different from the original: ${copies.length}`,
  );
  const { noticed, late, faults } = await deletedLogs(COPIES, Date.now() % 1_000_000);
  console.log(
    `${COPIES} logs deleted under a cast: ${noticed} noticed, ${late} after its end; faults: ${faults.length}`,
  );
  for (const fault of [...copies, ...faults]) console.log(fault);
  return copies.length + faults.length === 0 && noticed + late === COPIES;
}

async function renames(): Promise<boolean> {
  return report('casts killed and resumed after the host got another name', await renameHosts(DRIVER_ROUNDS));
}

async function quests(): Promise<boolean> {
  const seed = Date.now() % 100_000;
  return report(
    'a queue driven while its drivers are killed',
    await killedQueue({ quests: QUESTS, kills: QUESTS, seed }),
  );
}

async function namespaces(): Promise<boolean> {
  const rounds = await splitNamespaces(DRIVER_ROUNDS, { patientEvery: 5 });
  return report('casts killed, then wanted by four drivers in process namespaces of their own', rounds);
}

async function clocks(): Promise<boolean> {
  const passed = [
    report('casts while the clock is set forward and back by up to a day', await jumpClocks(DRIVER_ROUNDS)),
    report('turns that wait, and claims with heartbeats, under such a clock', await jumpWaits(DRIVER_ROUNDS)),
    report('leases under such a clock', await jumpLeases(DRIVER_ROUNDS, { patientEvery: 4 })),
  ];
  return !passed.includes(false);
}

function report(what: string, { rounds, faults, said }: Soaked): boolean {
  console.log(`${rounds} ${what}; ${said}; faults: ${faults.length}`);
  for (const fault of faults) console.log(fault);
  return faults.length === 0;
}

async function oneSeed(seed: number, quiet: Quiet): Promise<{ same: boolean; kills: number }> {
  try {
    const { outcome, kills, facts } = await disturbedRun(seed, quiet);
    const accepted = facts.filter(({ kind }) => kind === 'turn.accepted').length;
    return { same: isDeepStrictEqual(outcome, quiet.outcome) && accepted === quiet.outcome.accepted, kills };
  } catch (error) {
    console.log(`seed ${seed}: ${(error as Error).message}`);
    return { same: false, kills: 0 };
  }
}

async function fuzz(): Promise<boolean> {
  const passed = randomCases(FUZZ, ['src/dialects', 'src/kernel/graph']);
  console.log(`${FUZZ} runs for each fuzzed reader`);
  return passed;
}

/** Every random test, with new cases and four times as many as `npm test` draws. */
async function random(): Promise<boolean> {
  const files = globSync('{src,test}/**/*.test.ts').filter((file) => readFileSync(file, 'utf8').includes('FUZZ_RUNS'));
  const passed = randomCases(RANDOM_RUNS, files);
  console.log(`${RANDOM_RUNS} runs for each random test of ${files.length} files`);
  return passed;
}

function randomCases(runs: string, files: readonly string[]): boolean {
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...files, '--testTimeout=1800000'];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, FUZZ_RUNS: runs } });
  return status === 0;
}
