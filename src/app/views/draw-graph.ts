// Prints the drawing of a graph: as text for a terminal, as Mermaid for a page that knows it, and as SVG. Steps stand below
// each other in their order. A way to the next step is a line; the others are arcs, back on the left and forth on the right.
import { END } from '../../kernel/graph/config.ts';
import {
  boundOfWay,
  conditionOfWay,
  type DrawnStep,
  type DrawnWay,
  type GraphDrawing,
  wordsOfLoop,
  wordsOfWay,
} from './graph-drawing.ts';

export function drawText({ name, steps, ways, loops }: GraphDrawing): string {
  const width = Math.max(...steps.map((step) => step.name.length), 4);
  const lines = [name, ''];
  for (const [index, step] of steps.entries()) {
    const loop = loops.find(({ id }) => id === step.loop);
    const isInside = loop !== undefined;
    if (loop && steps[index - 1]?.loop !== step.loop) {
      lines.push(`┌ ${loop.over === null ? '' : 'for '}${wordsOfLoop(loop)}`);
    }
    const bar = isInside ? '│ ' : '  ';
    const count = step.visits === 0 ? '' : ` ×${step.visits}`;
    const marks = step.marks.map((mark) => ` [${mark}]`).join('');
    lines.push(`${bar}${step.isHere ? '▶' : ' '} ${step.name.padEnd(width)}  ${step.does}${marks}${count}`);
    const own = ways.filter(({ from, kind }) => from === step.id && kind === 'edge');
    for (const way of own) lines.push(`${bar}    ${wayLine(way, steps)}`);
    if (!loop || steps[index + 1]?.loop === step.loop) continue;
    const exits = ways.filter(({ from, kind }) => kind === 'exit' && loop.steps.includes(from));
    const first = exits[0];
    // Each step that can finish the last item has an exit of its own, mostly to the same step.
    const alike = exits.filter(({ to, when }) => to === first?.to && when === first.when);
    const taken = alike.reduce((sum, way) => sum + way.count, 0);
    const shown = first ? [{ ...first, count: taken }, ...exits.filter((way) => !alike.includes(way))] : [];
    lines.push(`└ ${shown.map((way) => wayLine(way, steps)).join('; ') || 'when all are done → end'}`);
  }
  return `${lines.join('\n')}\n`;
}

function wayLine(way: DrawnWay, steps: readonly DrawnStep[]): string {
  const [condition, bound] = [conditionOfWay(way), boundOfWay(way)];
  const more = `${bound === '' ? '' : ` (${bound})`}${way.count === 0 ? '' : ` ×${way.count}`}`;
  return `${condition === '' ? '' : `${condition} `}→ ${nameOf(way.to, steps)}${more}`;
}

function nameOf(id: string, steps: readonly DrawnStep[]): string {
  return id === END ? 'end' : (steps.find((step) => step.id === id)?.name ?? id);
}

export function drawMermaid({ steps, ways, loops }: GraphDrawing): string {
  const idOf = (id: string) => (id === END ? 'finish' : id.replace('-', '_'));
  const node = (step: DrawnStep) => {
    const marks = step.marks.length === 0 ? '' : `<br/>${step.marks.join(', ')}`;
    const count = step.visits === 0 ? '' : ` ×${step.visits}`;
    return `${idOf(step.id)}["${escapeMermaid(step.name)}${count}<br/><small>${escapeMermaid(step.does)}</small>${marks}"]`;
  };
  const lines = ['flowchart TD'];
  for (const loop of loops) {
    lines.push(`  subgraph ${loop.id.replace(/[^A-Za-z0-9]/g, '_')}["${escapeMermaid(wordsOfLoop(loop))}"]`);
    for (const step of steps) if (step.loop === loop.id) lines.push(`    ${node(step)}`);
    lines.push('  end');
  }
  for (const step of steps) if (step.loop === null) lines.push(`  ${node(step)}`);
  if (ways.some(({ to }) => to === END)) lines.push('  finish((end))');
  for (const way of ways) {
    const words = wordsOfWay(way);
    const arrow = way.kind === 'exit' ? '-.->' : '-->';
    lines.push(`  ${idOf(way.from)} ${arrow}${words === '' ? '' : `|"${escapeMermaid(words)}"|`} ${idOf(way.to)}`);
  }
  const here = steps.filter(({ isHere }) => isHere);
  if (here.length > 0) {
    lines.push('  classDef here stroke-width:3px', `  class ${here.map(({ id }) => idOf(id)).join(',')} here`);
  }
  return `${lines.join('\n')}\n`;
}

