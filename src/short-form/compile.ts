// Compiles a loadout of the short form to a configuration of the long form, and to nothing else. It is pure: the caller who read the
// file passes the value on, and finds the line of a mistake by its place in the value.
//
// Steps are numbered depth first. A step becomes a socket `Socket-N` with the step's name as label, and a materia with the
// step's name or that of its agent. `each` becomes a loop region over the items of an earlier step.
import { messageOf } from '../kernel/field-schema.ts';
import { mismatches } from '../kernel/fields.ts';
import { listed } from '../kernel/graph/issue.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { nearestName } from '../kernel/text.ts';
import {
  AGENT_FIELDS,
  type AgentOptions,
  FILE,
  LOOP_FIELDS,
  type LoopOptions,
  millisecondsOf,
  NAME,
  OPTIONS,
  RESERVED,
  type ShortForm,
  type StepOptions,
  TOOL_NAMES,
} from './table.ts';

/** The way to a value in the file. */
export type SourcePath = readonly (string | number)[];

type Mistake = {
  readonly code: 'INVALID_CONFIG' | 'UNKNOWN_ENDPOINT' | 'UNKNOWN_MATERIA' | 'INVALID_LOOP';
  readonly place: SourcePath;
  readonly message: string;
};

/** What the file may refer to and does not define. */
export type Surroundings = {
  /** The materia of config.json. */
  readonly materia: JsonObject;
};

export type Compiled = {
  readonly config: JsonObject;
  /** From the beginning of a path in the configuration (`loadouts.bugfix.sockets.Socket-2`) to the place in the file. */
  readonly origins: ReadonlyMap<string, SourcePath>;
  /** The name of each socket. */
  readonly labels: Readonly<Record<string, string>>;
};

type Compilation = ({ readonly ok: true } & Compiled) | { readonly ok: false; readonly mistakes: readonly Mistake[] };

type Step = {
  readonly name: string;
  readonly socket: string;
  readonly place: SourcePath;
  readonly options: StepOptions & JsonObject;
  readonly loop: Loop | null;
};
type Loop = {
  readonly id: string;
  readonly generator: string;
  readonly place: SourcePath;
  readonly parallel: number | null;
  readonly members: Step[];
};

const ITEMS = { output: 'workItems', list: 'state.workItems', cursor: 'workItemIndex' } as const;
const REJECTIONS_MAX = 3;

/** `name` is that of the loadout. */
export function compile(name: string, value: Json, surroundings: Surroundings): Compilation {
  const compiler = new Compiler(name, surroundings);
  const compiled = compiler.run(value);
  return compiler.mistakes.length === 0 && compiled
    ? { ok: true, ...compiled }
    : { ok: false, mistakes: compiler.mistakes };
}

class Compiler {
  readonly mistakes: Mistake[] = [];
  readonly #name: string;
  readonly #around: Surroundings;
  readonly #steps: Step[] = [];
  readonly #loops: Loop[] = [];
  readonly #materia = new Map<string, { readonly place: SourcePath; readonly definition: JsonObject }>();
  readonly #origins = new Map<string, SourcePath>();
  #file: ShortForm = { steps: [] };

  constructor(name: string, around: Surroundings) {
    this.#name = name;
    this.#around = around;
  }

