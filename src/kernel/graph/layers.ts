// The configuration in layers, from the lowest to the highest: what ships, the administrator of the machine, the user, the project, a
// named file, and the flags of a call. A higher layer counts before a lower one, member by member; `null` deletes what lower ones
// say. The administrator and the user may lock a key: then no higher layer may set it. A project that no person trusts adds to the
// settings of the user and changes none.
import { isObject, isString, type Json, type JsonObject, listAt, objectAt } from '../json.ts';

const CONFIG_LAYERS = ['bundled', 'administrator', 'user', 'project', 'file', 'flags'] as const;
export type LayerName = (typeof CONFIG_LAYERS)[number];

export type ConfigLayer = {
  readonly name: LayerName;
  /** The file, or the words for flags. */
  readonly file: string;
  readonly config: JsonObject;
};

/** How many levels of members are merged below a section; what lies deeper is replaced as a whole. */
const LEVELS: Readonly<Record<string, number>> = {
  ...{ materia: 2, loadouts: 2, approvals: 2, context: 2, hooks: 2, eventing: 2, finalization: 2 },
};
const LEVELS_USUAL = 1;

/** What is no setting of a cast. `runners` of a user hold for all workspaces together, besides those of a project. */
const OWN_WORDS: Readonly<Partial<Record<LayerName, readonly string[]>>> = {
  administrator: ['locked', '$schema'],
  user: ['locked', '$schema', 'runners'],
  project: ['locked'],
  file: ['locked'],
  flags: ['locked'],
  bundled: ['$schema', 'locked'],
};

/** The layers that may lock keys, and whose settings an untrusted project changes in nothing. */
const OF_PERSONS: readonly LayerName[] = ['administrator', 'user'];

/** A place in a configuration. Names may hold dots, so it is no text. */
export type KeyPath = readonly string[];

/** A higher layer sets what a lower one locked. */
type LockFault = { readonly key: string; readonly lockedBy: ConfigLayer; readonly setBy: ConfigLayer };

/** An untrusted project would change what a person set for every project. */
type TrustFault = { readonly key: string; readonly keptFrom: ConfigLayer; readonly setBy: ConfigLayer };

export type MergedLayers = {
  readonly config: JsonObject;
  readonly locks: readonly LockFault[];
  readonly untrusted: readonly TrustFault[];
};

/** `layers` from the lowest to the highest. What a fault names keeps the value of the lower layer. */
export function mergeLayers(layers: readonly ConfigLayer[], isTrusted: () => boolean): MergedLayers {
  const locks: LockFault[] = [];
  const untrusted: TrustFault[] = [];
  let merged: JsonObject = {};
  for (const [index, layer] of layers.entries()) {
    const below = layers.slice(0, index);
    let config = withoutOwnWords(layer);
    for (const { key, by } of below.flatMap(locksOf)) {
      if (!sets(config, key)) continue;
      locks.push({ key: key.join('.'), lockedBy: by, setBy: layer });
      config = without(config, key);
    }
    if (layer.name === 'project') {
      const faults = conflictsWith(below, layer, config);
      if (faults.length > 0 && !isTrusted()) {
        untrusted.push(...faults);
        for (const { key } of faults) config = without(config, keyPathOf(key, config));
      }
    }
    merged = laidOver(merged, config, below.length > 0 && below.some(({ name }) => name === 'bundled'));
  }
  return { config: merged, locks, untrusted };
}

type Lock = { readonly key: KeyPath; readonly by: ConfigLayer };

/** `locked` names keys; a materia or loadout whose `lockState` is `locked` is one, too. */
function locksOf(layer: ConfigLayer): readonly Lock[] {
  if (!OF_PERSONS.includes(layer.name)) return [];
  const named = listAt(layer.config, 'locked').filter(isString);
  const marked = ['materia', 'loadouts'].flatMap((section) =>
    Object.entries(objectAt(layer.config, section)).flatMap(([name, one]) =>
      isObject(one) && one.lockState === 'locked' ? [[section, name]] : [],
    ),
  );
  return [...named.map((key) => keyPathOf(key, layer.config)), ...marked].map((key) => ({ key, by: layer }));
}

/** Whether a layer says anything at the key, above it (instead of an object) or below it. */
function sets(config: JsonObject, key: KeyPath): boolean {
  let here: Json | undefined = config;
  for (const name of key) {
    if (here === undefined) return false;
    if (!isObject(here)) return true;
    here = Object.hasOwn(here, name) ? here[name] : undefined;
  }
  return here !== undefined;
}

