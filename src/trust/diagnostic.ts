// What loading a registry has to say about it. A fatal finding refuses every handoff, an agent's finding the handoffs
// that involve this agent, a warning none.
import type { GovernedCode } from '../kernel/codes/governed.ts';

export type Level = 'fatal' | 'agent' | 'warning';
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

export function warning(agent: string | null, code: GovernedCode, message: string): Diagnostic {
  return { level: 'warning', code, agent, message };
}
