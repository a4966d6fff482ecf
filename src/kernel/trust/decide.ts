// The one place where a request about trust becomes facts and a verdict.
import type { Input } from '../input.ts';
import type { Pen } from '../pen.ts';
import { scrub } from '../secrets.ts';
import { allow, type Verdict } from '../verdict.ts';
import { judge } from './judge.ts';
import { carryOver, release } from './quarantine.ts';
import type { TrustRequest } from './request.ts';
import type { LoadedRegistry, RegistryTexts } from './state.ts';

export function decideTrust(pen: Pen, input: Extract<Input, { kind: TrustRequest['kind'] }>): Verdict {
  switch (input.kind) {
    case 'registry.load':
      load(pen, input.registry, input.texts, input.reason);
      return allow(`the registry ${input.registry.digest.slice(0, 12)} is in force`);
    case 'quarantine.carry':
      return carryOver(pen, input.blocked);
    case 'quarantine.release':
      return release(pen, input);
    case 'handoff.judge':
      return judge(pen, input);
    case 'access.refuse':
      return turnedAway(pen, input);
  }
}

/** Notes a registry where it is another one than before. */
export function load({ state, write }: Pen, registry: LoadedRegistry, texts?: RegistryTexts, reason?: string): void {
  const known = state.trust.registry;
  if (known?.digest === registry.digest && known.lock === registry.lock) return;
  write({
    kind: 'registry.loaded',
    registry,
    ...(texts ? { texts } : {}),
    ...(reason === undefined ? {} : { reason }),
  });
}

/** A flood of refusals must not become one of the log: what was noted in this minute is not noted again. */
function turnedAway(pen: Pen, input: Extract<Input, { kind: 'access.refuse' }>): Verdict {
  const { who, verdict, minute, times, what, ended, used = {} } = input;
  if (Object.keys(used).length > 0) return allow('it is noted for this minute', { noted: false });
  const more = { ...(what === undefined ? {} : { what }), ...(ended === undefined ? {} : { ended }) };
  const reason = scrub(verdict.reason).text;
  pen.write({ kind: 'access.refused', who, code: verdict.code, reason, minute, times, ...more });
  return allow('it is noted', { noted: true });
}
