// A document as a loadout of the short form, where the short form can say it; else a plain reason for each part that it cannot. What comes
// out is compiled again and compared in meaning, so that nothing is lost without a word.
import { isGenerator } from '../kernel/graph/issue.ts';
import { GENERATED } from '../kernel/graph/resolve-graph.ts';
import {
  isObject,
  isSameJson,
  isString,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../kernel/json.ts';
import { compile } from '../short-form/compile.ts';
import { millisecondsOf, NAME, RESERVED, TOOL_NAMES } from '../short-form/table.ts';
import {
  type EditorDocument,
  exitsIn,
  loadoutOf,
  loopAt,
  loopsOf,
  loopWith,
  materiaOf,
  nameOf,
  pointOf,
  socketAt,
  socketsOf,
  without,
} from './document.ts';
import { differenceIn } from './meaning.ts';

export type Untold = {
  /** Where it is in the configuration. */
  readonly path: string;
  readonly message: string;
};

type Decompiled =
  | {
      readonly ok: true;
      readonly value: JsonObject /** Step names by socket. */;
      readonly names: ReadonlyMap<string, string>;
    }
  | { readonly ok: false; readonly reasons: readonly Untold[] };

/** `before` is what the file says now: what means the same stays as people wrote it. */
export function decompile(document: EditorDocument, before: JsonObject = {}): Decompiled {
  const decompiler = new Decompiler(document, before);
  const value = decompiler.run();
  if (decompiler.reasons.length > 0) return { ok: false, reasons: decompiler.reasons };
  const { names } = decompiler;
  const compiled = compile(document.name, value, { materia: foreignOf(document) });
  if (!compiled.ok) {
    const reasons = compiled.mistakes.map(({ message }) => ({ path: `loadouts.${document.name}`, message }));
    return { ok: false, reasons };
  }
  const ids = new Map([...names].map(([id, name]) => [id, socketNamed(compiled.labels, name)]));
  const config = { ...compiled.config, materia: { ...foreignOf(document), ...objectAt(compiled.config, 'materia') } };
  const difference = differenceIn(document, { ...document, config }, ids);
  return difference === null ? { ok: true, value, names } : { ok: false, reasons: [difference] };
}

/** What the short form may name without defining it. */
export function foreignOf(document: EditorDocument): JsonObject {
  const foreign = new Set(document.foreign);
  return Object.fromEntries(Object.entries(materiaOf(document)).filter(([id]) => foreign.has(id)));
}

function socketNamed(labels: Readonly<Record<string, string>>, name: string): string {
  return Object.entries(labels).find(([, label]) => label === name)?.[0] ?? '';
}

/** Steps in order: names of sockets, and loops with theirs. */
type Group = { readonly loop: string | null; readonly sockets: readonly string[] };

const SOCKET_FIELDS = [
  ...['label', 'materia', 'parse', 'contract', 'assign', 'lockScope', 'limits', 'checkers', 'advance', 'edges'],
  ...['socketKind', 'empty'],
];

class Decompiler {
  readonly reasons: Untold[] = [];
  readonly names = new Map<string, string>();
  readonly #document: EditorDocument;
  readonly #before: JsonObject;
  readonly #agents = new Map<string, JsonObject>();
  #order: readonly string[] = [];

  constructor(document: EditorDocument, before: JsonObject) {
    this.#document = document;
    this.#before = before;
  }

  run(): JsonObject {
    const groups = this.#groups();
    this.#order = groups.flatMap(({ sockets }) => sockets);
    if (this.#order.length === 0) this.#untold('', 'There is no step yet.');
    this.#nameSteps();
    this.#checkLoadout();
    if (this.reasons.length > 0) return {};
    const steps = groups.flatMap((group): Json[] => {
      const written = group.sockets.map((id) => this.#stepOf(id));
      return group.loop === null ? written : [this.#loopOf(group.loop, written)];
    });
    this.#addUnused();
    const { description, inputs } = loadoutOf(this.#document);
    const layout = this.#layout();
    const agents = Object.fromEntries(this.#agents);
    const told: Readonly<Record<string, Json | undefined>> = {
      description,
      inputs,
      defaults: this.#before.defaults,
      budget: this.#budget(),
      steps,
      agents: this.#agents.size === 0 ? undefined : inOrderOf(agents, objectAt(this.#before, 'agents')),
      layout: layout === null ? undefined : inOrderOf(layout, objectAt(this.#before, 'layout')),
    };
    const value = Object.entries(told).filter((entry): entry is [string, Json] => entry[1] !== undefined);
    return inOrderOf(Object.fromEntries(value), this.#before);
  }

  /** What the file says of the budget; the rest is in config.json. */
  #budget(): Json | undefined {
    const written = objectAt(this.#before, 'budget');
    const now = objectAt(this.#document.config, 'budget');
    const kept = Object.keys(written).filter((key) => now[key] !== undefined);
    return kept.length === 0 ? undefined : Object.fromEntries(kept.map((key) => [key, now[key] ?? null]));
  }

  #untold(path: string, message: string): void {
    const at = `loadouts.${this.#document.name}`;
    this.reasons.push({ path: path === '' ? at : `${at}.${path}`, message });
  }

  #socket(id: string): JsonObject {
    return socketAt(this.#document, id) ?? {};
  }

  #edges(id: string): readonly JsonObject[] {
    return listAt(this.#socket(id), 'edges').filter(isObject);
  }

  #name(id: string): string {
    return this.names.get(id) ?? id;
  }

  // Order

  /** The entry, what follows it by edges that lead on, each loop as one, and last what only rejected work reaches. */
  #groups(): readonly Group[] {
    const flow = this.#inOrder(true);
    const written = this.#inOrder(false);
    return this.#jumps(written) <= this.#jumps(flow) ? written : flow;
  }

  #inOrder(byFlow: boolean): readonly Group[] {
    const all = Object.keys(socketsOf(this.#document));
    const entry = stringAt(loadoutOf(this.#document), 'entry') ?? '';
    const groups: Group[] = [];
    const seen = new Set<string>();
    const visit = (start: string): void => {
      for (let id: string | null = start; id !== null && !seen.has(id) && socketAt(this.#document, id) !== null; ) {
        const loop: string | null = loopWith(this.#document, id);
        const sockets: readonly string[] = loop === null ? [id] : this.#membersInOrder(loop, id, byFlow);
        for (const each of sockets) seen.add(each);
        groups.push({ loop, sockets });
        id = byFlow ? this.#after(loop, sockets) : null;
      }
    };
    for (const id of [entry, ...all]) visit(id);
    return groups;
  }

  #membersInOrder(loop: string, start: string, byFlow: boolean): readonly string[] {
    const members = listAt(loopAt(this.#document, loop) ?? {}, 'sockets').filter(isString);
    const there = members.filter((id) => socketAt(this.#document, id) !== null);
    if (!byFlow) return there;
    const found: string[] = [];
    const first = this.#entered(there) ?? start;
    for (
      let id: string | null = first;
      id !== null && there.includes(id) && !found.includes(id);
      id = this.#onwards(id)
    )
      found.push(id);
    return [...found, ...there.filter((id) => !found.includes(id))];
  }

  /** The member that an edge from outside leads to. */
  #entered(members: readonly string[]): string | null {
    const targets = Object.keys(socketsOf(this.#document)).flatMap((id) =>
      members.includes(id) ? [] : this.#edges(id).map((edge) => stringAt(edge, 'to') ?? ''),
    );
    return members.find((id) => targets.includes(id)) ?? null;
  }

  /** Where work that is not rejected goes. */
  #onwards(id: string): string | null {
    const edges = this.#edges(id);
    const skips = objectAt(this.#socket(id), 'advance').when === 'not_satisfied';
    const edge = skips
      ? edges.find(({ when }) => when === 'satisfied')
      : edges.find(({ when }) => when === 'satisfied' || when === 'always');
    const to = edge && stringAt(edge, 'to');
    return to === undefined || to === 'end' ? null : to;
  }

  #after(loop: string | null, sockets: readonly string[]): string | null {
    if (loop === null) return this.#onwards(sockets[0] ?? '');
    return exitsIn(this.#document).find((exit) => exit.loop === loop)?.to ?? null;
  }

  /** How many steps would need `next`. */
  #jumps(groups: readonly Group[]): number {
    const order = groups.flatMap(({ sockets }) => sockets);
    const isEntryFirst = order[0] === stringAt(loadoutOf(this.#document), 'entry');
    return (
      order.filter((id, index) => this.#onwards(id) !== (order[index + 1] ?? null)).length + (isEntryFirst ? 0 : 1_000)
    );
  }

  // Names

  #nameSteps(): void {
    for (const id of this.#order) {
      const label = stringAt(this.#socket(id), 'label');
      if (label !== null && !isName(label)) {
        const fix = 'Rename the step with small letters, digits and hyphens.';
        this.#untold(`sockets.${id}.label`, `The short form has no step called ${JSON.stringify(label)}. ${fix}`);
      }
      const taken = [...this.names.values()];
      const usual = label ?? slugOf(stringAt(this.#socket(id), 'materia') ?? id);
      if (label !== null && taken.includes(label))
        this.#untold(
          `sockets.${id}.label`,
          `Two steps are called ${label}, and the short form tells steps apart by name.`,
        );
      this.names.set(id, freeName(usual, taken));
    }
  }

  // The fields of the loadout and its loops

  #checkLoadout(): void {
    const loadout = loadoutOf(this.#document);
    for (const field of ['id', 'label', 'lockState', 'originDefaultId', 'source'])
      if (loadout[field] !== undefined) this.#untold(field, `The short form has no ${field} of a loadout.`);
    for (const field of Object.keys(loadout).filter((each) => each.startsWith('x_')))
      this.#untold(field, `The short form keeps remarks such as ${field} on steps only.`);
    for (const id of Object.keys(loopsOf(this.#document))) this.#checkLoop(id);
  }

  #checkLoop(id: string): void {
    const loop = loopAt(this.#document, id);
    const at = `loops.${id}`;
    if (loop === null) return;
    const consumes = objectAt(loop, 'consumes');
    const generator = stringAt(consumes, 'from');
    const rest = without(loop, 'sockets', 'consumes', 'exits', 'parallel');
    for (const field of Object.keys(rest)) this.#untold(`${at}.${field}`, `The short form has no ${field} of a loop.`);
    for (const field of Object.keys(without(consumes, 'from', 'output')))
      this.#untold(`${at}.consumes.${field}`, `The short form names the ${field} of a loop by itself.`);
    if (
      generator === null ||
      (consumes.output ?? GENERATED) !== GENERATED ||
      socketAt(this.#document, generator) === null
    ) {
      this.#untold(`${at}.consumes`, 'A loop of the short form walks over the items of a step.');
      return;
    }
    const two = Object.entries(loopsOf(this.#document)).find(
      ([other, each]) => other !== id && isObject(each) && objectAt(each, 'consumes').from === generator,
    );
    if (two) this.#untold(at, `Two loops walk over the items of ${nameOf(this.#document, generator)}.`);
  }

  #loopOf(id: string, steps: readonly Json[]): JsonObject {
    const loop = loopAt(this.#document, id) ?? {};
    const lanes = objectAt(loop, 'parallel').maxConcurrency;
    const from = stringAt(objectAt(loop, 'consumes'), 'from') ?? '';
    const each = this.#name(from);
    const written = listAt(this.#before, 'steps').find((step) => isObject(step) && step.each === each);
    const loopNow = { each, ...(typeof lanes === 'number' ? { parallel: lanes } : {}), do: steps };
    return inOrderOf(loopNow, isObject(written) ? written : {});
  }

  // Steps

  #stepOf(id: string): Json {
    const name = this.#name(id);
    const { agent, ...behaviour } = this.#behaviourOf(id);
    const options: JsonObject = {
      ...(agent === undefined ? {} : { agent }),
      ...this.#answerOf(id),
      ...behaviour,
      ...this.#limitsOf(id),
      ...this.#waysOf(id),
      ...this.#remarksOf(id),
    };
    const kept = this.#keptOptions(name, options);
    return Object.keys(kept).length === 0 ? name : { [name]: kept };
  }

  /** The options as the file has them, where they say the same. */
  #keptOptions(name: string, options: JsonObject): JsonObject {
    const written = optionsIn(this.#before, name);
    if (written === null) return options;
    const usual = (each: JsonObject) => usualOptions(each, objectAt(this.#before, 'defaults'));
    if (isSameJson(usual(written), usual(options))) return written;
    const { reject } = written;
    // A count that people wrote stays although it is the usual one.
    if (isObject(reject) && isString(options.reject) && isSameJson(usual({ reject }), { reject: reject.to ?? null }))
      options = { ...options, reject: { ...reject, to: options.reject } };
    const order = [...Object.keys(written).filter((key) => Object.hasOwn(options, key)), ...Object.keys(options)];
    const merged = Object.fromEntries(order.map((key) => [key, options[key] ?? null]));
    // An option that people wrote although it is the usual one stays.
    const extra = Object.entries(written).filter(
      ([key]) => !Object.hasOwn(options, key) && this.#isUsual(key, written[key]),
    );
    return { ...Object.fromEntries(extra), ...merged };
  }

  #isUsual(key: string, value: Json | undefined): boolean {
    return isSameJson(usualOptions({ [key]: value ?? null }, objectAt(this.#before, 'defaults')), {});
  }

  #behaviourOf(id: string): JsonObject {
    const name = this.#name(id);
    const materia = stringAt(this.#socket(id), 'materia');
    if (materia === null || !Object.hasOwn(materiaOf(this.#document), materia)) {
      this.#untold(`sockets.${id}.materia`, `${name} has no materia yet. Put one there.`);
      return {};
    }
    if (this.#document.foreign.includes(materia)) return { agent: materia };
    const users = this.#order.filter((each) => stringAt(this.#socket(each), 'materia') === materia);
    const owner = users.find((each) => this.#name(each) === materia);
    if (owner === id) return this.#optionsOf(materia, name);
    if (owner === undefined) this.#agents.set(materia, this.#agentOf(materia));
    return { agent: materia };
  }

  /** A materia that no step uses yet is kept all the same. */
  #addUnused(): void {
    const used = this.#order.map((id) => stringAt(this.#socket(id), 'materia'));
    for (const id of Object.keys(materiaOf(this.#document)))
      if (!this.#document.foreign.includes(id) && !used.includes(id)) this.#agents.set(id, this.#agentOf(id));
  }

  #agentOf(id: string): JsonObject {
    if (!isName(id)) {
      const fix = 'Rename it with small letters, digits and hyphens.';
      this.reasons.push({
        path: `materia.${id}`,
        message: `The short form has no agent called ${JSON.stringify(id)}. ${fix}`,
      });
    }
    const options = this.#optionsOf(id, id);
    const written = objectAt(objectAt(this.#before, 'agents'), id);
    const usual = (each: JsonObject) => usualOptions(each, objectAt(this.#before, 'defaults'));
    return isSameJson(usual(written), usual(options)) && Object.hasOwn(objectAt(this.#before, 'agents'), id)
      ? written
      : options;
  }

  /** What a materia says, as options. */
  #optionsOf(id: string, name: string): JsonObject {
    const written = objectAt(materiaOf(this.#document), id);
    const path = `materia.${id}`;
    const cannot = (field: string) =>
      this.reasons.push({
        path: `${path}.${field}`,
        message: `The short form has no ${field} of an agent. Define ${id} in config.json.`,
      });
    const rest = without(written, 'generator', 'type');
    if (written.command !== undefined && written.type === 'utility') {
      for (const field of Object.keys(without(rest, 'command', 'once'))) cannot(field);
      return { run: written.command, ...(written.once === true ? { once: true } : {}) };
    }
    if (written.utility !== undefined || written.script !== undefined) {
      for (const field of Object.keys(without(rest, 'utility', 'script', 'parse', 'once'))) cannot(field);
      const use = stringAt(written, 'utility') ?? stringAt(objectAt(written, 'script'), 'name');
      return { ...(use === null ? {} : { use }), ...(written.once === true ? { once: true } : {}) };
    }
    const known = ['prompt', 'promptFile', 'tools', 'runner', 'model', 'onCrash', 'multiTurn'];
    for (const field of Object.keys(without(rest, ...known))) cannot(field);
    const defaults = objectAt(this.#before, 'defaults');
    const tools = Object.entries(TOOL_NAMES).find(([, value]) => value === written.tools)?.[0];
    if (tools === undefined) cannot('tools');
    const isUsualFile = written.promptFile === `prompts/${name}.md` && written.prompt === undefined;
    return {
      ...(written.prompt === undefined ? {} : { prompt: written.prompt }),
      ...(written.promptFile === undefined || isUsualFile ? {} : { promptFile: written.promptFile }),
      ...(tools === undefined || tools === (defaults.tools ?? 'read') ? {} : { tools }),
      ...(written.runner === undefined || written.runner === defaults.runner ? {} : { runner: written.runner }),
      ...(written.model === undefined || written.model === defaults.model ? {} : { model: written.model }),
      ...(written.onCrash === 'wait' ? { once: true } : {}),
      ...(written.multiTurn === true ? { talk: true } : {}),
    };
  }

  #isLast(id: string): boolean {
    const loop = loopWith(this.#document, id);
    if (loop === null) return false;
    const index = this.#order.indexOf(id);
    const next = this.#order[index + 1];
    return next === undefined || loopWith(this.#document, next) !== loop;
  }

  #isConsumed(id: string): boolean {
    return Object.values(loopsOf(this.#document)).some(
      (loop) => isObject(loop) && objectAt(loop, 'consumes').from === id,
    );
  }

  #answerOf(id: string): JsonObject {
    const socket = this.#socket(id);
    const materia = objectAt(materiaOf(this.#document), stringAt(socket, 'materia') ?? '');
    for (const field of Object.keys(socket)) {
      if (SOCKET_FIELDS.includes(field) || field.startsWith('x_')) continue;
      this.#untold(`sockets.${id}.${field}`, `The short form has no ${field} of a step.`);
    }
    const isMaking = isGenerator(materia);
    for (const [target, source] of Object.entries(objectAt(socket, 'assign'))) {
      if (isMaking && target === GENERATED && source === `$.${GENERATED}`) continue;
      this.#untold(`sockets.${id}.assign.${target}`, `The short form keeps no part of an answer, such as ${target}.`);
    }
    const isImplied = this.#isConsumed(id) && optionsIn(this.#before, this.#name(id))?.makes === undefined;
    if (isMaking) return isImplied && optionsIn(this.#before, this.#name(id)) !== null ? {} : { makes: 'items' };
    const contract = stringAt(socket, 'contract');
    if (contract === 'gaia' || contract === 'operator') return { answers: contract };
    const isUse = materia.utility !== undefined || materia.script !== undefined;
    return isUse && socket.parse === 'text' ? { answers: 'text' } : {};
  }

  #limitsOf(id: string): JsonObject {
    const socket = this.#socket(id);
    const limits = objectAt(socket, 'limits');
    if (limits.maxOutputBytes !== undefined)
      this.#untold(`sockets.${id}.limits.maxOutputBytes`, 'The short form has no limit of the length of an answer.');
    const timeout = typeof limits.timeoutMs === 'number' ? durationOf(limits.timeoutMs) : null;
    const scope = socket.lockScope;
    return {
      ...(timeout === null || timeout === this.#usualTimeout(id) ? {} : { timeout }),
      ...(socket.checkers === undefined ? {} : { check: socket.checkers }),
      ...(scope === undefined ? {} : { lock: isString(scope) ? [scope] : scope }),
    };
  }

  #usualTimeout(id: string): string | null {
    const materia = objectAt(materiaOf(this.#document), stringAt(this.#socket(id), 'materia') ?? '');
    const usual = stringAt(objectAt(this.#before, 'defaults'), 'timeout');
    return materia.type === 'utility' || usual === null ? null : durationOf(millisecondsOf(usual));
  }

  #remarksOf(id: string): JsonObject {
    return Object.fromEntries(Object.entries(this.#socket(id)).filter(([field]) => field.startsWith('x_')));
  }

  // Ways on

  #waysOf(id: string): JsonObject {
    const loop = loopWith(this.#document, id);
    const advance = objectAt(this.#socket(id), 'advance');
    if (loop !== null && advance.when === 'not_satisfied' && !this.#isLast(id))
      return { ...this.#next(id), reject: 'skip' };
    const reject = this.#edges(id).find(({ when }) => when === 'not_satisfied');
    for (const [index, edge] of this.#edges(id).entries()) {
      if (isObject(edge.when))
        this.#untold(`sockets.${id}.edges[${index}].when`, 'The short form has no conditions on fields of an answer.');
    }
    return { ...this.#next(id), ...(reject === undefined ? {} : { reject: this.#rejection(id, reject) }) };
  }

  #next(id: string): JsonObject {
    if (this.#isLast(id)) return {};
    const to = this.#onwards(id);
    const following = this.#order[this.#order.indexOf(id) + 1];
    if (to === (following ?? null)) return {};
    return { next: to === null ? 'end' : this.#name(to) };
  }

  #rejection(id: string, edge: JsonObject): Json {
    const target = stringAt(edge, 'to') ?? 'end';
    const to = target === 'end' ? 'end' : this.#name(target);
    const isBack = this.#order.indexOf(target) !== -1 && this.#order.indexOf(target) <= this.#order.indexOf(id);
    const { maxTraversals: max, then } = edge;
    if (isBack && max === undefined) {
      const index = this.#edges(id).indexOf(edge);
      const message = `The short form limits how often ${this.#name(id)} sends the same item back. Set how often.`;
      this.#untold(`sockets.${id}.edges[${index}].maxTraversals`, message);
    }
    if (then === undefined && (isBack ? max === 3 : max === undefined)) return to;
    return { to, ...(max === undefined ? {} : { max }), ...(then === undefined ? {} : { then }) };
  }

  // Layout

  #layout(): JsonObject | null {
    const points = this.#order.flatMap((id) => {
      const point = pointOf(this.#document, id);
      return point ? [[this.#name(id), { ...point }] as const] : [];
    });
    return points.length === 0 ? null : Object.fromEntries(points);
  }
}

/** The members that the other one has first, as it has them. */
function inOrderOf(value: JsonObject, before: JsonObject): JsonObject {
  const names = new Set([...Object.keys(before).filter((key) => Object.hasOwn(value, key)), ...Object.keys(value)]);
  return Object.fromEntries([...names].map((key) => [key, value[key] ?? null]));
}

/** What the file says of a step; null where it has none of that name. */
function optionsIn(file: JsonObject, name: string): JsonObject | null {
  const steps = listAt(file, 'steps').flatMap((step) =>
    isObject(step) && Array.isArray(step.do) ? (step.do as Json[]) : [step],
  );
  for (const step of steps) {
    if (step === name) return {};
    if (isObject(step) && Object.hasOwn(step, name)) return objectAt(step, name);
  }
  return null;
}

/** Options without those that say what holds anyway. */
function usualOptions(options: JsonObject, defaults: JsonObject): JsonObject {
  const { reject, tools, runner, model, timeout, once, talk, lock, ...rest } = options;
  const isThree = isObject(reject) && reject.max === 3 && reject.then === undefined;
  const bare = isObject(reject) && (isThree || Object.keys(reject).length === 1) ? reject.to : reject;
  const kept: Record<string, Json | undefined> = {
    ...rest,
    reject: bare,
    tools: tools === (defaults.tools ?? 'read') ? undefined : tools,
    runner: runner === defaults.runner ? undefined : runner,
    model: model === defaults.model ? undefined : model,
    timeout: isString(timeout) && timeout !== defaults.timeout ? durationOf(millisecondsOf(timeout)) : undefined,
    once: once === true ? true : undefined,
    talk: talk === true ? true : undefined,
    lock,
  };
  if (rest.answers === 'verdict' || (rest.answers === 'text' && rest.use === undefined)) kept.answers = undefined;
  return Object.fromEntries(Object.entries(kept).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function isName(text: string): boolean {
  return NAME.test(text) && !RESERVED.some((word) => word === text);
}

function freeName(usual: string, taken: readonly string[]): string {
  let name = usual;
  for (let number = 2; taken.includes(name); number++) name = `${usual}-${number}`;
  return name;
}

function slugOf(text: string): string {
  const slug = text
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '');
  return slug === '' || RESERVED.some((word) => word === slug) ? `step-${slug || '1'}` : slug;
}

function durationOf(ms: number): string {
  for (const [unit, size] of [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const) {
    if (ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
