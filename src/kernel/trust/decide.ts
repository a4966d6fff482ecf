// The one place where a request about trust becomes facts and a verdict.
import type { Pen } from '../cast/pen.ts';
import type { Input } from '../input.ts';
import { allow, type Verdict } from '../verdict.ts';
import { judge } from './judge.ts';
import { release } from './quarantine.ts';
import type { TrustRequest } from './request.ts';
import type { LoadedRegistry } from './state.ts';

export function decideTrust(pen: Pen, input: Extract<Input, { kind: TrustRequest['kind'] }>): Verdict {
  switch (input.kind) {
    case 'registry.load':
      load(pen, input.registry, input.reason);
      return allow(`the registry ${input.registry.digest.slice(0, 12)} is in force`);
    case 'quarantine.release':
      return release(pen, input);
    case 'handoff.judge':
      return judge(pen, input);
  }
}

/** Notes a registry where it is another one than before. */
export function load({ state, write }: Pen, registry: LoadedRegistry, reason?: string): void {
  const known = state.trust.registry;
  if (known?.digest === registry.digest && known.lock === registry.lock) return;
  write({ kind: 'registry.loaded', registry, ...(reason === undefined ? {} : { reason }) });
}
