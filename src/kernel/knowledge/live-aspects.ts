// What can be told of something that runs and of nothing that merely exists: how many there are of it, how it is, how much
// it does, where it is. Each aspect is found by the words on the way to a value, and answers with those that name it.
import type { Json } from '../json.ts';
import { isFixedAddress } from './live-form.ts';
import { isBalancerName, isCount, isMeasured, isPort, isRange, isRatio, stateIn } from './live-value.ts';
import {
  ADDRESS_OWNERS,
  BALANCER,
  BALANCER_PLACES,
  BALANCERS,
  BOUNDS,
  COMMON_STATES,
  CONDITIONS,
  COUNTS_SURELY,
  COUNTS_UNITS,
  DECIDED_KEYS,
  DECLARES,
  DERIVES_BINDINGS,
  DESCRIBES_BALANCER,
  DESCRIBES_STATES,
  DRAWN,
  FILLERS,
  INGRESS_PLACES,
  MEASURED,
  NUMBERED_BY_NAME,
  RUNTIME_STATES,
  SAYS_IT_RUNS,
  SETTINGS,
  STATE_KEYS,
  STATE_OWNERS,
  TIER,
  type Tier,
  TOTALS,
} from './live-words.ts';

type Words = readonly string[];

export type Place = {
  /** Of its key; an element of a list has none. */
  readonly words: Words;
  readonly value: Json;
  /** Of the section and of the keys on the way to the place, one for each step. */
  readonly above: readonly Words[];
};

type Aspect = { readonly what: string; readonly by: (place: Place) => Words | undefined };

export const LIVE_ASPECTS: readonly Aspect[] = [
  { what: 'a count of what runs', by: countedBy },
  { what: 'a runtime status', by: stateBy },
  { what: 'a measurement', by: measuredBy },
  { what: 'the id of a network', by: networkBy },
  { what: 'the name or address of a load balancer', by: balancerBy },
  { what: 'an IP address', by: addressBy },
  { what: 'a derived IAM binding', by: bindingBy },
];

function countedBy(place: Place): Words | undefined {
  const { words, value, above } = place;
  const isOfAll = isRatio(value);
  if (!(isOfAll || isCount(value)) || words.length === 0 || hasAny([...above, words], BOUNDS)) return undefined;
  const isSure = words.some((word) => COUNTS_SURELY.has(word)) || isOfAll;
  if (!isSure && hasAny([...above, words], DECLARES)) return undefined;
  if (isSetting(words)) return undefined;
  return countInKey(place) ?? countBelow(place) ?? countByName(place);
}

/** `pod_count`, `running_api_pods`, `pods_ready`, and the number of what runs itself. */
function countInKey({ words: all, above, value }: Place): Words | undefined {
  const words = all.filter((word) => !FILLERS.has(word));
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  if (isDrawn([...above, words]) && words.some(isNode)) return undefined;
  const isUnits = TIER.get(last) === 'unit' && last.endsWith('s');
  if (words.length === 1 && isUnits) return words;
  const sure = words.find((word) => COUNTS_SURELY.has(word));
  if (words.length === 1 && SAYS_IT_RUNS.has(last)) return words;
  const thing = TOTALS.has(last) || sure === last ? (sure === before ? words.at(-3) : before) : last;
  const tier = TIER.get(thing ?? '');
  if (tier === undefined) return undefined;
  if (TOTALS.has(last)) return tier === 'unit' || sure !== undefined ? words : undefined;
  if (sure !== undefined) return words;
  const isMany = words.slice(0, -1).some((word) => COUNTS_UNITS.has(word));
  return isUnits && (isMany || isRatio(value)) ? words : undefined;
}

/** `pods.shop.api.count`, `deployments.api.available`, where nothing but counts is in the key. */
function countBelow({ words, above }: Place): Words | undefined {
  const said = words.filter((word) => !FILLERS.has(word) && !TIER.has(word));
  if (said.length === 0 || !said.every((word) => COUNTS_SURELY.has(word) || COUNTS_UNITS.has(word))) return undefined;
  const owner = thingAbove(above);
  if (!owner) return undefined;
  return owner.tier === 'unit' || said.some((word) => COUNTS_SURELY.has(word)) ? [owner.word, ...words] : undefined;
}

/** `pods.api`, `node_counts.eu`. */
function countByName({ above, value }: Place): Words | undefined {
  const parent = above.at(-1) ?? [];
  const last = parent.at(-1) ?? '';
  const isCounts = TOTALS.has(last) && TIER.get(parent.at(-2) ?? '') === 'unit' && !isDrawn(above);
  const isByName = parent.length === 1 && NUMBERED_BY_NAME.has(last) && (last === 'replicas' || !isPort(value));
  return isCounts || isByName ? parent : undefined;
}

function stateBy(place: Place): Words | undefined {
  const { words, value, above } = place;
  const last = words.at(-1) ?? '';
  if (hasAny([...above, words], DESCRIBES_STATES) || hasAny([...above, words], BOUNDS)) return undefined;
  if (typeof value === 'boolean') return conditionBy(place);
  const state = stateIn(value);
  if (!STATE_KEYS.has(last)) {
    const parent = above.at(-1) ?? [];
    const isNamed = words.length > 0 && !isSetting(words) && TIER.has(parent.at(-1) ?? '');
    return isNamed && RUNTIME_STATES.has(state) ? [...parent, state] : undefined;
  }
  const owners = DECIDED_KEYS.get(last) ?? STATE_OWNERS;
  const isDecidable = words.some((word) => (word === 'service' || word === 'target') && last !== 'health');
  if (words.slice(0, -1).some((word) => owners.has(word)) && !isDecidable) return words;
  if (RUNTIME_STATES.has(state)) return [...words, state];
  const owner = thingAbove(above);
  return owner && owner.tier !== 'place' && COMMON_STATES.has(state) ? [owner.word, ...words, state] : undefined;
}

