// Converts a configuration of the original Materia into one of ours. What our format has is carried over, older spellings are written in
// the present one, and every field that cannot be carried over is reported with the reason and what to do. It is a pure function; what it
// answers passes the checks, because a loadout that does not is left out and reported.
import { messageOf } from '../kernel/field-schema.ts';
import { type Field, mismatches, type ObjectField } from '../kernel/fields.ts';
import { check, issuesOf } from '../kernel/graph/check.ts';
import type { UtilityNames } from '../kernel/graph/check-materia.ts';
import { CONFIG } from '../kernel/graph/config-fields.ts';
import { EDGE, EXIT, LOADOUT, LOOP, SOCKET } from '../kernel/graph/loadout-fields.ts';
import { AGENT, UTILITY } from '../kernel/graph/materia-fields.ts';
import { isObject, isString, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../kernel/json.ts';

/** One field that is not as it was: left out, or written in another way. */
export type ImportNote = {
  readonly path: string;
  readonly kind: 'left out' | 'changed';
  readonly reason: string;
  readonly fix: string;
};

export type Imported = { readonly config: JsonObject; readonly notes: readonly ImportNote[] };

type Shipped = {
  readonly utilities: UtilityNames;
  /** What ships under the name, without anything that ties it to the registry that ships; null where nothing does. */
  readonly materia: (name: string) => JsonObject | null;
};

/** Sections of the original that mean something here, too. */
const SECTIONS = ['activeLoadout', 'activeLoadoutId', 'budget', 'limits', 'parallelism', 'compaction'];

/** What replaces a section that nothing here reads. */
const REPLACED: Readonly<Record<string, string>> = {
  artifactDir: 'Casts are kept in the log; look with `baton show CAST`, or write one with `baton export CAST`',
  finalization: 'Every answer is read as JSON; nothing has to be set',
  eventing: 'Set `notify`, or the sinks for events, again; addresses and secrets are not taken over',
  roles: 'Define each role as a materia',
  materiaDefinitions: 'Rename it to materia and import again',
};

export function importMateria(written: JsonObject, shipped: Shipped): Imported {
  return new Importer(written, shipped).run();
}

class Importer {
  readonly #notes: ImportNote[] = [];
  readonly #written: JsonObject;
  readonly #shipped: Shipped;
  readonly #materia = new Map<string, JsonObject>();

  constructor(written: JsonObject, shipped: Shipped) {
    this.#written = written;
    this.#shipped = shipped;
  }

  run(): Imported {
    const sections: Record<string, Json> = {};
    for (const [name, value] of Object.entries(this.#written)) {
      if (name === 'materia' || name === 'loadouts' || name === '$schema') continue;
      const kept = SECTIONS.includes(name) ? this.#fitting(value, CONFIG.fields[name] as Field, name) : undefined;
      if (kept !== undefined) sections[name] = kept;
      else if (!SECTIONS.includes(name))
        this.#leave(name, 'Baton has no such section', REPLACED[name] ?? 'Leave it out');
    }
    for (const [id, one] of Object.entries(objectAt(this.#written, 'materia'))) {
      const path = `materia.${id}`;
      if (isObject(one)) this.#materia.set(id, this.#convertMateria(one, path));
      else
        this.#leave(
          path,
          'It deletes a definition of a lower layer',
          `Write "${id}": null into the layer that shall delete it`,
        );
    }
    const loadouts: Record<string, Json> = {};
    for (const [name, one] of Object.entries(objectAt(this.#written, 'loadouts'))) {
      const path = `loadouts.${name}`;
      if (isObject(one)) loadouts[name] = this.#loadout(one, path);
      else
        this.#leave(
          path,
          'It deletes a loadout of a lower layer',
          `Write "${name}": null into the layer that shall delete it`,
        );
    }
    return this.#checked(sections, loadouts);
  }

  /** Leaves out what does not pass the checks. */
  #checked(sections: JsonObject, loadouts: JsonObject): Imported {
    const materia = Object.fromEntries(this.#materia);
    const all = { ...sections, materia, loadouts };
    const issues = check(all, { utilities: this.#shipped.utilities });
    const sound = Object.entries(loadouts).filter(([name]) => {
      const [error] = issuesOf(issues, name, all).filter(
        ({ level, path }) => level === 'error' && /^(?:loadouts|materia)\./.test(path),
      );
      if (error)
        this.#leave(
          `loadouts.${name}`,
          `${error.path}: ${error.message}`,
          'Correct it in the original, and import again',
        );
      return !error;
    });
    const broken = new Set(
      issues.flatMap(({ level, path }) => (level === 'error' ? [/^materia\.(.*)$/.exec(path)?.[1] ?? ''] : [])),
    );
    const kept = Object.entries(materia).filter(([id]) => {
      const at = [...broken].find((path) => path === id || path.startsWith(`${id}.`));
      const isBroken = at !== undefined;
      if (isBroken) {
        const why = issues.find(({ path }) => path === `materia.${at}`)?.message ?? 'it does not check';
        this.#leave(`materia.${id}`, why, 'Correct it in the original, and import again');
      }
      return !isBroken;
    });
    const names = sound.map(([name]) => name);
    const config: Record<string, Json> = {
      ...sections,
      materia: Object.fromEntries(kept),
      loadouts: Object.fromEntries(sound),
    };
    const active = stringAt(sections, 'activeLoadout');
    if (active !== null && !names.includes(active)) {
      delete config.activeLoadout;
      this.#leave('activeLoadout', `there is no loadout ${active} here`, 'Set activeLoadout to one of the loadouts');
    }
    const ids = sound.map(([, one]) => stringAt(one as JsonObject, 'id'));
    if (config.activeLoadoutId !== undefined && !ids.includes(stringAt(sections, 'activeLoadoutId'))) {
      delete config.activeLoadoutId;
      this.#leave('activeLoadoutId', 'there is no loadout with this id here', 'Set activeLoadout');
    }
    return { config, notes: this.#notes };
  }

  #leave(path: string, reason: string, fix: string): void {
    this.#notes.push({ path, kind: 'left out', reason: reason.replace(/\.$/, ''), fix: fix.replace(/\.$/, '') });
  }

  #change(path: string, reason: string, fix: string): void {
    this.#notes.push({ path, kind: 'changed', reason, fix });
  }

  /** The members of a value that fit their table; the others are reported. */
  #fitting(value: Json | undefined, table: Field, path: string): Json | undefined {
    if (value === undefined) return undefined;
    if (isObject(value) && table.type === 'object') return this.#members(value, table, path);
    const [first] = mismatches(value, table);
    if (!first) return value;
    this.#leave(path, messageOf(first), 'Write it as the reference of the configuration says');
    return undefined;
  }

  #members(value: JsonObject, table: ObjectField, path: string): JsonObject {
    const kept: Record<string, Json> = {};
    for (const [name, each] of Object.entries(value)) {
      const field = table.fields[name];
      const at = `${path}.${name}`;
      if (each === null)
        this.#leave(at, 'It deletes a value of a lower layer', 'Write it into the layer that shall delete it');
      else if (name.startsWith('x_')) kept[name] = each;
      else if (!field)
        this.#leave(at, 'Baton has no such field', 'Leave it out, or keep it under a name that begins with x_');
      else if (field.obsolete !== undefined) this.#leave(at, 'Nothing reads it any more', field.obsolete);
      else if (field.ignored) this.#leave(at, 'Nothing reads it, here and in the original', 'Leave it out');
      else {
        const [first] = mismatches(each, field);
        if (first) this.#leave(at, messageOf(first), 'Write it as the reference of the configuration says');
        else kept[name] = each;
      }
    }
    return kept;
  }

  // Materia

  #convertMateria(one: JsonObject, path: string): JsonObject {
    const isUtility =
      one.type === 'utility' ||
      ['utility', 'command', 'script'].some((field) => one[field] !== undefined && one[field] !== null);
    if (!isUtility) return this.#agent(one, path);
    const { script, ...rest } = one;
    const { prompt: _prompt, ...fitting } = this.#members(rest, UTILITY, path);
    const name = isString(script) ? script : isObject(script) ? stringAt(script, 'name') : null;
    if (script !== undefined && script !== null && name === null)
      this.#leave(`${path}.script`, 'It names no script', 'Name one, or write a command');
    if (name !== null) {
      if (this.#shipped.utilities.scripts.includes(name))
        return { ...fitting, script: { kind: 'shippedUtility', name } };
      return this.#byPerson(fitting, `${path}.script`, `Baton has no script ${name}`, name);
    }
    const utility = stringAt(fitting, 'utility');
    if (utility !== null && !this.#shipped.utilities.aliases.includes(utility)) {
      const { utility: _utility, ...others } = fitting;
      if (!/^vcs\./.test(utility))
        return this.#byPerson(others, `${path}.utility`, `Baton has no utility ${utility}`, utility);
      // Lanes get worktrees without being asked, and their work is merged back.
      const reason = `Baton has no utility ${utility}: it gives each lane a worktree by itself, and merges its work`;
      this.#change(`${path}.utility`, reason, 'Remove the socket where nothing reads its state');
      return { ...others, utility: 'echo', parse: 'json', params: { output: { satisfied: true } } };
    }
    const { command } = fitting;
    const own = Array.isArray(command) ? command.filter((word) => isString(word) && word.startsWith('./')) : [];
    if (own.length > 0)
      this.#change(
        `${path}.command`,
        `${own.join(', ')} is looked up in .baton`,
        'Copy the script there, next to config.json',
      );
    const isSource = utility !== null || command !== undefined;
    // In the original an output alone was a utility, too.
    return isSource ? fitting : { ...fitting, utility: 'echo' };
  }

  #agent(one: JsonObject, path: string): JsonObject {
    const { tools, ...rest } = one;
    const kept = this.#members(rest, AGENT, path);
    const named = isObject(tools) && tools.type === 'custom' ? listAt(tools, 'tools').filter(isText) : null;
    const [misfit] = tools === undefined ? [] : mismatches(tools, AGENT.fields.tools as Field);
    if (named?.length === 0 || misfit || tools === undefined) {
      const reason = tools === undefined ? 'It says no tools' : 'Its tools cannot be read';
      this.#change(`${path}.tools`, `${reason}, so the agent reads only`, 'Write none, readOnly, readAndRun or coding');
      return { ...kept, tools: 'readOnly' };
    }
    if (named) {
      const fix =
        'Look whether the runner has tools of these names; readOnly, readAndRun and coding mean the same for every runner';
      this.#change(`${path}.tools`, `${named.join(', ')} are names of tools of another program`, fix);
    }
    return { ...kept, tools: tools as Json };
  }

  /** What no program of ours does is done by a person, so that the loadout can be cast and nothing is skipped in silence. */
  #byPerson(fitting: JsonObject, path: string, reason: string, name: string): JsonObject {
    this.#change(
      path,
      `${reason}, so a person does this step`,
      'Write a command that does it: "command": ["program", "argument"]',
    );
    const { label, description, group, color, parse, generator } = fitting;
    const words = { label, description, group, color, parse, generator };
    const kept = Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined)) as JsonObject;
    return {
      ...kept,
      type: 'agent',
      runner: 'person',
      tools: 'none',
      prompt: `Do what ${name} did, and say what came of it.`,
    };
  }

  // Loadouts

  #loadout(one: JsonObject, path: string): JsonObject {
    const ids = this.#newIds(objectAt(one, 'sockets'), path);
    const idOf = (id: Json | undefined): string => (isString(id) ? (ids.get(id) ?? id) : '');
    const { sockets: _sockets, loops, entry, layout, ...rest } = one;
    const kept = this.#members(rest, LOADOUT, path);
    const sockets = Object.fromEntries(
      Object.entries(objectAt(one, 'sockets')).flatMap(([id, socket]) => {
        const at = `${path}.sockets.${id}`;
        if (isObject(socket) && isText(socket.materia)) return [[idOf(id), this.#socket(socket, at, idOf)]];
        this.#leave(at, 'Nothing is placed there', 'Place a materia, and import again');
        return [];
      }),
    );
    const first = Object.keys(sockets)[0] ?? 'Socket-1';
    if (entry === undefined && Object.keys(sockets).length > 0)
      this.#change(
        `${path}.entry`,
        `No entry is named, so the first socket is it: ${first}`,
        'Name another one where that is wrong',
      );
    const graph = this.#withoutDeadEdges(sockets, path);
    const regions = Object.entries(objectAt({ loops: loops ?? {} }, 'loops')).flatMap(([id, loop]) =>
      isObject(loop) ? [[id, this.#loop(loop, `${path}.loops.${id}`, idOf, graph)] as const] : [],
    );
    const read = this.#asJson(graph, path);
    return {
      ...kept,
      entry: entry === undefined ? first : idOf(entry),
      sockets: read,
      ...(regions.length === 0 ? {} : { loops: Object.fromEntries(regions) }),
      ...this.#layout(objectAt({ layout: layout ?? {} }, 'layout'), objectAt(one, 'sockets'), idOf),
    };
  }

  /** Names of sockets that are none become Socket-N, in their order. */
  #newIds(sockets: JsonObject, path: string): ReadonlyMap<string, string> {
    const isId = (id: string) => /^Socket-[1-9]\d*$/.test(id);
    const all = Object.keys(sockets);
    const taken = new Set(all.filter(isId));
    const ids = new Map<string, string>();
    let number = 1;
    for (const id of all) {
      if (isId(id)) continue;
      while (taken.has(`Socket-${number}`)) number++;
      taken.add(`Socket-${number}`);
      ids.set(id, `Socket-${number}`);
      this.#change(
        `${path}.sockets.${id}`,
        `A socket is called Socket-N; it becomes Socket-${number}`,
        'Its name stays as its label',
      );
    }
    return ids;
  }

  #socket(one: JsonObject, path: string, idOf: (id: Json | undefined) => string): JsonObject {
    const { edges, advance, foreach, limits, timeoutMs, layout: _layout, socketKind: _kind, ...rest } = one;
    const materia = stringAt(one, 'materia') ?? '';
    this.#use(materia, `${path}.materia`);
    const kept = this.#members(rest, SOCKET, path);
    const name = path.slice(path.lastIndexOf('.') + 1);
    const label = idOf(name) !== name && kept.label === undefined ? { label: name } : {};
    const bounds = {
      ...this.#members(
        objectAt({ limits: limits ?? {} }, 'limits'),
        SOCKET.fields.limits as ObjectField,
        `${path}.limits`,
      ),
    };
    if (typeof timeoutMs === 'number' && timeoutMs > 0) bounds.timeoutMs = Math.ceil(timeoutMs);
    const lines = (Array.isArray(edges) ? edges : []).flatMap((edge, at) =>
      isObject(edge) ? [this.#edge(edge, `${path}.edges[${at}]`, idOf)] : [],
    );
    return {
      ...kept,
      ...label,
      ...(lines.length === 0 ? {} : { edges: lines }),
      ...(isObject(advance) ? { advance: this.#walk(advance, `${path}.advance`) } : {}),
      ...(isObject(foreach) ? { foreach: this.#walk(foreach, `${path}.foreach`) } : {}),
      ...(Object.keys(bounds).length === 0 ? {} : { limits: bounds }),
    };
  }

  /** A materia that the file does not define may ship; else a person takes its place. */
  #use(name: string, path: string): void {
    if (this.#materia.has(name)) return;
    const shipped = this.#shipped.materia(name);
    if (shipped) {
      this.#change(
        path,
        `${name} is not defined in the file; the one that ships with Baton is copied`,
        'Compare its prompt with the one you used',
      );
      this.#materia.set(name, shipped);
    } else
      this.#materia.set(
        name,
        this.#byPerson({}, path, `${name} is not defined in the file and ships with nothing here`, name),
      );
  }

  #edge(one: JsonObject, path: string, idOf: (id: Json | undefined) => string): JsonObject {
    const { maxTraversals, when, to, ...rest } = one;
    const kept = this.#members(rest, EDGE, path);
    const isBound = typeof maxTraversals === 'number' && Number.isSafeInteger(maxTraversals) && maxTraversals > 0;
    if (maxTraversals !== undefined && !isBound)
      this.#leave(
        `${path}.maxTraversals`,
        `${JSON.stringify(maxTraversals)} meant no bound`,
        'Write how often it may be taken for one item',
      );
    return {
      ...kept,
      when: this.#condition(when, `${path}.when`) ?? 'always',
      to: to === 'end' ? 'end' : idOf(to),
      ...(isBound ? { maxTraversals } : {}),
    };
  }

  #condition(when: Json | undefined, path: string): string | null {
    if (isString(when) && ['always', 'satisfied', 'not_satisfied'].includes(when)) return when;
    if (!isString(when)) return null;
    const [, not = '', operator = '==', value = ''] =
      /^\s*(!?)\s*(?:\$\.|lastJson\.|state\.)?(?:satisfied|passed)\s*(?:(==|!=)\s*(true|false))?\s*$/.exec(when) ?? [];
    if (!/satisfied|passed/.test(when) || (not === '' && value === '' && !/^\s*[$\w.]+\s*$/.test(when))) {
      this.#leave(
        path,
        `${JSON.stringify(when)} is an expression, and there are none`,
        'Write satisfied, not_satisfied or always, or ask for a field of the answer',
      );
      return null;
    }
    const isTrue = (not === '') === ((value === 'false') === (operator === '!='));
    const name = isTrue ? 'satisfied' : 'not_satisfied';
    this.#change(
      path,
      `${JSON.stringify(when)} is written as ${name}`,
      'The agent answers with satisfied, which its brief says',
    );
    return name;
  }

  #walk(one: JsonObject, path: string): JsonObject {
    const { when, done, ...rest } = one;
    if (done !== undefined && done !== 'end')
      this.#leave(`${path}.done`, 'It routes nowhere, here and in the original', 'Write an exit of the loop');
    const kept = when === undefined ? null : this.#condition(when, `${path}.when`);
    return { ...rest, ...(kept === null ? {} : { when: kept }) };
  }

  /** Edges to sockets that are not there, and those after one that is always taken. */
  #withoutDeadEdges(sockets: Readonly<Record<string, JsonObject>>, path: string): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries(
      Object.entries(sockets).map(([id, socket]) => {
        const all = listAt(socket, 'edges').filter(isObject);
        const last = all.findIndex(({ when }) => when === 'always');
        const edges = all.filter((edge, at) => {
          const where = `${path}.sockets.${id}.edges[${at}]`;
          const isThere = edge.to === 'end' || Object.hasOwn(sockets, String(edge.to));
          const isAfter = last !== -1 && at > last;
          if (!isThere) this.#leave(where, `there is no socket ${edge.to}`, 'Lead it to a socket that is there');
          else if (isAfter)
            this.#leave(where, 'an edge before it is always taken', 'Write it before the one with always');
          return isThere && !isAfter;
        });
        const { edges: _edges, ...rest } = socket;
        return [id, edges.length === 0 ? rest : { ...rest, edges }];
      }),
    );
  }

  #loop(one: JsonObject, path: string, idOf: (id: Json | undefined) => string, sockets: JsonObject): JsonObject {
    const { sockets: members, consumes, exit, exits, label, iterator, ...rest } = one;
    const kept = this.#members(rest, LOOP, path);
    const names = listAt({ members: members ?? [] }, 'members')
      .map(idOf)
      .filter((id) => Object.hasOwn(sockets, id));
    const routes = listAt({ exits: exits ?? [] }, 'exits').flatMap((each, at): JsonObject[] => {
      if (!isObject(each)) return [];
      const target = idOf(each.targetSocketId);
      if (each.targetSocketId === 'end' || !Object.hasOwn(sockets, target)) {
        this.#leave(
          `${path}.exits[${at}]`,
          `it leads to ${each.targetSocketId}; a loop without a route ends the cast`,
          'Name a socket where something follows',
        );
        return [];
      }
      const { from, targetSocketId: _target, ...others } = each;
      return [{ ...this.#members(others, EXIT, `${path}.exits[${at}]`), from: idOf(from), targetSocketId: target }];
    });
    const old = isObject(exit)
      ? { exit: { ...exit, from: idOf(exit.from), to: exit.to === 'end' ? 'end' : idOf(exit.to) } }
      : {};
    if (isObject(exit))
      this.#change(
        `${path}.exit`,
        'It is the older spelling of exits, and is read as it was',
        'Write exits where you edit the loop',
      );
    return {
      ...kept,
      ...(isText(label) ? { x_label: label } : {}),
      sockets: names,
      ...(isObject(consumes) ? { consumes: this.#consumed(consumes, `${path}.consumes`, names, idOf, sockets) } : {}),
      ...(isObject(iterator) ? { iterator: this.#walk(iterator, `${path}.iterator`) } : {}),
      ...old,
      ...(routes.length === 0 ? {} : { exits: routes }),
    };
  }

  /** The one generator whose edge enters the loop is the one that it consumes, whatever older metadata says. */
  #consumed(
    one: JsonObject,
    path: string,
    members: readonly string[],
    idOf: (id: Json | undefined) => string,
    sockets: JsonObject,
  ): JsonObject {
    const from = idOf(one.from);
    const entering = Object.entries(sockets).filter(([id, socket]) => {
      const isGenerator = this.#materia.get(String((socket as JsonObject).materia))?.generator === true;
      const leads = listAt(socket as JsonObject, 'edges').some(
        (edge) => isObject(edge) && members.includes(String(edge.to)),
      );
      return !members.includes(id) && isGenerator && leads;
    });
    const [only, another] = entering.map(([id]) => id);
    const { from: _from, done: _done, ...rest } = one;
    if (only === undefined || another !== undefined || only === from) return { ...rest, from };
    this.#change(
      `${path}.from`,
      `the edge of ${only} enters the loop, not that of ${from}`,
      'Nothing; the original reads it so, too',
    );
    return { ...rest, from: only };
  }

  /** Guarded edges and paths into the answer need JSON. In the original such edges never matched, and the cast ended. */
  #asJson(sockets: Readonly<Record<string, JsonObject>>, path: string): JsonObject {
    return Object.fromEntries(
      Object.entries(sockets).map(([id, socket]) => {
        const materia = this.#materia.get(String(socket.materia)) ?? {};
        const parse = socket.parse ?? materia.parse ?? 'text';
        const when = [...listAt(socket, 'edges'), objectAt(socket, 'advance')].map((each) =>
          isObject(each) ? each.when : null,
        );
        const isGuarded = when.some((each) => each === 'satisfied' || each === 'not_satisfied');
        const isRead = Object.values(objectAt(socket, 'assign')).some(
          (from) => isString(from) && from.startsWith('$.'),
        );
        if (parse === 'json' || materia.generator === true || !(isGuarded || isRead)) return [id, socket];
        const why = isGuarded ? 'its edges ask for satisfied' : 'its assign reads fields of the answer';
        this.#change(
          `${path}.sockets.${id}.parse`,
          `${why}, so its answer is read as JSON`,
          'Nothing; as text that never matched',
        );
        return [id, { ...socket, parse: 'json' }];
      }),
    );
  }

  #layout(layout: JsonObject, sockets: JsonObject, idOf: (id: Json | undefined) => string): JsonObject {
    const own = Object.entries(sockets).flatMap(([id, socket]) =>
      isObject(socket) && isObject(socket.layout) ? [[idOf(id), socket.layout] as const] : [],
    );
    const moved = Object.entries(objectAt(layout, 'sockets')).map(([id, at]) => [idOf(id), at] as const);
    const all = Object.fromEntries([...own, ...moved]);
    return Object.keys(all).length === 0 ? {} : { layout: { sockets: all } };
  }
}
