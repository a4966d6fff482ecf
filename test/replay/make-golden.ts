// Writes an old log of the future: the lines of real casts as the program of today chains them, with the texts they refer
// to, and what they come to. Later programs must read it for ever (`golden.test.ts`).
//
// `node test/replay/make-golden.ts 3 && npm run format` makes the log of that number. One that was part of a release is
// never made anew. When a kind of fact is added or gets another form: extend the story (`story/`), make the next number,
// name its kinds in `golden.test.ts`, and keep the older logs as they are.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Blob, dehydrate } from '../../src/log/line.ts';
import { outcomeOf } from './outcome.ts';
import { tellOfAgents } from './story/agents.ts';
import { tellOfApprovals } from './story/approvals.ts';
import { tellOfClocks } from './story/clocks.ts';
import { tellOfDriver } from './story/driver.ts';
import { tellOfErasure } from './story/erasure.ts';
import { tellOfGraph } from './story/graph.ts';
import { tellOfLedger } from './story/ledger.ts';
import { tellOfQueue } from './story/queue.ts';
import { tellOfReports } from './story/reports.ts';
import { Stage } from './story/stage.ts';
import { tellOfTrust } from './story/trust.ts';
import { tellOfEvents, tellOfWaits } from './story/waits.ts';

const stage = await Stage.open();
await tellOfGraph(stage);
await tellOfLedger(stage);
await tellOfAgents(stage);
await tellOfReports(stage);
await tellOfApprovals(stage);
await tellOfDriver(stage);
await tellOfQueue(stage);
await tellOfWaits(stage);
await tellOfEvents(stage);
// From the first registry on every agent is looked at, so trust comes after those who need none.
await tellOfTrust(stage);
await tellOfErasure(stage);
await tellOfClocks(stage);

const { log } = stage;
const entries = await stage.entries();
const lines = await log.lines(0, entries.length);
const head = await log.head();
const note =
  'The lines of a log as they were chained, with the texts they refer to. Never edited and never made anew once released; make-golden.ts says how to add the next one.';
const records = entries.map(({ seq, fact }) => {
  const blobs: Blob[] = [];
  dehydrate(fact as unknown as JsonObject, blobs);
  return { line: lines[seq - 1]?.line, texts: Object.fromEntries(blobs.map(({ digest, text }) => [digest, text])) };
});
const number = process.argv[2];
if (number === undefined) throw new Error('say which log is made: node test/replay/make-golden.ts NUMBER');
const path = (end: string) => fileURLToPath(new URL(`./golden-${number}${end}`, import.meta.url));
writeFileSync(path('.jsonl'), `${[{ note }, ...records].map((record) => JSON.stringify(record)).join('\n')}\n`);
writeFileSync(path('.out.json'), `${JSON.stringify({ head, ...outcomeOf(entries) }, null, 2)}\n`);
