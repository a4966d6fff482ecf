// A text that is edited as it is, with line numbers and a mark at the line of each mistake.
import { type ReactNode, type Ref, useRef } from 'react';
import { inLine } from '../words.ts';

export type LineFault = { readonly line: number; readonly column: number; readonly message: string };

export function TextArea({
  label,
  value,
  faults,
  isReadOnly,
  onChange,
  onBlur,
  ref,
}: {
  label: string;
  value: string;
  faults: readonly LineFault[];
  isReadOnly: boolean;
  onChange: (text: string) => void;
  onBlur: () => void;
  ref?: Ref<HTMLTextAreaElement>;
}): ReactNode {
  const gutter = useRef<HTMLDivElement>(null);
  const wrong = new Map(faults.map((fault) => [fault.line, fault]));
  const count = value.split('\n').length;
  return (
    <div className="text-area">
      <div ref={gutter} className="text-area-gutter" aria-hidden="true">
        {Array.from({ length: count }, (_, n) => {
          const fault = wrong.get(n + 1);
          return (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              key={n}
              className={fault ? 'text-area-wrong' : undefined}
              title={fault ? inLine(fault.message) : undefined}
            >
              {n + 1}
            </span>
          );
        })}
      </div>
      <textarea
        ref={ref}
        aria-label={label}
        aria-invalid={faults.length > 0 || undefined}
        aria-describedby={faults.length > 0 ? 'text-area-faults' : undefined}
        value={value}
        readOnly={isReadOnly}
        spellCheck={false}
        wrap="off"
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