/** What the project says of what a person set: members of sections, and materia and loadouts as wholes. */
function conflictsWith(below: readonly ConfigLayer[], setBy: ConfigLayer, config: JsonObject): readonly TrustFault[] {
  const faults: TrustFault[] = [];
  for (const keptFrom of below.filter(({ name }) => OF_PERSONS.includes(name))) {
    for (const [section, its] of Object.entries(withoutOwnWords(keptFrom))) {
      const given = Object.hasOwn(config, section) ? config[section] : undefined;
      // Which loadout is usual is for the project to say.
      if (given === undefined || section.startsWith('activeLoadout')) continue;
      const names =
        isObject(its) && isObject(given) ? Object.keys(its).filter((name) => Object.hasOwn(given, name)) : [''];
      for (const name of names) {
        const [own, theirs] =
          name === '' ? [its, given] : [objectAt({ its }, 'its')[name], objectAt({ given }, 'given')[name]];
        const key = name === '' ? section : `${section}.${name}`;
        if (JSON.stringify(own) !== JSON.stringify(theirs)) faults.push({ key, keptFrom, setBy });
      }
    }
  }
  return faults;
}

function withoutOwnWords({ name, config }: ConfigLayer): JsonObject {
  const own = OWN_WORDS[name] ?? [];
  return Object.fromEntries(Object.entries(config).filter(([key]) => !own.includes(key)));
}

/** The lower configuration under the higher one. A loadout replaces a shipped one of its name as a whole. */
function laidOver(lower: JsonObject, upper: JsonObject, isOverBundled = false): JsonObject {
  const result: Record<string, Json> = { ...lower };
  if (upper.loadouts !== undefined && isObject(upper.loadouts)) {
    // A layer with loadouts of its own says which one is usual.
    const names = Object.keys(upper.loadouts).filter((name) => objectAt(upper, 'loadouts')[name] !== null);
    const [only, another] = names;
    if (upper.activeLoadout === undefined && upper.activeLoadoutId === undefined && only !== undefined) {
      delete result.activeLoadout;
      delete result.activeLoadoutId;
      if (another === undefined) result.activeLoadout = only;
    }
    if (upper.activeLoadout !== undefined) delete result.activeLoadoutId;
    if (upper.activeLoadoutId !== undefined) delete result.activeLoadout;
  }
  for (const [section, value] of Object.entries(upper)) {
    const levels = section === 'loadouts' && isOverBundled ? 1 : (LEVELS[section] ?? LEVELS_USUAL);
    const prepare = section === 'loadouts' ? withoutGraph : section === 'materia' ? unlessWhole : undefined;
    setMember(result, section, value, levels, prepare);
  }
  return result;
}

type Prepare = (lower: JsonObject, upper: JsonObject) => JsonObject;

function setMember(into: Record<string, Json>, name: string, value: Json, levels: number, prepare?: Prepare): void {
  if (value === null) {
    delete into[name];
    return;
  }
  const before = Object.hasOwn(into, name) ? into[name] : undefined;
  if (levels === 0 || !isObject(value) || !isObject(before)) {
    into[name] = levels > 0 && isObject(value) ? pruned(value, levels) : value;
    return;
  }
  const start = levels === 1 && prepare ? prepare(before, value) : before;
  const result: Record<string, Json> = { ...start };
  for (const [key, each] of Object.entries(value)) setMember(result, key, each, levels - 1, prepare);
  into[name] = result;
}

/** What is `null` deletes, also where there is nothing to delete. */
function pruned(value: JsonObject, levels: number): JsonObject {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, Json][] => {
      if (each === null) return [];
      return [[name, levels > 1 && isObject(each) ? pruned(each, levels - 1) : each]];
    }),
  );
}

/** Sockets are one graph with their loops: those of a lower layer do not mix with others. */
function withoutGraph(lower: JsonObject, upper: JsonObject): JsonObject {
  if (upper.sockets === undefined) return lower;
  const { sockets: _sockets, loops: _loops, layout: _layout, entry: _entry, ...rest } = lower;
  return rest;
}

const BEHAVIOUR = ['prompt', 'promptFile', 'utility', 'command', 'script'];

/**
 * A materia with a behaviour of its own replaces a lower one as a whole, so that a foreign prompt or command never gets the variables and
 * arguments of another file; without one it changes fields.
 */
function unlessWhole(lower: JsonObject, upper: JsonObject): JsonObject {
  return BEHAVIOUR.some((field) => upper[field] !== undefined) ? {} : lower;
}

function without(config: JsonObject, key: KeyPath): JsonObject {
  const [first, ...rest] = key;
  if (first === undefined || !Object.hasOwn(config, first)) return config;
  const { [first]: value, ...others } = config;
  if (rest.length === 0 || !isObject(value)) return others;
  return { ...others, [first]: without(value, rest) };
}

/** The place that a text names: names that are there count first, because a name may hold dots. */
export function keyPathOf(text: string, ...configs: readonly JsonObject[]): KeyPath {
  const [config] = configs.filter((each) => pathIn(each, text) !== null);
  return (config && pathIn(config, text)) ?? text.split('.');
}