/** Yes or no to how something is. */
function conditionBy({ words: all, above }: Place): Words | undefined {
  const words = all.filter((word) => !FILLERS.has(word));
  const [word = '', more] = words;
  if (more !== undefined) return undefined;
  if (SAYS_IT_RUNS.has(word)) return words;
  const owner = CONDITIONS.has(word) ? thingAbove(above) : undefined;
  return owner && owner.tier !== 'place' ? [owner.word, word] : undefined;
}

function measuredBy({ words, value, above }: Place): Words | undefined {
  if (!isMeasured(value) || hasAny([...above, words], BOUNDS)) return undefined;
  return MEASURED.some((row) => row.every((some) => words.some((word) => some.has(word)))) ? words : undefined;
}

function networkBy({ words }: Place): Words | undefined {
  const isId = ['id', 'ids'].includes(words.at(-1) ?? '');
  return isId && words.some((word) => word === 'vpc' || word === 'vpcs') ? words : undefined;
}

function balancerBy(place: Place): Words | undefined {
  const { words, value } = place;
  const last = words.at(-1) ?? '';
  const aspect = withoutName(words);
  const isName = last === 'name' || last === 'names';
  const before = withoutName(words.slice(0, -1));
  if (BALANCER.has(before) && (isName || BALANCER_PLACES.has(aspect) || BALANCER_PLACES.has(last))) return words;
  if (before === 'ingress' && INGRESS_PLACES.has(last)) return words;
  if (typeof value !== 'string') return undefined;
  if (BALANCER.has(last)) return isBalancerName(value) ? words : undefined;
  return balancerMember(place, aspect, value);
}

/**
 * A load balancer may be an element of a list of them, or stand among them by a name of its own; below a single one that
 * may be a part of it as well, such as its health check, which has a URL too but no name in DNS.
 */
function balancerMember({ words, above }: Place, aspect: string, value: string): Words | undefined {
  const [parent = '', next = ''] = above
    .filter((step) => step.length > 0)
    .slice(-2)
    .reverse()
    .map((step) => step.at(-1) ?? '');
  const last = words.at(-1) ?? '';
  const isDirect = BALANCER.has(parent);
  const isAmong = BALANCERS.has(next) && !DESCRIBES_BALANCER.has(parent);
  const isMember = isDirect || isAmong || (aspect === 'dns' && BALANCER.has(next));
  if (!isMember) return undefined;
  const owner = isDirect ? parent : next;
  if (words.length > 0 && BALANCER_PLACES.has(aspect)) return [owner, ...words];
  const isCalled = words.length === 0 || (words.length === 1 && last === 'name');
  const isEntry = BALANCERS.has(above.at(-1)?.at(-1) ?? '') && !DESCRIBES_BALANCER.has(last);
  return (isCalled || isEntry) && isBalancerName(value) ? [owner, ...words] : undefined;
}

/** `dns_name` is `dns`. */
function withoutName(words: Words): string {
  const last = words.at(-1) ?? '';
  return last === 'name' && words.length > 1 ? (words.at(-2) ?? '') : last;
}

function addressBy({ words: own, value, above }: Place): Words | undefined {
  // The elements of a list go by its name.
  const all = own.length > 0 ? own : (above.at(-1) ?? []);
  const words = /^address(?:es)?$/.test(all.at(-1) ?? '') ? all.slice(0, -1) : all;
  const isAddress = ['ip', 'ips'].includes(words.at(-1) ?? '');
  const isOwned = words.length === 1 || ADDRESS_OWNERS.has(words.at(-2) ?? '');
  if (!isAddress || !isOwned || (typeof value === 'object' && value !== null)) return undefined;
  if (isRange(value) || isFixedAddress(String(value)) || /^none$/i.test(String(value))) return undefined;
  return all;
}

function bindingBy({ words, above }: Place): Words | undefined {
  const last = words.at(-1) ?? '';
  if (last === 'permissions' && words.at(-2) === 'effective') return words;
  if (last !== 'bindings' && last !== 'binding') return undefined;
  const way = [...words, ...(above.at(-1) ?? [])];
  return way.some((word) => DERIVES_BINDINGS.has(word)) ? [...(above.at(-1) ?? []), ...words] : undefined;
}

/**
 * The nearest key that names something that runs, unless a setting or a part of it comes in between. Below a place where
 * things run there is much else, so that it is about these only for what it has directly, by a name.
 */
function thingAbove(above: readonly Words[]): { word: string; tier: Tier } | undefined {
  const steps = above.filter((words) => words.length > 0).toReversed();
  for (const [between, words] of steps.entries()) {
    const word = words.at(-1) ?? '';
    const tier = TIER.get(word);
    if (tier === 'place' && between > 1) return undefined;
    if (tier !== undefined) return isNode(word) && isDrawn(above) ? undefined : { word, tier };
    if (isSetting(words)) return undefined;
  }
  return undefined;
}

function isSetting(words: Words): boolean {
  return SETTINGS.has(words.at(-1) ?? '');
}

function isNode(word: string): boolean {
  return word === 'node' || word === 'nodes';
}

function isDrawn(steps: readonly Words[]): boolean {
  return hasAny(steps, DRAWN);
}

function hasAny(steps: readonly Words[], some: ReadonlySet<string>): boolean {
  return steps.some((words) => words.some((word) => some.has(word)));
}
