// The checks below the picture: each with its place and, where it is mechanical, its fix by one press.
import type { ReactNode } from 'react';
import type { LocatedIssue } from '../../../src/editor/check.ts';
import type { EditorDocument } from '../../../src/editor/document.ts';
import { Button, Kbd } from '../parts/button.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { plural } from '../words.ts';
import type { Draft } from './draft.ts';
import type { Drawn } from './drawn.ts';
import { partsOf, placeWords } from './findings.ts';

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