function pathIn(value: Json | undefined, text: string): KeyPath | null {
  if (text === '') return [];
  if (!isObject(value)) return null;
  const names = Object.keys(value)
    .filter((name) => text === name || text.startsWith(`${name}.`))
    .toSorted((one, other) => other.length - one.length);
  for (const name of names) {
    const rest = pathIn(value[name], text.slice(name.length + 1));
    if (rest) return [name, ...rest];
  }
  return null;
}

function valueAtKey(config: JsonObject, key: KeyPath): Json | undefined {
  let here: Json | undefined = config;
  for (const name of key) here = isObject(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  return here;
}

/** The highest layer that counts at the place, or above it; null where none does. */
export function layerOf(
  layers: readonly ConfigLayer[],
  key: KeyPath,
  { locks, untrusted }: Pick<MergedLayers, 'locks' | 'untrusted'> = { locks: [], untrusted: [] },
): ConfigLayer | null {
  for (let length = key.length; length > 0; length--) {
    const begin = key.slice(0, length);
    const isOut = (layer: ConfigLayer) =>
      [...locks, ...untrusted].some((fault) => fault.setBy === layer && overlaps(fault.key, begin.join('.')));
    const found = layers.findLast((layer) => valueAtKey(withoutOwnWords(layer), begin) !== undefined && !isOut(layer));
    if (found) return found;
  }
  return null;
}

/** Whether one key is the other one, above it or below it. */
function overlaps(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

type ExplainedLayer = {
  readonly layer: LayerName;
  readonly file: string;
  /** Null deletes. */
  readonly value: Json;
  readonly isLocked: boolean;
  /** What became of it, in words. */
  readonly why: string;
  readonly wins: boolean;
};

export type ExplainedKey = {
  readonly key: string;
  readonly value: Json;
  readonly layers: readonly ExplainedLayer[];
  readonly why: string;
};

/** The value of a key, every layer that has it, from the highest to the lowest, and why it came to that. */
export function explainKey(text: string, layers: readonly ConfigLayer[], merged: MergedLayers): ExplainedKey {
  const key = keyPathOf(text, merged.config, ...layers.map(({ config }) => config));
  const value = valueAtKey(merged.config, key) ?? null;
  const [section = ''] = key;
  const having = layers.filter(({ config }) => valueAtKey(config, key) !== undefined);
  // A fault of the key itself, or of what is above it, keeps a layer out; one below it keeps out a member.
  const covers = (other: string) => other === key.join('.') || key.join('.').startsWith(`${other}.`);
  const rows = having.map((layer) => {
    const said = valueAtKey(layer.config, key) ?? null;
    const lock = merged.locks.find((each) => each.setBy === layer && covers(each.key));
    const trust = merged.untrusted.find((each) => each.setBy === layer && covers(each.key));
    const isLocked = locksOf(layer).some((each) => covers(each.key.join('.')));
    const isApart = section === 'runners' && layer.name === 'user';
    return { layer, said, lock, trust, isLocked, isApart };
  });
  const counting = rows.filter(({ lock, trust, isApart }) => !lock && !trust && !isApart);
  const top = counting.at(-1);
  const isMixed = isObject(value) && counting.filter(({ said }) => isObject(said)).length > 1;
  const explained = rows.map((row): ExplainedLayer => {
    const { layer, said, lock, trust, isLocked, isApart } = row;
    const wins = row === top || (isMixed && isObject(said) && !lock && !trust && !isApart);
    const why = lock
      ? `refused: ${lock.lockedBy.file} locks ${lock.key}`
      : trust
        ? `put off: the folder is not trusted, and ${trust.keptFrom.file} sets ${trust.key}`
        : isApart
          ? 'holds for all your workspaces together, in addition'
          : wins
            ? isMixed
              ? 'merged, member by member'
              : said === null
                ? 'deletes it'
                : isLocked
                  ? 'counts, and is locked'
                  : 'counts'
            : `${top?.layer.name} is a higher layer`;
    return { layer: layer.name, file: layer.file, value: said, isLocked, wins, why };
  });
  return {
    key: key.join('.'),
    value,
    layers: explained.toReversed(),
    why: whyOf(top?.layer, isMixed, rows.length, explained),
  };
}

function whyOf(top: ConfigLayer | undefined, isMixed: boolean, count: number, rows: readonly ExplainedLayer[]): string {
  if (!top) return count === 0 ? 'no layer sets it' : 'no layer that sets it counts here';
  if (isMixed) return 'several layers set members of it; each member comes from the highest layer that sets it';
  const locked = rows.find(({ isLocked, wins }) => isLocked && wins);
  if (locked) return `${top.name} (${top.file}) sets it and locks it`;
  return count === 1
    ? `${top.name} (${top.file}) alone sets it`
    : `${top.name} (${top.file}) is the highest layer that sets it`;
}
