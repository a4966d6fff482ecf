// The frame of a view: its header, what fills it, and a pane at the right that can be made wider and closed.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useKeys } from '../keys.ts';
import { Button } from './button.tsx';
import './pane.css';

/** The title of a view with what belongs beside it, and its acts at the right. */
export function Header({
  title,
  beside,
  below,
  children,
}: {
  title: ReactNode;
  beside?: ReactNode;
  below?: ReactNode;
  children?: ReactNode;
}): ReactNode {
  return (
    <header className="header">
      <div className="header-words">
        <div className="header-line">
          <ViewTitle>{title}</ViewTitle>
          {beside ? <div className="header-beside">{beside}</div> : null}
        </div>
        {below ? <p className="header-below">{below}</p> : null}
      </div>
      {children ? <div className="header-acts">{children}</div> : null}
    </header>
  );
}

/** The title of a view. The window has it, too, so that it is found among others. */
export function ViewTitle({ children, className }: { children: ReactNode; className?: string }): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const title = heading.current?.textContent;
    document.title = title ? `${title} · Baton` : 'Baton';
  });
  return (
    <h1 ref={heading} id="view-title" tabIndex={-1} className={className}>
      {children}
    </h1>
  );
}

export function SectionTitle({
  children,
  n,
  right,
  id,
}: {
  children: ReactNode;
  n?: ReactNode;
  right?: ReactNode;
  id?: string;
}): ReactNode {
  return (
    <div className="section-title">
      <h2 id={id}>
        {children}
        {n === undefined ? null : <span className="section-count"> {n}</span>}
      </h2>
      {right ? <div className="section-right">{right}</div> : null}
    </div>
  );
}

const WIDTH_MIN = 280;

/** In a narrow window detail takes less than half. */
function fitting(width: number): number {
  return Math.max(WIDTH_MIN, Math.min(width, Math.round(window.innerWidth * 0.38)));
}

/** Detail at the right. `Esc` closes it. Its width is kept under `name`. */
export function Pane({
  name,
  label,
  width,
  onClose,
  children,
}: {
  name: string;
  label: string;
  width: number;
  onClose?: () => void;
  children: ReactNode;
}): ReactNode {
  const key = `baton.pane.${name}`;
  const [kept, setKept] = useState(() => Number(localStorage.getItem(key)) || fitting(width));
  const pane = useRef<HTMLElement>(null);
  const set = (next: number): void => {
    const most = Math.max(WIDTH_MIN, window.innerWidth - 520);
    const fits = Math.round(Math.min(most, Math.max(WIDTH_MIN, next)));
    setKept(fits);
    localStorage.setItem(key, String(fits));
  };
  useKeys(label, onClose ? [{ keys: 'Escape', says: `Close ${label}`, run: onClose }] : []);
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    const [startX, start] = [event.clientX, pane.current?.offsetWidth ?? kept];
    const move = (moved: globalThis.PointerEvent): void => set(start + startX - moved.clientX);
    handle.addEventListener('pointermove', move);
    handle.addEventListener('pointerup', () => handle.removeEventListener('pointermove', move), { once: true });
  };
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: 24, ArrowRight: -24 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(kept + by);
  };
  return (
    <aside ref={pane} className="pane" aria-label={label} style={{ width: kept }}>
      <div
        className="pane-handle"
        role="separator"
        aria-orientation="vertical"
        aria-label={`Width of ${label}`}
        aria-valuenow={kept}
        aria-valuemin={WIDTH_MIN}
        aria-valuemax={2000}
        tabIndex={0}
        onPointerDown={drag}
        onKeyDown={step}
      />
      {children}
    </aside>
  );
}

export function CloseButton({ onClose, label = 'Close' }: { onClose: () => void; label?: string }): ReactNode {
  return <Button kind="quiet" icon="close" label={label} onPress={onClose} />;
}

/** Facts about one thing: a label at the left, what it is at the right. */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [label: string, value: ReactNode] | null | false)[];
}): ReactNode {
  return (
    <dl className="facts">
      {rows.map((row) =>
        row ? (
          <div key={row[0]} className="facts-row">
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}
