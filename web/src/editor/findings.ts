// The issues of the draft, with the parts of the picture and the fields of the form to which they belong.
import type { LocatedIssue } from '../../../src/editor/check.ts';
import type { FieldOwner } from '../../../src/editor/document.ts';
import { type EditorDocument, edgeId } from '../../../src/editor/document.ts';
import type { Drawn } from './drawn.ts';
import type { Flag } from './nodes.tsx';

/** On the first of edge, exit, sockets and loop that is drawn. */
export function partsOf({ place }: LocatedIssue, drawn: Drawn): readonly string[] {
  const way = place.exit ?? (place.edge ? edgeId(place.edge) : null);
  if (way !== null && drawn.ways.some(({ id }) => id === way)) return [way];
  if (place.sockets.length > 0) return place.sockets;
  return place.loop === null ? [] : [`loop:${place.loop}`];
}

/** The worst issue of each part, with all their sentences. */
export function flagsOf(issues: readonly LocatedIssue[], drawn: Drawn): ReadonlyMap<string, Flag> {
  const flags = new Map<string, Flag>();
  for (const issue of issues)
    for (const part of partsOf(issue, drawn)) {
      const before = flags.get(part);
      const level = before?.level === 'error' || issue.level === 'error' ? 'error' : 'warning';
      flags.set(part, { level, says: before ? `${before.says} ${issue.text}` : issue.text });
    }
  return flags;
}

/** The sentence of each field that has an issue, as `socket.Socket-3.parse`. */
export function faultsOf(issues: readonly LocatedIssue[]): ReadonlyMap<string, string> {
  return new Map(
    issues.flatMap(({ place: { field }, text }) =>
      field === null ? [] : [[[ownerWord(field.of), ...field.path].join('.'), text] as const],
    ),
  );
}

export function ownerWord(of: FieldOwner): string {
  if ('socket' in of) return `socket.${of.socket}`;
  if ('loop' in of) return `loop.${of.loop}`;
  if ('materia' in of) return `materia.${of.materia}`;
  return 'loadout' in of ? 'loadout' : 'config';
}

/** Where an issue is, in words. */
export function placeWords({ place, path }: LocatedIssue, drawn: Drawn, document: EditorDocument): string {
  const nameIn = (id: string): string => drawn.sockets.find((socket) => socket.id === id)?.name ?? id;
  const way = place.exit ?? (place.edge ? edgeId(place.edge) : null);
  const shown = drawn.ways.find(({ id }) => id === way);
  if (shown) return `${nameIn(shown.from)} to ${shown.to === 'end' ? 'end' : nameIn(shown.to)}`;
  const { field } = place;
  if (field && 'materia' in field.of) return field.of.materia;
  const [first] = place.sockets;
  if (first !== undefined) return nameIn(first);
  if (place.loop !== null) return `Loop ${place.loop}`;
  if (field && 'loadout' in field.of) return document.name;
  return path.startsWith(`loadouts.${document.name}`) ? document.name : path;
}