function escapeMermaid(text: string): string {
  return text.replace(/[&<>"#]/g, (char) => `#${char.charCodeAt(0)};`);
}

const BOX = { left: 190, width: 260, height: 52, gap: 46, top: 56 } as const;
const LANE = 30;
const ROW = 14;
const CHAR = 6.2;

/** A picture of its own: it needs no font, script or style from elsewhere, and follows the light or dark of its reader. */
export function drawSvg(drawing: GraphDrawing): string {
  const { name, steps, ways, loops } = drawing;
  const hasEnd = ways.some(({ to }) => to === END);
  const places = [...steps.map(({ id }) => id), ...(hasEnd ? [END] : [])];
  const topOf = (id: string) => BOX.top + places.indexOf(id) * (BOX.height + BOX.gap);
  const arcs = ways.filter(({ from, to }) => places.indexOf(to) !== places.indexOf(from) + 1);
  // Short arcs lie inside of long ones.
  const spanOf = ({ from, to }: DrawnWay) => Math.abs(places.indexOf(from) - places.indexOf(to));
  const nested = arcs.toSorted((one, other) => spanOf(one) - spanOf(other));
  const back = nested.filter(({ from, to }) => places.indexOf(to) <= places.indexOf(from));
  const forth = nested.filter((way) => !back.includes(way));
  const straight = ways.filter((way) => !arcs.includes(way));
  const right = BOX.left + BOX.width;
  const arcsOf = (side: readonly DrawnWay[], x: number, sign: 1 | -1) => {
    const rows: number[] = [];
    return side.map((way, index) => {
      const [from, to] = [topOf(way.from), topOf(way.to)];
      let row = (from + to + BOX.height) / 2 + 4;
      // Words of ways around the same steps stand below each other.
      while (rows.some((other) => Math.abs(other - row) < ROW)) row += ROW;
      rows.push(row);
      return arc(way, { x, from, to, row, reach: sign * (30 + index * LANE) });
    });
  };
  const curves = [...arcsOf(back, BOX.left, -1), ...arcsOf(forth, right, 1)];
  const width = right + 60 + forth.length * LANE + longest(forth) * CHAR;
  const left = Math.min(0, BOX.left - 60 - back.length * LANE - longest(back) * CHAR);
  const height = BOX.top + places.length * (BOX.height + BOX.gap);
  const parts = [
    ...loops.map((loop) => {
      const tops = loop.steps.map(topOf);
      const [first, last] = [Math.min(...tops), Math.max(...tops)];
      const label = `${loop.over === null ? '' : 'for '}${wordsOfLoop(loop)}`;
      return (
        `<rect class="loop" x="${BOX.left - 18}" y="${first - 24}" width="${BOX.width + 36}" height="${last - first + BOX.height + 36}" rx="12"/>` +
        `<text class="small" x="${BOX.left - 8}" y="${first - 9}">${escapeXml(label)}</text>`
      );
    }),
    ...straight.map((way, index) => straightLine(way, topOf(way.from), straight, index)),
    ...curves.map(({ path }) => path),
    ...curves.map(({ label }) => label),
    ...steps.map((step) => box(step, topOf(step.id))),
    ...(hasEnd
      ? [`<text class="name" x="${BOX.left + BOX.width / 2}" y="${topOf(END) + 30}" text-anchor="middle">end</text>`]
      : []),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} 0 ${width - left} ${height}" role="img" aria-label="${escapeXml(`the graph of ${name}`)}">
<style>
text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}.name{font-weight:600}.small{font-size:11px;fill:#59636e;paint-order:stroke;stroke:#fff;stroke-width:4px}
.box{fill:#fff;stroke:#8c959f}.here{stroke:#0969da;stroke-width:3}.loop{fill:#8c959f14;stroke:#8c959f;stroke-dasharray:5 4}
.way{fill:none;stroke:#59636e}.exit{stroke-dasharray:5 4}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.small{fill:#9198a1;stroke:#0d1117}.box{fill:#151b23;stroke:#656c76}.here{stroke:#4493f8}.way{stroke:#9198a1}}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#59636e"/></marker></defs>
<text class="name" x="${BOX.left}" y="22">${escapeXml(name)}</text>
${parts.join('\n')}
</svg>
`;
}

function longest(ways: readonly DrawnWay[]): number {
  return Math.max(0, ...ways.map((way) => wordsOfWay(way).length));
}

function box({ name, does, marks, visits, isHere }: DrawnStep, top: number): string {
  const count = visits === 0 ? '' : ` ×${visits}`;
  const below = [does, ...marks].join(' · ');
  return (
    `<rect class="box${isHere ? ' here' : ''}" x="${BOX.left}" y="${top}" width="${BOX.width}" height="${BOX.height}" rx="8"/>` +
    `<text class="name" x="${BOX.left + 14}" y="${top + 22}">${escapeXml(`${isHere ? '▶ ' : ''}${name}${count}`)}</text>` +
    `<text class="small" x="${BOX.left + 14}" y="${top + 40}">${escapeXml(below)}</text>`
  );
}

/** Several ways between the same two steps share one line, and their words are listed below each other. */
function straightLine(way: DrawnWay, top: number, all: readonly DrawnWay[], index: number): string {
  const x = BOX.left + BOX.width / 2;
  const y = top + BOX.height;
  const row = all.slice(0, index).filter(({ from }) => from === way.from).length;
  const words = wordsOfWay(way);
  const line =
    row > 0
      ? ''
      : `<path class="way${way.kind === 'exit' ? ' exit' : ''}" d="M${x} ${y}V${y + BOX.gap}" marker-end="url(#tip)"/>`;
  return `${line}<text class="small" x="${x + 8}" y="${y + (way.kind === 'exit' ? 31 : 17) + row * 14}">${escapeXml(words)}</text>`;
}

type ArcPlace = {
  readonly x: number;
  readonly from: number;
  readonly to: number;
  readonly row: number;
  readonly reach: number;
};

/** The words lie above all lines. */
function arc(way: DrawnWay, { x, from, to, row, reach }: ArcPlace): { path: string; label: string } {
  const isSelf = from === to;
  const y1 = from + BOX.height / 2 + (isSelf ? 12 : 8);
  const y2 = to + BOX.height / 2 - (isSelf ? 12 : 8);
  const edge = x + reach;
  const words = wordsOfWay(way);
  const anchor = reach < 0 ? 'end' : 'start';
  const at = edge + (reach < 0 ? -6 : 6);
  return {
    path: `<path class="way${way.kind === 'exit' ? ' exit' : ''}" d="M${x} ${y1}C${edge} ${y1} ${edge} ${y1} ${edge} ${(y1 + y2) / 2}C${edge} ${y2} ${edge} ${y2} ${x} ${y2}" marker-end="url(#tip)"/>`,
    label: `<text class="small" x="${at}" y="${row}" text-anchor="${anchor}">${escapeXml(words)}</text>`,
  };
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
