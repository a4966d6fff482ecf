// Where sockets are on the canvas. It is kept under `layout` and never changes what a loadout means.
import { objectAt } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type Point, pointOf, without } from './document.ts';
import { first, type Sheet } from './sheet.ts';

export type Alignment = 'left' | 'centre' | 'right' | 'top' | 'middle' | 'bottom' | 'across' | 'down';

/** A canvas has an end: numbers beyond it would be drawn nowhere. */
const FAR = 1_000_000;

export function moveTo(sheet: Sheet, to: Readonly<Record<string, Point>>): Denied | null {
  const points = Object.entries(to);
  const refused = first(...points.map(([id]) => sheet.noSocket(id)));
  if (refused) return refused;
  if (points.some(([, { x, y }]) => !isNear(x) || !isNear(y)))
    return deny('BAD_USAGE', 'That is no place on the canvas.');
  const placed = points.map(([id, { x, y }]) => [id, { x: Math.round(x), y: Math.round(y) }] as const);
  if (placed.length === 0) return null;
  sheet.putLoadout((loadout) => {
    const layout = objectAt(loadout, 'layout');
    const before = objectAt(layout, 'sockets');
    const next = Object.fromEntries(placed.map(([id, point]) => [id, { ...objectAt(before, id), ...point }]));
    return { ...loadout, layout: { ...layout, sockets: { ...before, ...next } } };
  });
  return null;
}

function isNear(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) <= FAR;
}

type Aligned = {
  readonly sockets: readonly string[];
  readonly how: Alignment;
  readonly at?: Readonly<Record<string, Point>>;
};

export function align(sheet: Sheet, { sockets, how, at = {} }: Aligned): Denied | null {
  const ids = [...new Set(sockets)];
  const refused = first(...ids.map((id) => sheet.noSocket(id)));
  if (refused) return refused;
  const points = ids.flatMap((id): (readonly [string, Point])[] => {
    const point = pointOf(sheet.document, id) ?? (Object.hasOwn(at, id) ? at[id] : undefined);
    return point ? [[id, point]] : [];
  });
  if (points.length < 2) return null;
  // Once one socket has a place, all need one: the layout would put the others somewhere else.
  const others = Object.entries(at).filter(([id]) => sheet.has(id) && pointOf(sheet.document, id) === null);
  return moveTo(sheet, Object.fromEntries([...others, ...ALIGN[how](points)]));
}

type Placed = readonly (readonly [string, Point])[];

const ALIGN: Readonly<Record<Alignment, (points: Placed) => Placed>> = {
  left: (points) => toX(points, Math.min(...xs(points))),
  centre: (points) => toX(points, middle(xs(points))),
  right: (points) => toX(points, Math.max(...xs(points))),
  top: (points) => toY(points, Math.min(...ys(points))),
  middle: (points) => toY(points, middle(ys(points))),
  bottom: (points) => toY(points, Math.max(...ys(points))),
  across: (points) => spread(points, 'x'),
  down: (points) => spread(points, 'y'),
};

const xs = (points: Placed) => points.map(([, { x }]) => x);
const ys = (points: Placed) => points.map(([, { y }]) => y);
const middle = (values: readonly number[]) => (Math.min(...values) + Math.max(...values)) / 2;
const toX = (points: Placed, x: number): Placed =>
  apart(
    points.map(([id, { y }]) => [id, { x, y }]),
    'y',
  );
const toY = (points: Placed, y: number): Placed =>
  apart(
    points.map(([id, { x }]) => [id, { x, y }]),
    'x',
  );

/** From the corner of a socket to that of the next one, so that neither covers the other. */
export const APART = { x: 200, y: 112 } as const;

/** Sockets of one row or column that would lie on each other move on along it. */
function apart(points: Placed, axis: 'x' | 'y'): Placed {
  let free = Number.NEGATIVE_INFINITY;
  return points
    .toSorted(([, one], [, other]) => one[axis] - other[axis])
    .map(([id, point]) => {
      const at = Math.max(point[axis], free);
      free = at + APART[axis];
      return [id, { ...point, [axis]: at }];
    });
}

/** The same distance between each and the next; the first and the last stay. */
function spread(points: Placed, axis: 'x' | 'y'): Placed {
  const sorted = points.toSorted(([, one], [, other]) => one[axis] - other[axis]);
  const from = sorted[0]?.[1][axis] ?? 0;
  const to = sorted.at(-1)?.[1][axis] ?? from;
  const step = (to - from) / (sorted.length - 1);
  return sorted.map(([id, point], index) => [id, { ...point, [axis]: from + step * index }]);
}

/** Everything is where the automatic layout puts it. */
export function clearLayout(sheet: Sheet): Denied | null {
  sheet.putLoadout((loadout) => {
    const rest = without(objectAt(loadout, 'layout'), 'sockets');
    return Object.keys(rest).length === 0 ? without(loadout, 'layout') : { ...loadout, layout: rest };
  });
  return null;
}
