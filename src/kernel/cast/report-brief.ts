// What an agent that reports with a status is told beside its prompt: the INPUT envelope, what others reported on the same
// goal, and what was said in its own turn so far.

import { mayFollow, type Progress } from '../report/status.ts';
import type { Cast, ReportNote, Turn } from '../state.ts';
import { asData } from '../trust/as-data.ts';
import { cut } from './cut.ts';
import { renderExchange } from './exchange.ts';

const OTHERS_CHARS_MAX = 4_000;

export function inputText({ input }: Pick<Turn, 'input'>): string {
  return input === null ? '' : asData(JSON.stringify(input));
}

/** What other agents found out, each in its own words. */
export function othersReported({ reports }: Pick<Cast, 'reports'>, agentId: string): string {
  const lines = reports.filter((note) => note.agentId !== agentId).map(lineOf);
  return lines.length === 0 ? '' : asData(cut(lines.join('\n'), OTHERS_CHARS_MAX));
}

function lineOf(note: ReportNote): string {
  const { agent, status, ownership, confirmed, conflicts, openGaps, keyOutputs } = note;
  const parts = [
    ...(ownership === null ? [] : [`ownership ${ownership}`]),
    ...told('found', confirmed.length > 0 ? confirmed : keyOutputs),
    ...told('conflicts', conflicts),
    ...told('open', openGaps),
  ];
  return `- ${agent}, ${status}${parts.length > 0 ? `: ${parts.join('. ')}` : ''}`;
}

function told(what: string, list: readonly string[]): readonly string[] {
  return list.length === 0 ? [] : [`${what}: ${list.join('; ')}`];
}

/** The turn so far. An agent that remembers the conversation is told only what is new in it. */
export function soFar({ exchange, progress }: Pick<Turn, 'exchange' | 'progress'>, remembers: boolean): string {
  const said = renderExchange(exchange, remembers);
  const parts = [...(said === '' ? [] : [asData(said)]), ...sentOn(progress)];
  if (parts.length > 0) return parts.join('\n');
  return remembers && exchange.length > 0 ? 'Go on with your work.' : '';
}

/** An agent that waited for a person and was told nothing stands where it stood: what it has to say first is said to it. */
function sentOn({ status }: Progress): readonly string[] {
  if (status !== 'NEEDS_INPUT' && status !== 'APPROVAL_REQUEST') return [];
  const what =
    status === 'NEEDS_INPUT'
      ? 'A person sends you on without an answer: decide yourself.'
      : 'A person sends you on without the permission you asked for: do not run it, find another way.';
  const next = mayFollow({ status }).join(' or ');
  return [
    `${what} Your last status was ${status}, and what may follow it is ${next}: go on with the work and report that. You are asked again right after it, and then any status may follow.`,
  ];
}
