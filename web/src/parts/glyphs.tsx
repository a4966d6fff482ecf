// The signs of a status, and the icons of places and acts. A shape alone says what is meant; its colour repeats it.
import type { ReactNode } from 'react';
import './glyphs.css';

const STATUS_GLYPHS = {
  running: 'runs',
  done: 'done',
  failed: 'failed',
  refused: 'refused',
  waits: 'waits for you',
  question: 'asks a question',
  rework: 'sent back',
  open: 'not started',
  paused: 'paused',
  stopped: 'stopped',
  unknown: 'outcome unknown',
  quarantine: 'blocked',
  parked: 'parked',
  memory: 'suggests to remember',
} as const;
export type Status = keyof typeof STATUS_GLYPHS;

const DRAWN: Readonly<Record<Status, ReactNode>> = {
  running: (
    <>
      <circle cx="7" cy="7" r="5.2" opacity="0.3" />
      <path className="turns" d="M7 1.8A5.2 5.2 0 0 1 12.2 7" />
      <circle className="fill" cx="7" cy="7" r="1.8" />
    </>
  ),
  done: <path d="m2.5 7.5 3 3 6-6.5" />,
  failed: <Cross />,
  refused: <Cross />,
  waits: (
    <>
      <path className="fill" d="M7 .6 13.4 7 7 13.4.6 7Z" />
      <path className="on-fill" d="M7 4v3.6M7 9.6v.2" />
    </>
  ),
  question: <path d="M2 2.5h10v7H7l-3 2.4V9.5H2Z" />,
  rework: <path d="M5.2 2.2 2.4 5l2.8 2.8M2.6 5h5.9a3.2 3.2 0 0 1 0 6.4H5.5" />,
  open: <circle cx="7" cy="7" r="5.2" strokeDasharray="2.4 2.05" />,
  paused: <path d="M5 3v8M9 3v8" />,
  stopped: <path d="M3.2 3.2h7.6v7.6H3.2Z" />,
  unknown: (
    <>
      <circle cx="7" cy="7" r="5.4" />
      <path d="M5.5 5.7c0-2 3-2 3-.1 0 1.2-1.5 1.2-1.5 2.3M7 9.8v.2" />
    </>
  ),
  quarantine: <path d="M7 1.2 12 3v3.8c0 3-2.2 5-5 6-2.8-1-5-3-5-6V3ZM5 5.2l4 4M9 5.2l-4 4" />,
  parked: <path d="M2.2 2.2h9.6v9.6H2.2ZM5.6 9.8V4.4h1.8a1.6 1.6 0 0 1 0 3.2H5.6" />,
  memory: <path d="M3.5 1.8h7v10.4L7 9.4l-3.5 2.8Z" />,
};

function Cross(): ReactNode {
  return (
    <>
      <path className="fill" d="M1.2 1.2h11.6v11.6H1.2Z" />
      <path className="on-fill" d="m4.6 4.6 4.8 4.8M9.4 4.6 4.6 9.4" />
    </>
  );
}

/** A status sign. Beside a word that says the same, `isQuiet` keeps it from being read twice. */
export function Glyph({ status, says, isQuiet }: { status: Status; says?: string; isQuiet?: boolean }): ReactNode {
  const label = isQuiet
    ? { 'aria-hidden': true as const }
    : { role: 'img', 'aria-label': says ?? STATUS_GLYPHS[status] };
  return (
    <svg className={`glyph glyph-${status}`} viewBox="0 0 14 14" width="14" height="14" {...label}>
      <title>{says ?? STATUS_GLYPHS[status]}</title>
      {DRAWN[status]}
    </svg>
  );
}

