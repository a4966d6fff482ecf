// The loadouts of a folder: lists them, prints one in the long form, and draws one, or a cast with the way that it took.
import { basename, extname, resolve } from 'node:path';
import { isOver } from '../../kernel/cast/state.ts';
import { ACTIVE_FIELDS } from '../../kernel/graph/check-config.ts';
import type { Issue, Rules } from '../../kernel/graph/config.ts';
import { isObject, isText, type Json, type JsonObject, objectAt } from '../../kernel/json.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import { BUNDLED, loadAll, loadFor, mayBeTeam } from '../../workspace/find-config.ts';
import { type Loaded, loadConfig } from '../../workspace/load-config.ts';
import { UsageError } from '../../workspace/locate.ts';
import { locateCast, noLoadout } from '../../workspace/plan.ts';
import { inputsIn } from '../driving/cast-inputs.ts';
import { askWhich, refusedPlan } from '../driving/check-start.ts';
import { nameCast } from '../name-cast.ts';
import { foldAll } from '../views/cast-view.ts';
import { drawMermaid, drawSvg, drawText } from '../views/draw-graph.ts';
import { type DrawnProgress, drawingOf, wayIn } from '../views/graph-drawing.ts';
import { pathOf } from '../views/shown-cast.ts';
import type { Workspace } from '../workspace.ts';
import { issuesIn } from './check.ts';
import type { Operation } from './table.ts';

/** The loadouts that a cast can run here, each with its steps and its first mistake. */
export const loadoutList: Operation<'loadout.list'> = async (workspace) => {
  const loadouts: JsonObject[] = [];
  const usual = usualName(workspace);
  for (const loaded of [...loadAll(workspace), loadConfig(BUNDLED)]) {
    const issues = await issuesIn(loaded, workspace, false);
    const isBundled = loaded.file === BUNDLED;
    for (const name of namesIn(loaded)) {
      // One of the project takes the place of the bundled one, which is listed once.
      if (isBundled && loadouts.some((listed) => listed.name === name)) continue;
      const loadout = objectAt(objectAt(objectOf(loaded.config), 'loadouts'), name);
      const steps = stepsOf(loadout);
      const [first] = issues.filter((issue) => issue.level === 'error' && isAbout(issue, name, steps));
      loadouts.push({
        ...{ name, file: loaded.file, steps, isUsual: name === usual, ...(isBundled ? { isBundled } : {}) },
        ...(isText(loadout.description) ? { description: loadout.description } : {}),
        ...inputsIn(loadout),
        issue: first ? { code: first.code, path: first.path, message: first.message } : null,
      });
    }
  }
  return allow(`${loadouts.length} loadouts`, { loadouts });
};

/** The loadout that a cast runs where none is named. */
function usualName(workspace: Workspace): string | null {
  const { config } = loadFor({ workspace, cwd: workspace.cwd, file: undefined, loadout: undefined });
  const { activeLoadout } = objectOf(config);
  const names = Object.keys(objectAt(objectOf(config), 'loadouts'));
  return isText(activeLoadout) ? activeLoadout : names.length === 1 ? (names[0] ?? null) : null;
}

/** What is in the file itself: a short form is loaded over config.json. One that cannot be read has the name of its file. */
function namesIn({ source, config, file }: Loaded): readonly string[] {
  if (config === null) return [basename(file, extname(file))];
  return Object.keys(objectAt(source ? source.compiled : objectOf(config), 'loadouts'));
}

function stepsOf(loadout: JsonObject): readonly string[] {
  const names = Object.values(objectAt(loadout, 'sockets')).map((socket) => (isObject(socket) ? socket.materia : null));
  return [...new Set(names.filter(isText))];
}

/** A mistake of the file as a whole is one of each loadout in it. Which one is active concerns only casts that name none. */
function isAbout({ path }: Issue, name: string, steps: readonly string[]): boolean {
  if (ACTIVE_FIELDS.includes(path)) return false;
  const [section, of] = path.split('.');
  if (section === 'loadouts') return of === name;
  return section !== 'materia' || of === undefined || steps.includes(of);
}

function objectOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

/** The long form of a loadout in the short form, as `cast` would use it. */
export const compileLoadout: Operation<'compile'> = async (workspace, { loadout: word }) => {
  const { cwd } = workspace;
  const isFile = word !== undefined && mayBeTeam(word);
  const loaded = loadFor({
    workspace,
    cwd,
    file: isFile ? resolve(cwd, word) : undefined,
    loadout: isFile ? undefined : word,
  });
  const [first] = loaded.issues;
  if (loaded.config === null) {
    const reason = first?.message ?? 'the file cannot be compiled';
    return deny(first?.code ?? 'INVALID_CONFIG', reason, { file: loaded.file, issues: [...loaded.issues] });
  }
  if (!loaded.source) {
    const names = Object.keys(objectAt(objectOf(loaded.config), 'loadouts'));
    const isName = word !== undefined && !/[./]/.test(word);
    if (isName && names.length > 0 && !names.includes(word)) throw noLoadout(word, names);
    if (isName)
      throw new UsageError(
        `${word} is written in the JSON form already; \`${workspace.program} loadout open ${word}\` prints it`,
      );
    const what = word === undefined ? 'say which loadout' : `${word} is no loadout of the short form`;
    throw new UsageError(`${what}; name one of the short form, or a file such as .baton/loadouts/bugfix.yaml`);
  }
  const { compiled, digest } = loaded.source;
  return allow('compiled', { file: loaded.file, digest, config: compiled });
};

const DRAW = { text: drawText, mermaid: drawMermaid, svg: drawSvg } as const;

export const drawLoadout: Operation<'graph'> = async (workspace, { of: word, file, format = 'text' }) => {
  const cast = file === undefined ? await castMeant(workspace, word) : null;
  if (cast) return drawn(cast.rules, cast.progress, format);
  const wanted = { workspace, cwd: workspace.cwd, file, loadout: word, agents: undefined, utilities: UTILITY_NAMES };
  const plan = await locateCast({ ...wanted, isDrawn: true });
  if (plan.ok) return drawn(plan.plan.rules, undefined, format);
  if (file === undefined) askWhich(plan, 'of');
  return refusedPlan(plan.issues);
};

function drawn(rules: Rules, progress: DrawnProgress | undefined, format: keyof typeof DRAW) {
  const picture = drawingOf(rules, progress);
  return allow(`the graph of ${picture.name}`, { format, text: DRAW[format](picture), ...picture });
}

/** `latest`, an id, or the beginning of one. Anything else is taken for a loadout. */
async function castMeant(workspace: Workspace, word: string | undefined) {
  if (word === undefined || !workspace.hasLog()) return null;
  const store = workspace.castStore();
  const named = await nameCast(store, word, workspace.program).catch(() => null);
  if (!named) return null;
  const entries = await store.read({ after: 0, cast: named.cast, briefs: 'digest' });
  const view = foldAll(entries);
  const { cast } = view;
  if (!cast) return null;
  const taken = entries.flatMap(({ fact }) => wayIn(fact) ?? []);
  const open = isOver(cast.status) ? [] : Object.values(cast.turns).map(({ socket }) => socket);
  return { rules: cast.rules, progress: { path: pathOf(view), taken, here: [...new Set(open)] } };
}
