// The validator of `governed/handoff`: one payload and the options of its line, as they arrive from outside. Total:
// whatever comes in, a verdict comes out.
import { isObject, isString, type Json } from '../kernel/json.ts';
import { fatal } from '../kernel/trust/problem.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import type { Registry } from './agent.ts';
import { unusable } from './registry.ts';
import { type Policy, TRUST_POLICY } from './stage.ts';
import { MAX_AGE_S, MAX_SKEW_S, verifyHandoff } from './verify.ts';

/** Gives the registry of a folder; null asks for the one that holds where a line names none. */
export type RegistryLoader = (dir: string | null) => Registry;

type GovernedOptions = {
  readonly registry?: string;
  readonly now?: string;
  readonly seen_handoff_ids?: readonly string[];
  readonly max_age_s?: number;
  readonly max_skew_s?: number;
  /** Unknown members refuse the envelope. */
  readonly strict?: boolean;
};

/** `input` is the exact text of an envelope, or an envelope already parsed. `options.now` must be given. */
export function validateGoverned(input: unknown, options: unknown, loader: RegistryLoader): Verdict {
  const read = readOptions(options);
  if ('code' in read) return read;
  return verifyHandoff(input, {
    registry: load(loader, read.registry ?? null),
    now: read.now,
    seen: read.seen_handoff_ids ? new Set(read.seen_handoff_ids.map((id) => id.toLowerCase())) : NOTHING_SEEN,
    maxAgeS: read.max_age_s ?? MAX_AGE_S,
    maxSkewS: read.max_skew_s ?? MAX_SKEW_S,
    policy: read.strict === true ? STRICT : TRUST_POLICY,
  });
}

const NOTHING_SEEN: ReadonlySet<string> = new Set();
const STRICT: Policy = { ...TRUST_POLICY, strictMembers: true };

type ReadOptions = { readonly [name in keyof GovernedOptions]: GovernedOptions[name] | undefined } & {
  readonly now: string;
};

function readOptions(options: unknown): ReadOptions | Denied {
  const given = options ?? {};
  if (!isObject(given)) return wrong('options must be an object');
  const { registry, now, seen_handoff_ids: seen, max_age_s: age, max_skew_s: skew, strict } = given;
  if (!isString(now)) return wrong('options.now must be the present time, like 2026-02-11T00:45:02Z');
  if (registry !== undefined && registry !== null && !isString(registry))
    return wrong('options.registry must be a folder');
  if (seen !== undefined && !(Array.isArray(seen) && seen.every(isString))) {
    return wrong('options.seen_handoff_ids must be a list of ids');
  }
  if (age !== undefined && !isSeconds(age)) return wrong('options.max_age_s must be a number of seconds, 0 or more');
  if (skew !== undefined && !isSeconds(skew)) return wrong('options.max_skew_s must be a number of seconds, 0 or more');
  if (strict !== undefined && typeof strict !== 'boolean') return wrong('options.strict must be true or false');
  return { now, registry: registry ?? undefined, seen_handoff_ids: seen, max_age_s: age, max_skew_s: skew, strict };
}

function isSeconds(value: Json): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function load(loader: RegistryLoader, dir: string | null): Registry {
  try {
    return loader(dir);
  } catch {
    // A loader that fails has established nothing.
    return unusable([fatal('REGISTRY_MISSING', 'the registry could not be loaded')], () => '');
  }
}

function wrong(reason: string): Denied {
  return deny('BAD_USAGE', reason);
}