const ICONS = {
  home: 'M2.5 7 8 2.2 13.5 7M3.8 6v7.5h8.4V6',
  inbox: 'M2.5 2.8h11v10.4h-11ZM2.5 9h3l1 1.8h3L10.5 9h3',
  ledger: 'M2.5 2.5h3v10h-3ZM6.8 2.5h3v5h-3ZM11 2.5h2.8v6.5H11Z',
  casts: 'M1.5 3h4v3h-4ZM10.5 3h4v3h-4ZM10.5 10h4v3h-4ZM5.5 4.5h5M8 4.5v7h2.5',
  queue: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  history: 'M8 2.3a5.7 5.7 0 1 1 0 11.4A5.7 5.7 0 0 1 8 2.3ZM8 4.8V8l2.3 1.5',
  search: 'M6.8 2.3a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.2 10.2l3.6 3.6',
  copy: 'M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1',
  close: 'm3.5 3.5 9 9M12.5 3.5l-9 9',
  left: 'M10 3 5 8l5 5',
  right: 'm6 3 5 5-5 5',
  down: 'm4 6.2 4 4 4-4',
  up: 'm4 9.8 4-4 4 4',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  zoom: 'M6.8 2.3a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.2 10.2l3.6 3.6M6.8 4.8v4M4.8 6.8h4',
  person: 'M8 2.5a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2ZM3 14c0-2.8 2.2-4.6 5-4.6s5 1.8 5 4.6',
  loadouts: 'M2 2.5h4v4H2ZM10 2.5h4v4h-4ZM10 10h4v4h-4ZM6 4.5h4M12 6.5V10',
  columns: 'M2.5 3h11v10h-11ZM8 3v10',
  undo: 'M5.5 3 2.5 6l3 3M2.7 6h6.6a3.8 3.8 0 0 1 0 7.6H6',
  redo: 'M10.5 3l3 3-3 3M13.3 6H6.7a3.8 3.8 0 0 0 0 7.6H10',
  play: 'M5 3v10l8-5Z',
  lock: 'M4 7.2h8v6H4ZM5.6 7.2V5.3a2.4 2.4 0 0 1 4.8 0v1.9',
  file: 'M4 1.8h5l3.2 3.2v9.2H4ZM9 1.8V5h3.2',
  folder: 'M1.8 3.5h4.4l1.4 1.6h6.6v7.8H1.8Z',
  program: 'm2.5 4.5 3 3-3 3M7.5 11h5',
  seal: 'M8 1.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4ZM5.6 9.4 5 14.2l3-1.6 3 1.6-.6-4.8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  moon: 'M13 9.5A5.6 5.6 0 0 1 6.5 3a5.6 5.6 0 1 0 6.5 6.5Z',
  sun: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  system: 'M2 3h12v8H2ZM6 14h4M8 11v3',
  download: 'M8 2v8M4.8 7 8 10.2 11.2 7M3 13.5h10',
  loop: 'M12.8 6.5A5.2 5.2 0 1 0 13.2 9M13.2 2.8v3.9H9.3',
  fan: 'M2 8h4M6 8c3 0 2-4.5 5-4.5h3M6 8h8M6 8c3 0 2 4.5 5 4.5h3',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  say: 'M2.5 3h11v8H8l-3.2 2.5V11H2.5Z',
  fork: 'M4.5 2.5v11M4.5 9c4.5 0 6.5-1.5 6.5-6.5',
  warning: 'M8 2.2 14.5 13.5h-13ZM8 6.5v3.2M8 11.5v.2',
  bell: 'M4 11.5V7a4 4 0 0 1 8 0v4.5l1.2 1H2.8ZM6.8 14h2.4',
  code: 'M6 4 2.5 8 6 12M10 4l3.5 4L10 12',
  check: 'm3 8.5 3.3 3.3L13 4.5',
  drag: 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01',
  keys: 'M1.8 4.2h12.4v7.6H1.8ZM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.5h6',
  filter: 'M2 3.5h12M4.5 8h7M7 12.5h2',
} as const;
export type IconName = keyof typeof ICONS;

/** An icon stands beside its word, or in a button that has a label. So it is never read out. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

/** The mark of Baton. */
export function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
      <g transform="rotate(-38 8 8)">
        <rect className="mark-one" x="0" y="5.4" width="8.4" height="5.2" rx="1.8" />
        <rect className="mark-two" x="7.6" y="5.4" width="8.4" height="5.2" rx="1.8" />
      </g>
    </svg>
  );
}
