// Where the value of a JSON path stands in a text that holds a JSON object, perhaps among other words. The parser keeps
// positions and goes on after a fault, because what is marked was refused.
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import type { Mark } from '../parts/source.tsx';
import type { Issue } from './turn-story.ts';

const STARTS_MAX = 40;

export type Placed = { readonly marks: readonly Mark[]; readonly unplaced: readonly Issue[] };

/** A mark for each issue, numbered as they are listed; those that cannot be placed are about the whole output. */
export function placeIssues(text: string, issues: readonly Issue[]): Placed {
  const roots = rootsIn(text);
  const marks: Mark[] = [];
  const unplaced: Issue[] = [];
  for (const [at, issue] of issues.entries()) {
    const place = atLine(text, issue) ?? atPath(roots, issue);
    if (place) marks.push({ n: at + 1, says: issue.message, path: issue.path, ...place });
    else unplaced.push(issue);
  }
  return { marks, unplaced };
}

type Place = Pick<Mark, 'from' | 'to'> & { readonly ghost?: string };
type Root = { readonly offset: number; readonly node: Node };

/** The line and the column of a text that is no JSON. */
function atLine(text: string, { line, column }: Issue): Place | null {
  if (line === undefined || column === undefined) return null;
  let from = 0;
  for (let n = 1; n < line; n++) {
    const end = text.indexOf('\n', from);
    if (end === -1) return null;
    from = end + 1;
  }
  const at = Math.min(text.length, from + column - 1);
  return { from: at, to: Math.min(text.length, at + 1) };
}

/** The objects of the text that are not within another one, the longest first. */
function rootsIn(text: string): readonly Root[] {
  const roots: Root[] = [];
  let from = 0;
  for (let tries = 0; tries < STARTS_MAX; tries++) {
    const start = text.indexOf('{', from);
    if (start === -1) break;
    const node = parseTree(text.slice(start), [], { allowTrailingComma: true });
    if (node && (node.children?.length ?? 0) > 0) {
      roots.push({ offset: start, node });
      from = start + Math.max(1, node.length);
    } else from = start + 1;
  }
  return roots.toSorted((a, b) => b.node.length - a.node.length);
}

function atPath(roots: readonly Root[], { path, message }: Issue): Place | null {
  const steps = stepsOf(path);
  if (steps.length === 0) return null;
  for (const { offset, node } of roots) {
    const found = findNodeAtLocation(node, [...steps]);
    if (found) {
      // A field that should not be there is marked by its name, a value by itself.
      const isName =
        found.parent?.type === 'property' && (found.type === 'object' || /^unexpected field/.test(message));
      const marked = isName ? (found.parent?.children?.[0] ?? found) : found;
      return { from: offset + marked.offset, to: offset + marked.offset + marked.length };
    }
  }
  const [last] = steps.slice(-1);
  if (typeof last !== 'string') return null;
  for (const { offset, node } of roots) {
    const parent = steps.length === 1 ? node : findNodeAtLocation(node, [...steps.slice(0, -1)]);
    if (parent?.type !== 'object') continue;
    // The brace that closes it: the missing field would stand before it.
    const end = offset + parent.offset + parent.length - 1;
    return { from: end, to: end, ghost: `"${last}": ?` };
  }
  return null;
}

/** `$.workItems[2].title` → `workItems`, 2, `title`. */
export function stepsOf(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(
    /(?:^|\.)([^.[\]$][^.[\]]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/g,
  )) {
    if (name !== undefined) steps.push(/^\d+$/.test(name) ? Number(name) : name);
    else if (index !== undefined) steps.push(Number(index));
    else if (quoted !== undefined) steps.push(quoted);
  }
  return steps;
}
