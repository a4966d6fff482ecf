// From a person's wish to what a cast is started with: the configuration is found, checked and resolved, the script read.
import { existsSync } from 'node:fs';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, issuesOf } from '../kernel/graph/check.ts';
import type { Issue, Rules, Script } from '../kernel/graph/config.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import { isObject, isText, type Json, type JsonObject } from '../kernel/json.ts';
import { type Loaded, loadConfig, readJsonFile, UnreadableFile } from './load-config.ts';
import type { Workspace } from './locate.ts';

export type Plan = {
  readonly loadout: string;
  readonly rules: Rules;
  readonly script: Script | null;
  readonly warnings: readonly Issue[];
};

export type Wish = {
  readonly workspace: Workspace;
  readonly file: string | undefined;
  readonly loadout: string | undefined;
  readonly agents: string | undefined;
  readonly cwd: string;
};

export function locateCast(wish: Wish): { ok: true; plan: Plan } | { ok: false; issues: readonly Issue[] } {
  const loaded = loadFor(wish);
  const script = wish.agents === undefined ? null : readScript(resolvePath(wish.cwd, wish.agents));
  const all = [...loaded.issues, ...check(loaded.config)];
  const { config } = loaded;
  const name = isObject(config) ? loadoutName(config, wish.loadout) : null;
  if (name === null || !isObject(config)) {
    const unnamed = all.some(({ level }) => level === 'error') ? [] : [noLoadout(config, wish.loadout)];
    return { ok: false, issues: [...unnamed, ...all] };
  }
  const mine = issuesOf(all, name, config);
  if (mine.some(({ level }) => level === 'error')) return { ok: false, issues: mine };
  const rules = absoluteCommands(resolve(config, name), loaded.baseDir);
  const unready = unsupported(rules, name);
  if (unready.length > 0) return { ok: false, issues: unready };
  return { ok: true, plan: { loadout: name, rules, script, warnings: mine } };
}

/** The named file; else the project's own configuration; else, without one, what ships with the product. */
export function loadFor({
  file,
  workspace,
  cwd,
  loadout,
}: Pick<Wish, 'file' | 'workspace' | 'cwd' | 'loadout'>): Loaded {
  if (file !== undefined) return loadConfig(resolvePath(cwd, file));
  if (!existsSync(workspace.configFile)) return loadConfig(BUNDLED);
  const own = loadConfig(workspace.configFile);
  return loadout !== undefined && !has(own.config, loadout) && has(loadConfig(BUNDLED).config, loadout)
    ? loadConfig(BUNDLED)
    : own;
}

/** `src/bundled` in a checkout, `dist/bundled` in the package. */
export const BUNDLED = join(dirname(fileURLToPath(import.meta.url)), '..', 'bundled', 'config.json');

function has(config: Json, loadout: string): boolean {
  return isObject(config) && isObject(config.loadouts) && Object.hasOwn(config.loadouts, loadout);
}

function loadoutName(config: JsonObject, wanted: string | undefined): string | null {
  const names = isObject(config.loadouts) ? Object.keys(config.loadouts) : [];
  if (wanted !== undefined) return names.includes(wanted) ? wanted : null;
  if (isText(config.activeLoadout)) return names.includes(config.activeLoadout) ? config.activeLoadout : null;
  return names[0] ?? null;
}

function noLoadout(config: Json, wanted: string | undefined): Issue {
  const names = isObject(config) && isObject(config.loadouts) ? Object.keys(config.loadouts) : [];
  const known = names.length > 0 ? `use one of: ${names.join(', ')}` : 'define one under loadouts';
  const message =
    wanted === undefined ? `there is no loadout to cast; ${known}` : `there is no loadout ${wanted}; ${known}`;
  return { code: 'INVALID_CONFIG', level: 'error', path: 'loadouts', message };
}

/** What is checked but cannot be run yet is refused by name instead of being run as something else. */
function unsupported(rules: Rules, loadout: string): Issue[] {
  return Object.values(rules.materia).flatMap((materia): Issue[] =>
    materia.type === 'agent' && materia.multiTurn
      ? [
          {
            code: 'INVALID_MATERIA',
            level: 'error',
            path: `materia.${materia.id}.multiTurn`,
            message: `multi-turn sockets cannot be cast by this version; remove multiTurn to cast ${loadout}`,
          },
        ]
      : [],
  );
}

/** A command's relative script belongs to the file that declares it, wherever the cast runs. */
function absoluteCommands(rules: Rules, baseDir: string): Rules {
  const materia = Object.fromEntries(
    Object.entries(rules.materia).map(([id, value]) =>
      value.type === 'utility' && value.command
        ? [id, { ...value, command: resolveScript(value.command, baseDir) }]
        : [id, value],
    ),
  );
  return { ...rules, materia };
}

function resolveScript(command: readonly string[], baseDir: string): readonly string[] {
  const isScript = (word: string | undefined) => word !== undefined && /^\.\/.*\.[mc]?js$/.test(word);
  const [program = '', first = '', ...rest] = command;
  if (isScript(program)) return ['node', join(baseDir, program), ...command.slice(1)];
  return program === 'node' && isScript(first) ? [program, join(baseDir, first), ...rest] : command;
}

export function readScript(file: string): Script {
  const script = readJsonFile(file);
  if (!isObject(script)) throw new UnreadableFile(`${file}: a script is an object of lists of turns`);
  for (const [key, turns] of Object.entries(script)) {
    if (!Array.isArray(turns)) throw new UnreadableFile(`${file}: the turns of ${key} must be a list`);
    if (turns.indexOf('$repeat') !== -1 && (turns.indexOf('$repeat') !== turns.length - 1 || turns.length === 1)) {
      throw new UnreadableFile(`${file}: "$repeat" under ${key} must be the last of at least two elements`);
    }
  }
  return script as unknown as Script;
}
