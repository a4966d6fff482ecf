// A picture of a loadout, or of a cast with the way that it took.
import { isOver } from '../../kernel/cast/state.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import { allow } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import { locateCast } from '../../workspace/plan.ts';
import { refusedPlan } from '../driving/check-start.ts';
import { nameCast } from '../name-cast.ts';
import { foldAll } from '../views/cast-view.ts';
import { drawMermaid, drawSvg, drawText } from '../views/draw-graph.ts';
import { type DrawnProgress, drawingOf, wayIn } from '../views/graph-drawing.ts';
import { pathOf } from '../views/shown-cast.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

const DRAW = { text: drawText, mermaid: drawMermaid, svg: drawSvg } as const;

export const drawLoadout: Operation<'graph'> = async (workspace, { of: word, file, format = 'text' }) => {
  const cast = file === undefined ? await castNamed(workspace, word) : null;
  if (cast) return drawn(cast.rules, cast.progress, format);
  const wanted = { workspace, cwd: workspace.cwd, file, loadout: word, agents: undefined, utilities: UTILITY_NAMES };
  const plan = await locateCast({ ...wanted, isDrawn: true });
  return plan.ok ? drawn(plan.plan.rules, undefined, format) : refusedPlan(plan.issues);
};

function drawn(rules: Rules, progress: DrawnProgress | undefined, format: keyof typeof DRAW) {
  const picture = drawingOf(rules, progress);
  return allow(`the graph of ${picture.name}`, { format, text: DRAW[format](picture), ...picture });
}

/** `latest`, an id, or the beginning of one. Anything else is taken for a loadout. */
async function castNamed(workspace: Workspace, word: string | undefined) {
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
