// Texts of agents and of files. They are shown as they are, and what cannot be seen is written out.
import { Fragment, type ReactNode } from 'react';
import { inLine, type Part, visible } from '../words.ts';
import './text.css';

function parts(all: readonly Part[]): ReactNode {
  let at = 0;
  return all.map(({ text, isHidden }) => {
    const key = at;
    at += text.length;
    return isHidden ? (
      <span key={key} className="hidden-char" title="a character that is not seen">
        {text}
      </span>
    ) : (
      <Fragment key={key}>{text}</Fragment>
    );
  });
}

/** Foreign text within a line: a title, a request, a name. White space at its ends and in rows is one space. */
export function Foreign({ text }: { text: string }): ReactNode {
  return <bdi>{parts(visible(text.replace(/\s+/g, ' ').trim()))}</bdi>;
}

/** Foreign text as it is, with its lines. */
export function ForeignLines({ text }: { text: string }): ReactNode {
  return parts(visible(text, { multiline: true }));
}

/** What an agent says, in quotation marks and with its source. */
export function Quote({ by, note, text }: { by: string; note?: string; text: string }): ReactNode {
  return (
    <figure className="quote">
      <figcaption>
        <Foreign text={by} /> says, in its own words{note ? ` (${note})` : ''}:
      </figcaption>
      <blockquote>
        “<ForeignLines text={text.trim()} />”
      </blockquote>
    </figure>
  );
}

/** A short name on one line. What does not fit is cut; the whole is in the tooltip. */
export function Name({ text, className = '' }: { text: string; className?: string }): ReactNode {
  return (
    <span className={`name ${className}`} title={inLine(text)}>
      <Foreign text={text} />
    </span>
  );
}
