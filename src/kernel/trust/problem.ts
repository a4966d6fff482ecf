// One fault of an envelope: its code, its place (a JSON Pointer, RFC 6901), and a sentence. A sentence never contains a
// locked hash, a file path or prompt text, because the sender may be a stranger.
import type { GovernedCode } from '../codes/governed.ts';

export type Problem = { readonly code: GovernedCode; readonly pointer: string; readonly message: string };

export const PROBLEMS_MAX = 50;
const QUOTE_MAX = 80;

export function pointer(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A stranger's word inside one of our sentences: one line, bounded, and visibly quoted. */
export function quote(text: string): string {
  const shown = text.length > QUOTE_MAX ? `${text.slice(0, QUOTE_MAX).toWellFormed()}…` : text;
  return JSON.stringify(shown.toWellFormed());
}

/** A fatal finding refuses every handoff, an agent's finding the handoffs of that agent, a warning none. */
type Level = 'fatal' | 'agent' | 'warning';
export type Diagnostic = {
  readonly level: Level;
  readonly code: GovernedCode;
  readonly agent: string | null;
  readonly message: string;
};

export function fatal(code: GovernedCode, message: string): Diagnostic {
  return { level: 'fatal', code, agent: null, message };
}

export function faulty(agent: string, code: GovernedCode, message: string): Diagnostic {
  return { level: 'agent', code, agent, message };
}

export function remark(agent: string | null, code: GovernedCode, message: string): Diagnostic {
  return { level: 'warning', code, agent, message };
}
