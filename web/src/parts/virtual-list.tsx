// A list of which only the rows near the window are drawn. Every row has the same height.
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useIsPhone } from './phone.ts';
import './virtual-list.css';

const BEYOND = 12;
/** What a finger can hit. */
const TARGET_PX = 44;
const places = new Map<string, number>();

export function VirtualList<T>({
  rows,
  total = rows.length,
  height: usual,
  onPhone = Math.max(TARGET_PX, usual),
  label,
  name,
  keyOf,
  children,
  onNearEnd,
  selected = -1,
}: {
  rows: readonly T[];
  /** With those that are not read yet. */
  total?: number;
  /** Of each row, in pixels. */
  height: number;
  onPhone?: number;
  label: string;
  /** The place is kept under this name while somebody looks elsewhere. */
  name: string;
  keyOf: (row: T) => string;
  children: (row: T, n: number) => ReactNode;
  onNearEnd?: () => void;
  /** This row is brought into the window when it changes. */
  selected?: number;
}): ReactNode {
  const height = useIsPhone() ? onPhone : usual;
  const frame = useRef<HTMLDivElement>(null);
  const [[top, seen], setWindow] = useState<readonly [number, number]>([0, 900]);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    element.scrollTop = places.get(name) ?? 0;
    const measure = (): void => setWindow([element.scrollTop, element.clientHeight]);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [name]);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || selected < 0) return;
    const at = selected * height;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + height > element.scrollTop + element.clientHeight)
      element.scrollTop = at + height - element.clientHeight;
  }, [selected, height]);
  const first = Math.max(0, Math.floor(top / height) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((top + seen) / height) + BEYOND);
  const isNearEnd = last >= rows.length - BEYOND;
  useEffect(() => {
    if (isNearEnd && rows.length < total) onNearEnd?.();
  }, [isNearEnd, rows.length, total, onNearEnd]);
  return (
    <div
      ref={frame}
      className="virtual"
      role="group"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        places.set(name, currentTarget.scrollTop);
        setWindow([currentTarget.scrollTop, currentTarget.clientHeight]);
      }}
    >
      <ul style={{ height: rows.length * height }}>
        {rows.slice(first, last).map((row, n) => (
          <li
            key={keyOf(row)}
            aria-setsize={total}
            aria-posinset={first + n + 1}
            style={{ height, transform: `translateY(${(first + n) * height}px)` }}
          >
            {children(row, first + n)}
          </li>
        ))}
      </ul>
    </div>
  );
}