  run(value: Json): Compiled | null {
    if (!this.#fits(value, FILE, [])) return null;
    this.#file = value as unknown as ShortForm;
    this.#readSteps(this.#file.steps, ['steps'], null);
    if (this.mistakes.length > 0) return null;
    for (const loop of this.#loops) this.#checkGenerator(loop);
    for (const step of this.#steps) this.#checkTargets(step);
    for (const name of Object.keys(this.#file.layout ?? {})) {
      if (this.#steps.some((step) => step.name === name)) continue;
      this.#unknownStep(
        name,
        ['layout', name],
        this.#steps.map((step) => step.name),
      );
    }
    for (const [agent, options] of Object.entries(this.#file.agents ?? {})) {
      const place = ['agents', agent];
      this.#checkOneBehaviour({ options: options as AgentOptions & JsonObject, place });
      this.#define(agent, this.#definition(agent, options), place);
    }
    for (const step of this.#steps) this.#addMateria(step);
    if (this.mistakes.length > 0) return null;
    return this.#output();
  }

  #output(): Compiled {
    const at = `loadouts.${this.#name}`;
    this.#origins.set(at, []);
    const sockets = Object.fromEntries(
      this.#steps.map((step, index) => {
        this.#origins.set(`${at}.sockets.${step.socket}`, step.place);
        return [step.socket, this.#socketOf(step, index)];
      }),
    );
    const loops = Object.fromEntries(
      this.#loops.map((loop) => {
        this.#origins.set(`${at}.loops.${loop.id}`, loop.place);
        return [loop.id, this.#loopOf(loop)];
      }),
    );
    const { description, inputs, budget } = this.#file;
    const layout = this.#layout();
    if (budget !== undefined) this.#origins.set('budget', ['budget']);
    if (inputs !== undefined) this.#origins.set(`${at}.inputs`, ['inputs']);
    const loadout: JsonObject = {
      ...(description === undefined ? {} : { description }),
      ...(inputs === undefined ? {} : { inputs }),
      entry: 'Socket-1',
      sockets,
      ...(this.#loops.length === 0 ? {} : { loops }),
      ...(layout === null ? {} : { layout }),
    };
    const materia = Object.fromEntries(Array.from(this.#materia, ([id, { definition }]) => [id, definition]));
    for (const [id, { place, definition }] of this.#materia) {
      this.#origins.set(`materia.${id}`, place);
      for (const field of ['runner', 'model'] as const) {
        const isOwn = valueAt(this.#file as unknown as Json, [...place, field]) !== undefined;
        if (definition[field] !== undefined)
          this.#origins.set(`materia.${id}.${field}`, isOwn ? [...place, field] : ['defaults', field]);
      }
    }
    const config = { ...(budget === undefined ? {} : { budget }), materia, loadouts: { [this.#name]: loadout } };
    return {
      config,
      origins: this.#origins,
      labels: Object.fromEntries(this.#steps.map(({ socket, name }) => [socket, name])),
    };
  }

  /** Where steps are drawn, by socket. */
  #layout(): JsonObject | null {
    const points = Object.entries(this.#file.layout ?? {});
    if (points.length === 0) return null;
    return { sockets: Object.fromEntries(points.map(([name, { x, y }]) => [this.#socketNamed(name), { x, y }])) };
  }

  #mistake(code: Mistake['code'], place: SourcePath, message: string): void {
    this.mistakes.push({ code, place, message });
  }

  /** Adds what does not fit a table. An unknown member is named with the nearest known one. */
  #fits(value: Json, table: Parameters<typeof mismatches>[1], place: SourcePath): boolean {
    const found = mismatches(value, table);
    // A misspelt name is one mistake, not an unknown field and a missing one.
    const misspelt = found.flatMap(({ rule, path, field }) =>
      rule === 'unknown' && field.type === 'object'
        ? [nearestName(String(path.at(-1)), Object.keys(field.fields))]
        : [],
    );
    for (const each of found) {
      if (each.rule === 'missing' && misspelt.includes(String(each.path.at(-1)))) continue;
      const where = [...place, ...each.path];
      this.#mistake('INVALID_CONFIG', where, `${spoken(where)} ${messageOf(each)}`);
    }
    return found.length === 0;
  }

  // Reading

  #readSteps(steps: readonly Json[], place: SourcePath, loop: Loop | null): void {
    for (const [index, written] of steps.entries()) {
      const at = [...place, index];
      if (isObject(written) && (Object.hasOwn(written, 'each') || Object.hasOwn(written, 'do'))) {
        this.#readLoop(written, at, loop);
        continue;
      }
      const [name, options, where] = this.#namedStep(written, at);
      if (name !== null) this.#addStep(name, options, where, loop);
    }
  }

  #namedStep(written: Json, place: SourcePath): readonly [name: string | null, options: Json, place: SourcePath] {
    if (isString(written)) return [written, {}, place];
    const names = isObject(written) ? Object.keys(written) : [];
    const [name] = names;
    if (isObject(written) && name !== undefined && names.length === 1)
      return [name, written[name] ?? {}, [...place, name]];
    const fix =
      names.length > 1
        ? `A step has one name, and this one has ${listed(names)}. Indent the options below the name, or begin each step with a dash.`
        : 'A step is a name, or one name with options: `- fix: { tools: write }`.';
    this.#mistake('INVALID_CONFIG', place, fix);
    return [null, {}, place];
  }

  #addStep(name: string, options: Json, place: SourcePath, loop: Loop | null): void {
    if (!NAME.test(name) || RESERVED.some((word) => word === name)) {
      const why = NAME.test(name) ? `${name} is reserved` : `${JSON.stringify(name)} is not a name`;
      this.#mistake(
        'INVALID_CONFIG',
        place,
        `${why}. Name the step with small letters, digits and hyphens, such as fix-bug.`,
      );
    } else if (this.#steps.some((step) => step.name === name)) {
      this.#mistake('INVALID_CONFIG', place, `There is a step ${name} already. Give each step a name of its own.`);
    }
    if (!this.#fits(options, OPTIONS, place)) return;
    const socket = `Socket-${this.#steps.length + 1}`;
    const step = { name, socket, place, options: options as StepOptions & JsonObject, loop };
    this.#steps.push(step);
    loop?.members.push(step);
    this.#checkOneBehaviour(step);
  }

  #checkOneBehaviour({ options, place }: { readonly options: JsonObject; readonly place: SourcePath }): void {
    const given = ['agent', 'prompt', 'promptFile', 'run', 'use'].filter((field) => options[field] !== undefined);
    if (given.length > 1) {
      this.#mistake('INVALID_CONFIG', place, `A step has one of ${listed(given)}. Remove the others.`);
    }
    const [kind] = given;
    if (kind !== 'run' && kind !== 'use') return;
    for (const field of ['tools', 'runner', 'model', 'talk']) {
      if (options[field] === undefined) continue;
      this.#mistake(
        'INVALID_CONFIG',
        [...place, field],
        `\`${kind}\` runs no agent, so it has no ${field}. Remove ${field}.`,
      );
    }
  }

  #readLoop(written: JsonObject, place: SourcePath, outer: Loop | null): void {
    if (outer !== null) {
      this.#mistake('INVALID_LOOP', place, 'Loops do not nest. Put the inner steps into the outer `do`, or after it.');
      return;
    }
    if (!this.#fits(written, LOOP_FIELDS, place)) return;
    const { each, do: steps, parallel = null } = written as unknown as LoopOptions;
    const loop: Loop = { id: `each-${each}`, generator: each, place, parallel, members: [] };
    this.#loops.push(loop);
    this.#readSteps(steps, [...place, 'do'], loop);
  }

  // Checks that need all steps

  #checkGenerator(loop: Loop): void {
    const { id, generator, place, members } = loop;
    const at = [...place, 'each'];
    const source = this.#steps.find(({ name }) => name === generator);
    const first = members[0];
    if (!source) return this.#unknownStep(generator, at, this.#earlier(first));
    if (source.loop !== null || (first && this.#steps.indexOf(source) > this.#steps.indexOf(first))) {
      const earlier = listed(this.#earlier(first));
      return this.#mistake(
        'INVALID_LOOP',
        at,
        `${generator} does not come before the loop. Name an earlier step: ${earlier}.`,
      );
    }
    if (this.#loops.find((each) => each.id === id) !== loop) {
      this.#mistake(
        'INVALID_LOOP',
        at,
        `Two loops walk over the items of ${generator}. Put their steps into one \`do\`.`,
      );
    }
    const { answers, makes } = source.options;
    if (answers !== undefined && makes === undefined) {
      const message = `${generator} makes items for a loop, so it cannot answer ${answers}. Remove \`answers\`.`;
      this.#mistake('INVALID_LOOP', [...source.place, 'answers'], message);
    }
  }

  /** The steps outside of loops that come before a loop. */
  #earlier(first: Step | undefined): readonly string[] {
    const end = first ? this.#steps.indexOf(first) : this.#steps.length;
    return this.#steps.slice(0, end).flatMap(({ name, loop }) => (loop === null ? [name] : []));
  }

  #checkTargets(step: Step): void {
    const { options, loop, place } = step;
    const { next, reject } = options;
    const isLast = isLastOf(step);
    if (next !== undefined) this.#checkTarget(step, next, [...place, 'next']);
    if (isLast && next !== undefined && next !== loop?.members[0]?.name) {
      const message = `The last step of a loop leads back to its first, ${loop?.members[0]?.name}. Remove \`next\`.`;
      this.#mistake('INVALID_LOOP', [...place, 'next'], message);
    }
    const at = [...place, 'reject'];
    if (reject === 'skip') {
      if (loop === null)
        this.#mistake('INVALID_LOOP', at, 'Only a step of a loop can skip an item. Name a step instead.');
      else if (isLast) {
        const fix = 'Put `reject: skip` on an earlier step, or name the step that does the work again.';
        this.#mistake('INVALID_LOOP', at, `The last step of a loop decides whether an item is done. ${fix}`);
      }
    } else if (reject !== undefined) {
      const to = isString(reject) ? reject : reject.to;
      this.#checkBound(step, reject, [...at, 'then']);
      this.#checkTarget(step, to, isString(reject) ? at : [...at, 'to']);
    }
    this.#checkAnswer(step);
  }

  #checkBound(step: Step, reject: Exclude<StepOptions['reject'], undefined>, place: SourcePath): void {
    if (isString(reject) || reject.then === undefined || reject.max !== undefined) return;
    const isBackwards = this.#steps.indexOf(step) >= this.#steps.findIndex(({ name }) => name === reject.to);
    if (isBackwards) return;
    const message = `\`then\` says what happens after \`max\` rejections, and one that leads forwards has no limit. Add \`max\`.`;
    this.#mistake('INVALID_CONFIG', place, message);
  }

  #checkAnswer({ options, place, loop, ...step }: Step): void {
    const { answers, reject, makes } = options;
    const at = [...place, 'answers'];
    const isLast = isLastOf({ ...step, options, place, loop });
    const routes = reject !== undefined || isLast;
    if (answers === 'text' && isLast) {
      this.#mistake(
        'INVALID_LOOP',
        at,
        'The last step of a loop answers a verdict, which decides whether the item is done. Remove `answers`.',
      );
    } else if (answers === 'text' && reject !== undefined) {
      this.#mistake('INVALID_CONFIG', at, 'A text rejects nothing. Remove `answers`, or remove `reject`.');
    } else if (answers === 'verdict' && !routes) {
      this.#mistake('INVALID_CONFIG', at, 'Nothing follows from this verdict. Add `reject`, or remove `answers`.');
    }
    if (makes === 'items' && (routes || answers !== undefined)) {
      const field = routes ? 'reject' : 'answers';
      this.#mistake(
        'INVALID_CONFIG',
        [...place, 'makes'],
        `A step that makes items has no \`${field}\`. Remove one of them.`,
      );
    }
  }

  #checkTarget({ loop }: Step, name: string, place: SourcePath): void {
    if (name === 'end') {
      if (loop === null) return;
      this.#mistake(
        'INVALID_LOOP',
        place,
        'A loop ends when all its items are done, so a step of it cannot lead to end. Use `reject: skip`.',
      );
      return;
    }
    const found = this.#steps.find((step) => step.name === name);
    if (name === 'skip') {
      const message = 'A skipped item does not come back, so `skip` has no limit. Write `reject: skip`.';
      this.#mistake('UNKNOWN_ENDPOINT', place, message);
      return;
    }
    if (!found) return this.#unknownStep(name, place, [...this.#steps.map((step) => step.name), 'end']);
    if (found.loop !== null && found.loop !== loop) {
      const message = `${name} is inside the loop over ${found.loop.generator}. Only steps of that loop lead there.`;
      this.#mistake('INVALID_LOOP', place, message);
    }
  }

  #unknownStep(name: string, place: SourcePath, known: readonly string[]): void {
    const near = nearestName(name, known);
    const guess = near === null ? '' : ` Did you mean ${near}?`;
    this.#mistake('UNKNOWN_ENDPOINT', place, `There is no step ${name}.${guess} There are: ${listed(known)}.`);
  }

  // Materia

  #addMateria(step: Step): void {
    const { name, options, place } = step;
    const isGenerator = this.#isGenerator(step);
    const { agent } = options;
    if (agent === undefined) {
      this.#define(name, { ...this.#definition(name, options), ...(isGenerator ? { generator: true } : {}) }, place);
      return;
    }
    const own = Object.fromEntries(
      Object.entries(options).filter(([field]) => Object.hasOwn(AGENT_FIELDS.fields, field)),
    );
    const more = { ...agentFields(own), ...(isGenerator ? { generator: true } : {}) };
    const shared = this.#materia.get(agent) ?? this.#stepMateria(agent);
    if (shared) this.#extend(agent, more, place);
    else if (Object.hasOwn(this.#around.materia, agent)) this.#checkForeign(step, more);
    else {
      const known = [...this.#materia.keys(), ...Object.keys(this.#around.materia)];
      const near = nearestName(agent, known);
      const guess = near === null ? '' : ` Did you mean ${near}?`;
      const fix = `Write it under \`agents\`, or name one of: ${listed(known)}.`;
      this.#mistake('UNKNOWN_MATERIA', [...place, 'agent'], `There is no agent ${agent}.${guess} ${fix}`);
    }
  }

  /** The materia of a step that another one uses, also of a later one. */
  #stepMateria(name: string): boolean {
    const step = this.#steps.find((each) => each.name === name && each.options.agent === undefined);
    if (!step) return false;
    this.#addMateria(step);
    return true;
  }

  #definition(name: string, options: AgentOptions): JsonObject {
    const { run, use, once } = options;
    const isOnce = once === true ? { once: true } : {};
    if (run !== undefined) return { type: 'utility', command: [...run], ...isOnce };
    if (use === undefined) return agentDefinition(options, name, this.#file.defaults);
    // Shipped scripts have names such as Detect-VCS, built-in utilities names such as vcs.detect.
    const which = /^[A-Z]/.test(use) ? { script: { kind: 'shippedUtility', name: use } } : { utility: use };
    return { type: 'utility', ...which, parse: 'json', ...isOnce };
  }

  #define(id: string, definition: JsonObject, place: SourcePath): void {
    const known = this.#materia.get(id);
    if (known) {
      if (known.place !== place && JSON.stringify(known.definition) !== JSON.stringify(definition)) {
        this.#mistake(
          'INVALID_CONFIG',
          place,
          `There is an agent ${id} already. Rename the step, or use \`agent: ${id}\`.`,
        );
      }
      return;
    }
    this.#materia.set(id, { place, definition });
  }

  /** A step may add to the agent that it shares, where no other step says otherwise. */
  #extend(id: string, more: JsonObject, place: SourcePath): void {
    const known = this.#materia.get(id);
    if (!known) return;
    const [extra] = Object.keys(more).filter((field) => field !== 'generator');
    if (known.definition.type === 'utility' && extra !== undefined) {
      const message = `${id} runs no agent, so it has no ${extra}. Remove ${extra}.`;
      this.#mistake('INVALID_CONFIG', [...place, extra], message);
      return;
    }
    for (const [field, value] of Object.entries(more)) {
      const before = known.definition[field];
      if (before === undefined || JSON.stringify(before) === JSON.stringify(value)) continue;
      const message = `Another step uses the agent ${id} with another ${field}. Write ${field} once, under \`agents\`, or make two agents.`;
      this.#mistake('INVALID_CONFIG', place, message);
    }
    this.#materia.set(id, { place: known.place, definition: { ...known.definition, ...more } });
  }

  #checkForeign({ options, place }: Step, more: JsonObject): void {
    const definition = this.#around.materia[options.agent ?? ''];
    const written = isObject(definition) ? definition : {};
    for (const [field, value] of Object.entries(more)) {
      if (JSON.stringify(written[field]) === JSON.stringify(value)) continue;
      const message = `config.json defines ${options.agent}, so its ${field} is written there: ${JSON.stringify({ [field]: value })}.`;
      this.#mistake('INVALID_CONFIG', [...place, 'agent'], message);
    }
  }

  #isGenerator({ name, options }: Step): boolean {
    return options.makes === 'items' || this.#loops.some(({ generator }) => generator === name);
  }

  // Sockets

  #socketOf(step: Step, index: number): JsonObject {
    const { name, options, loop, place, socket } = step;
    const shared = this.#file.agents?.[options.agent ?? ''];
    const { check = shared?.check, lock = shared?.lock } = options;
    const usual = isUtility(shared ?? options) ? undefined : this.#file.defaults?.timeout;
    const timeout = options.timeout ?? shared?.timeout ?? usual;
    const at = `loadouts.${this.#name}.sockets.${socket}`;
    for (const [field, option] of ORIGINS)
      if (options[option] !== undefined) this.#origins.set(`${at}.${field}`, [...place, option]);
    const own = Object.entries(options).filter(([field]) => field.startsWith('x_'));
    const edges = this.#edgesOf(step, index);
    for (const [number, { from }] of edges.entries()) {
      if (from !== null) this.#origins.set(`${at}.edges[${number}]`, [...place, from]);
    }
    const isLast = isLastOf(step);
    const isAdvancing = loop !== null && (isLast || options.reject === 'skip');
    const when = options.reject === 'skip' ? 'not_satisfied' : options.reject === undefined ? null : 'satisfied';
    return {
      label: name,
      materia: options.agent ?? name,
      ...this.#answerOf(step),
      ...(this.#isGenerator(step) ? { assign: { workItems: '$.workItems' } } : {}),
      ...(lock === undefined ? {} : { lockScope: [...lock] }),
      ...(timeout === undefined ? {} : { limits: { timeoutMs: millisecondsOf(timeout) } }),
      ...(check === undefined ? {} : { checkers: [...check] }),
      ...(isAdvancing
        ? { advance: { cursor: ITEMS.cursor, items: ITEMS.list, ...(when === null ? {} : { when }) } }
        : {}),
      ...(edges.length === 0 ? {} : { edges: edges.map(({ edge }) => edge) }),
      ...Object.fromEntries(own),
    };
  }

  #answerOf(step: Step): JsonObject {
    const { options } = step;
    const { answers } = options;
    if (this.#isGenerator(step)) return { parse: 'json' };
    if (answers === 'gaia' || answers === 'operator') return { contract: answers };
    if (options.reject !== undefined || isLastOf(step) || answers === 'verdict') return { parse: 'json' };
    const { use } = this.#file.agents?.[options.agent ?? ''] ?? options;
    return use === undefined || answers === 'text' ? { parse: 'text' } : {};
  }

  #edgesOf(step: Step, index: number): readonly { readonly edge: JsonObject; readonly from: string | null }[] {
    const { options, loop } = step;
    const { reject } = options;
    const first = loop?.members[0]?.socket;
    const named = options.next === undefined ? undefined : this.#socketNamed(options.next);
    const following = isLastOf(step) ? first : this.#steps[index + 1]?.socket;
    const next = named ?? following;
    const from = options.next === undefined ? null : 'next';
    if (reject === 'skip') {
      const edges = [{ edge: { when: 'satisfied', to: next ?? '' }, from }];
      return [...edges, { edge: { when: 'always', to: first ?? '' }, from: 'reject' }];
    }
    const onwards =
      next === undefined ? [] : [{ edge: { when: reject === undefined ? 'always' : 'satisfied', to: next }, from }];
    if (reject === undefined) return onwards;
    return [...onwards, { edge: this.#rejection(reject, index), from: 'reject' }];
  }

  #rejection(reject: Exclude<StepOptions['reject'], undefined>, index: number): JsonObject {
    const { to, max, then } = isString(reject) ? { to: reject, max: undefined, then: undefined } : reject;
    const target = this.#steps.findIndex(({ name }) => name === to);
    const isBackwards = target !== -1 && target <= index;
    const bound = max ?? (isBackwards ? REJECTIONS_MAX : undefined);
    return {
      when: 'not_satisfied',
      to: this.#socketNamed(to),
      ...(bound === undefined ? {} : { maxTraversals: bound }),
      ...(then === undefined ? {} : { then }),
    };
  }

  #socketNamed(name: string): string {
    return this.#steps.find((step) => step.name === name)?.socket ?? 'end';
  }

  #loopOf({ generator, members, parallel }: Loop): JsonObject {
    const last = members.at(-1);
    const after = last && this.#steps[this.#steps.indexOf(last) + 1]?.socket;
    const advancing = members.filter((step) => isLastOf(step) || step.options.reject === 'skip');
    const exits = advancing.map(({ socket }) => ({
      id: `exit:${socket}:always`,
      from: socket,
      condition: 'always',
      targetSocketId: after ?? '',
    }));
    return {
      sockets: members.map(({ socket }) => socket),
      consumes: { from: this.#socketNamed(generator), output: ITEMS.output },
      ...(parallel === null ? {} : { parallel: { maxConcurrency: parallel } }),
      ...(after === undefined ? {} : { exits }),
    };
  }
}

