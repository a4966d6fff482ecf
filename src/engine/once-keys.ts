// Ids that may be used once in the whole log, while a batch is decided: the log knows those of earlier commits, and this
// remembers those of the inputs before, which are not in the log yet.
import { approvalKeysUsedBy, approvalKeysWanted, endKeysOf, isOfEnd } from '../kernel/approval/once.ts';
import type { Approvals } from '../kernel/approval/state.ts';
import type { Input, Request } from '../kernel/input.ts';
import { keysUsedBy, keysWanted } from '../kernel/trust/once.ts';
import type { Append, FoundRows } from './ports.ts';

/** The keys that deciding these requests may look up. An open approval may end as a consequence of any of them. */
export function onceKeysFor(requests: readonly Request[], approvals: Approvals): readonly string[] {
  const asked = requests.flatMap((request) => (request.kind === 'approval.request' ? [request.sealed.id] : []));
  const named = requests.flatMap((request) => keysNamedBy(request, approvals));
  return [...named, ...[...Object.keys(approvals), ...asked].flatMap(endKeysOf)];
}

function keysNamedBy(request: Request, approvals: Approvals): readonly string[] {
  return [...keysWanted(request), ...approvalKeysWanted(request, approvals)];
}

export class OnceKeys {
  readonly #found: FoundRows['once'];
  readonly #batch = new Map<string, number>();
  #seq: number;

  /** `seq` is the number of the last entry before the batch. */
  constructor(found: FoundRows['once'], seq: number) {
    this.#found = found;
    this.#seq = seq;
  }

  /** Of the ids a request wants to use, those that are used. */
  usedFor(request: Request, approvals: Approvals): Pick<Input, 'used'> {
    const found = keysNamedBy(request, approvals).flatMap((key): [string, number][] => {
      const seq = this.#usedBy(key);
      return seq === null ? [] : [[key, seq]];
    });
    return found.length === 0 ? {} : { used: Object.fromEntries(found) };
  }

  /** The next fact of the batch, with the ids it uses up. */
  withKeys(append: Append): Append {
    this.#seq += 1;
    const all = [...keysUsedBy(append.fact), ...approvalKeysUsedBy(append.fact)];
    const keys = all.filter((key) => !isOfEnd(key) || this.#usedBy(key) === null);
    for (const key of keys) this.#batch.set(key, this.#seq);
    return keys.length === 0 ? append : { ...append, once: [...(append.once ?? []), ...keys] };
  }

  #usedBy(key: string): number | null {
    return this.#batch.get(key) ?? this.#found(key);
  }
}
