// The reader of a program that prints one JSON event a line: each event adds to the report, and some are of interest
// while they happen.
import type { LiveEvent } from '../engine/ports.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Reader } from './agent-call.ts';
import { jsonLines } from './json-lines.ts';
import { type AgentReport, EMPTY_REPORT } from './report.ts';

export type Fold = (report: AgentReport, event: JsonObject) => AgentReport;
export type Live = (event: JsonObject) => readonly LiveEvent[];

export function eventReader(fold: Fold, live: Live): () => Reader {
  return () => {
    const lines = jsonLines();
    let heard = EMPTY_REPORT;
    return {
      push(chunk) {
        const events = lines.push(chunk);
        heard = events.reduce(fold, heard);
        const happened = events.flatMap(live);
        const retries = happened.filter(({ kind }) => kind === 'waiting').length;
        if (retries > 0) heard = { ...heard, retries: heard.retries + retries };
        return happened;
      },
      // The last line may lack its end.
      report: () => lines.rest().reduce(fold, heard),
    };
  };
}