/** Fields of a socket that come from one option. */
const ORIGINS = [
  ['lockScope', 'lock'],
  ['limits', 'timeout'],
  ['checkers', 'check'],
  ['materia', 'agent'],
  ['advance', 'reject'],
] as const;

/** `lock[1]`, or the file itself. */
function spoken(place: SourcePath): string {
  const from = place.findLastIndex(isString);
  if (from === -1) return 'The file';
  return place
    .slice(from)
    .map((key) => (isString(key) ? key : `[${key}]`))
    .join('');
}

function isLastOf(step: Step): boolean {
  return step.loop !== null && step.loop.members.at(-1)?.name === step.name;
}

function isUtility({ run, use }: AgentOptions): boolean {
  return run !== undefined || use !== undefined;
}

function agentDefinition(options: AgentOptions, name: string, defaults: ShortForm['defaults'] = {}): JsonObject {
  const { prompt, promptFile } = options;
  const { runner, model, tools = 'read' } = defaults;
  const common = agentFields({
    ...(runner === undefined ? {} : { runner }),
    ...(model === undefined ? {} : { model }),
    tools,
  });
  const file = prompt === undefined && promptFile === undefined ? { promptFile: `prompts/${name}.md` } : {};
  return { type: 'agent', ...file, ...common, ...agentFields(options) };
}

function valueAt(value: Json, [first, ...rest]: SourcePath): Json | undefined {
  if (first === undefined) return value;
  const within = Array.isArray(value) ? value[Number(first)] : isObject(value) ? value[first] : undefined;
  return within === undefined ? undefined : valueAt(within, rest);
}

/** The fields of a materia that the options of an agent set. */
function agentFields({ prompt, promptFile, tools, runner, model, once, talk }: AgentOptions): JsonObject {
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(promptFile === undefined ? {} : { promptFile }),
    ...(tools === undefined ? {} : { tools: TOOL_NAMES[tools] }),
    ...(runner === undefined ? {} : { runner }),
    ...(model === undefined ? {} : { model }),
    ...(once === true ? { onCrash: 'wait' } : {}),
    ...(talk === true ? { multiTurn: true } : {}),
  };
}
