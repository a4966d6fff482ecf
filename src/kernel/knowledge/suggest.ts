// What agents suggest to remember is collected for a person. Nothing here can break a report: what cannot be used is left
// out and said so, and what was suggested before is not suggested again.
import type { Pen } from '../cast/pen.ts';
import type { JsonObject } from '../json.ts';
import { type Knowledge, type Note, OPEN_MAX } from './state.ts';
import { memorializeSuggestions, memorySuggestions, notesNotListed } from './suggestion.ts';
import { textKey } from './text-key.ts';
import type { Writer } from './write.ts';

const PER_REPORT_MAX = 20;
const NOTE_CHARS_MAX = 8_192;
const WARNINGS_MAX = 100;

export type Kept = { readonly kept: number; readonly warnings: string[] };

/** Takes down the suggestions of a report that was accepted. */
export function suggestMemory(
  pen: Pen,
  report: JsonObject,
  who: Pick<Writer, 'agent' | 'agentId' | 'cast' | 'turn'>,
): Kept {
  const { agent, agentId, cast, turn } = who;
  const { knowledge } = pen.state;
  const memorials = memorializeSuggestions(report);
  const warnings = [...memorials.findings, ...notesNotListed(report)].map(({ code }) => code);
  const known = keysKnown(knowledge);
  let kept = 0;
  for (const { note, path } of notesOf(report, memorials.suggestions)) {
    const key = textKey(`${note.description ?? ''}\n${note.body}`);
    const fault = faultOf(note, kept, knowledge);
    if (fault) warnings.push(`${path}: ${fault}`);
    else if (known.has(key)) warnings.push(`${path}: known already, skipped`);
    else {
      known.add(key);
      kept += 1;
      const id = `m${knowledge.suggested + 1}`;
      pen.write({ kind: 'memory.suggested', id, key, note, cast, turn, agent, agentId });
    }
  }
  return { kept, warnings: warnings.slice(0, WARNINGS_MAX) };
}

type Placed = { readonly note: Note; readonly path: string };

/** Structured suggestions first: where both say the same, they say more. */
function notesOf(report: JsonObject, memorials: readonly Note[]): readonly Placed[] {
  return [
    ...memorials.map((note) => ({ note, path: 'memorialize_suggestions' })),
    ...memorySuggestions(report).map((body) => ({ note: { description: null, body }, path: 'memory_suggestions' })),
  ];
}

function faultOf(note: Note, kept: number, { open }: Knowledge): string | null {
  if (note.body.trim() === '') return 'blank, skipped';
  const chars = Object.values(note).reduce((sum: number, text) => sum + (text?.length ?? 0), 0);
  if (chars > NOTE_CHARS_MAX) return `longer than ${NOTE_CHARS_MAX} characters, skipped`;
  if (kept === PER_REPORT_MAX) return `more than ${PER_REPORT_MAX} in one report, skipped`;
  // The oldest are not pushed out: whoever floods the list must not make a person miss what waits there.
  return Object.keys(open).length >= OPEN_MAX ? `${OPEN_MAX} wait for a person already, skipped` : null;
}

function keysKnown({ open, memory, dropped }: Knowledge): Set<string> {
  return new Set([
    ...Object.values(open).map(({ key }) => key),
    ...Object.values(memory).map(({ key }) => key),
    ...dropped,
  ]);
}
