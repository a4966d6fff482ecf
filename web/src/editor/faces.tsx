// The two faces that are text. What is typed becomes the document as soon as it can be read; until then the last good picture stays.
import { type ReactNode, type Ref, useEffect, useMemo, useRef, useState } from 'react';
import { type FaceReading, jsonFace, readJsonFace, readShortFace, shortFace } from '../../../src/editor/faces.ts';
import { Empty } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { inLine } from '../words.ts';
import type { Draft, DraftState } from './draft.ts';
import type { Opened } from './opened.ts';

export type TextFace = 'json' | 'short';

const NAMES: Readonly<Record<TextFace, string>> = { json: 'JSON', short: 'Short form' };

export default function FaceText({
  draft,
  state,
  isReadOnly,
  face,
  opened,
  onBroken,
}: {
  draft: Draft;
  state: DraftState;
  isReadOnly: boolean;
  face: TextFace;
  opened: Opened;
  onBroken: (isBroken: boolean) => void;
}): ReactNode {
  const { document, selection } = state;
  /** What is typed, as long as it does not say what the document says; the text before, so that comments and order stay. */
  const [typed, setTyped] = useState<{ readonly text: string; readonly reading: FaceReading } | null>(null);
  const isOwn = face === 'short' && opened.home === 'short';
  const kept = useRef<string | undefined>(isOwn ? opened.text : undefined);
  const kind = opened.kind === 'jsonc' ? 'jsonc' : 'yaml';
  const area = useRef<HTMLTextAreaElement>(null);
  const written = useMemo(() => {
    if (face === 'json') return { ok: true as const, text: jsonFace(document, kept.current) };
    return shortFace(document, kept.current, kind);
  }, [document, face, kind]);
  const own = typed?.reading.ok ? typed.reading.document : null;
  const isTyped = typed !== null && (!typed.reading.ok || own === document);
  const text = isTyped ? typed.text : written.ok ? written.text : '';
  useEffect(() => {
    if (written.ok) kept.current = isTyped && typed ? typed.text : written.text;
  }, [written, isTyped, typed]);
  const isBroken = isTyped && typed !== null && !typed.reading.ok;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what to call does not change what is broken
  useEffect(() => {
    onBroken(isBroken);
    return () => onBroken(false);
  }, [isBroken]);

  // What is selected in the picture is shown here, too.
  const [chosen] = selection.sockets;
  const place = face === 'json' && chosen !== undefined ? text.indexOf(`"${chosen}": {`) : -1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another place is shown, not what is typed there
  useEffect(() => {
    const element = area.current;
    if (!element || place < 0 || element === globalThis.document.activeElement) return;
    const line = text.slice(0, place).split('\n').length;
    element.scrollTop = Math.max(0, (line - 4) * 20);
    element.setSelectionRange(place, place + (chosen?.length ?? 0) + 2);
  }, [place, chosen]);

  const change = (next: string): void => {
    const reading = face === 'json' ? readJsonFace(next, document) : readShortFace(next, document, kind);
    setTyped({ text: next, reading });
    if (reading.ok) draft.edit({ edit: 'replace', document: reading.document });
  };
  if (!written.ok && !isTyped)
    return (
      <div className="face-text">
        <div className="face-none">
          <Empty>The short form cannot say all of this loadout. It stays as JSON.</Empty>
          <ul>
            {written.reasons.map((reason, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same reason may hold for two places
              <li key={at}>
                <Foreign text={reasonOf(reason)} />
              </li>
            ))}
          </ul>
        </div>
      </div>
    );
  const faults = typed !== null && !typed.reading.ok ? typed.reading.faults : [];
  return (
    <div className="face-text">
      <TextArea
        ref={area}
        label={`${NAMES[face]} of ${document.name}`}
        value={text}
        faults={faults}
        isReadOnly={isReadOnly}
        onChange={change}
        onBlur={draft.settle}
      />
      {faults.length > 0 ? (
        <div className="face-faults" id="text-area-faults" role="alert">
          {faults.slice(0, 5).map(({ line, column, message }) => (
            <button
              key={`${line} ${column} ${message}`}
              type="button"
              className="face-fault"
              onClick={() => goTo(area.current, text, line, column)}
            >
              <b>
                Line {line}, column {column}
              </b>{' '}
              <Foreign text={message} />
            </button>
          ))}
          <p className="quiet">The picture shows the last text that could be read.</p>
        </div>
      ) : null}
    </div>
  );
}

function reasonOf(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  const { message, why, reason: words, path } = reason as Readonly<Record<string, unknown>>;
  return [path, message ?? why ?? words].filter((each) => typeof each === 'string').join(': ');
}

function goTo(area: HTMLTextAreaElement | null, text: string, line: number, column: number): void {
  if (!area) return;
  const lines = text.split('\n');
  const at = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  area.focus();
  area.setSelectionRange(at, at + 1);
  area.scrollTop = Math.max(0, (line - 4) * 20);
}

type LineFault = { readonly line: number; readonly column: number; readonly message: string };

/** A text that is edited as it is, with line numbers and a mark at the line of each mistake. */
function TextArea({
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
