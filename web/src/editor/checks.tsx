// The checks below the picture: each with its place and, where it is mechanical, its fix by one press.
import type { ReactNode } from 'react';
import type { LocatedIssue } from '../../../src/editor/check.ts';
import { type EditorDocument, edgeId, type FieldOwner } from '../../../src/editor/document.ts';
import { Button, Kbd } from '../parts/button.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { plural } from '../words.ts';
import type { Draft } from './draft.ts';
import type { Drawn } from './drawn.ts';
import type { Flag } from './nodes.tsx';

export function Checks({
  draft,
  document,
  drawn,
  issues,
  at,
  isReadOnly,
  onShow,
  onNext,
  onBoundary,
}: {
  draft: Draft;
  document: EditorDocument;
  drawn: Drawn;
  issues: readonly LocatedIssue[];
  /** The one that was shown last. */
  at: number | null;
  isReadOnly: boolean;
  onShow: (at: number) => void;
  onNext: () => void;
  /** Shows to whom the agent of a socket may hand. */
  onBoundary: (socket: string) => void;
}): ReactNode {
  const errors = issues.filter(({ level }) => level === 'error').length;
  const warnings = issues.length - errors;
  const counts = [errors > 0 ? plural(errors, 'error') : '', warnings > 0 ? plural(warnings, 'warning') : '']
    .filter(Boolean)
    .join(', ');
  return (
    <section className="draft-checks" aria-label="Checks">
      <div className="draft-checks-head">
        <b>{issues.length === 0 ? 'No issues' : counts}</b>
        <span className="quiet" role="status">
          {errors > 0 ? 'A cast cannot start. It can be saved.' : 'Nothing stops a cast.'}
        </span>
        {issues.length > 0 ? (
          <button type="button" className="link quiet draft-checks-next" onClick={onNext}>
            Next <Kbd keys="F8" />
          </button>
        ) : null}
      </div>
      {issues.length > 0 ? (
        <ul className="draft-checks-list">
          {issues.map((issue, index) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the same sentence may be there twice
              key={`${index} ${issue.path}`}
              className={index === at ? 'check-chosen' : undefined}
              data-code={issue.code}
            >
              <span className={issue.level === 'error' ? 'bad' : 'wait'}>
                <Icon name="warning" />
              </span>
              <button type="button" className="check-open" onClick={() => onShow(index)}>
                <span className="unseen">{issue.level}: </span>
                <b>
                  <Foreign text={`${placeWords(issue, drawn, document)}:`} />
                </b>{' '}
                <Foreign text={issue.text} />
              </button>
              {issue.code === 'BOUNDARY_REFUSED' && giverOf(issue, drawn) !== null ? (
                <Button onPress={() => onBoundary(giverOf(issue, drawn) ?? '')}>Show boundary</Button>
              ) : null}
              {issue.fix && !isReadOnly ? (
                <Button
                  onPress={() => {
                    if (issue.fix) draft.edit(issue.fix.edit);
                  }}
                >
                  <Foreign text={issue.fix.label} />
                </Button>
              ) : null}
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

/** The socket whose agent hands on there. */
function giverOf(issue: LocatedIssue, drawn: Drawn): string | null {
  const [part] = partsOf(issue, drawn);
  return drawn.ways.find(({ id }) => id === part)?.from ?? issue.place.sockets[0] ?? null;
}

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
