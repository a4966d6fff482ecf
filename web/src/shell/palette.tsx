// The palette: places, casts, what waits, what the open view offers, every operation of the workspace, and every code.
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useId, useMemo, useRef, useState } from 'react';
import type { Operation } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand, Kbd } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Glyph, Icon } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { sentence } from '../parts/verdict.tsx';
import { castPath, go, inboxPath, useRoute } from '../router.ts';
import { nextTheme } from '../theme.ts';
import { useLook, useMay, useWorkspace } from '../workspace.ts';
import { type CastRow, KINDS, type Overview, titleOf } from './overview.ts';
import { type PaletteRow as Row, usePaletteRows } from './palette-rows.ts';
import { PLACES, statusOf } from './places.tsx';
import './palette.css';

const OperationForm = lazy(async () => ({ default: (await import('./operation-form.tsx')).OperationForm }));

const ROWS_MAX = 60;
/** Their card is opened instead, because it shows what is decided. */
const BY_CARD = new Set(['approve', 'reject']);
/** They answer with a stream of their own, or go on until somebody stops them. */
const NOT_HERE = new Set(['cast.watch', 'cast.wait', 'exec', 'watchdog']);

export default function Palette({
  overview,
  onClose,
  onKeys,
}: {
  overview: Overview;
  onClose: () => void;
  onKeys: () => void;
}): ReactNode {
  const hello = useWorkspace('hello');
  const mayStart = useMay()('cast.start');
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [operation, setOperation] = useState<Operation | null>(null);
  const [code, setCode] = useState<string | null>(null);
  const offered = usePaletteRows();
  const route = useRoute();
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const found = useLook<{ readonly casts: readonly CastRow[] }>(text.trim().length < 2 ? null : 'cast.list', {
    limit: 8,
    text: text.trim(),
  });
  // The codes are read once somebody searches.
  const codes = useLook<{ readonly codes: Codes }>(text.trim().length < 2 ? null : 'explain').details?.codes;
  const rows = useMemo(() => {
    const leave = (run: () => void) => () => {
      onClose();
      run();
    };
    const casts = new Map([...overview.openCasts, ...(found.details?.casts ?? [])].map((row) => [row.cast, row]));
    const all: Row[] = [
      ...overview.waits.map((row): Row => {
        const beside = row.request ?? '';
        return {
          id: `wait ${row.id}`,
          says: titleOf(row),
          beside,
          glyph: KINDS[row.kind].glyph,
          run: leave(() => go(inboxPath(row.id))),
        };
      }),
      ...(text.trim() === '' ? [] : offered).map((row): Row => ({ ...row, run: leave(row.run) })),
      ...PLACES.map(({ name, path, key, icon }): Row => {
        return { id: path, says: `Go to ${name}`, keys: `g ${key}`, icon, run: leave(() => go(path)) };
      }),
      ...(mayStart
        ? [{ id: 'new', says: 'Start a cast', keys: 'c', icon: 'plus', run: leave(() => go('/?new=1')) } as const]
        : []),
      ...[...casts.values()].map((row): Row => {
        const says = row.request;
        return {
          id: row.cast,
          says,
          beside: row.loadout,
          glyph: statusOf(row),
          run: leave(() => go(castPath(row.cast))),
        };
      }),
      {
        id: 'theme',
        says: 'Change between light, dark and system',
        keys: 'shift+d',
        icon: 'moon',
        run: leave(nextTheme),
      },
      { id: 'keys', says: 'Show the keys of this view', keys: '?', icon: 'keys', run: leave(onKeys) },
      ...(hello?.operations ?? [])
        .filter(({ name, may }) => may && !NOT_HERE.has(name))
        .map((each): Row => {
          const run = BY_CARD.has(each.name) ? leave(() => go('/inbox')) : () => setOperation(each);
          return { id: each.name, says: sentenceOf(each.means), beside: each.name, icon: 'program', run };
        }),
      ...Object.entries(codes ?? {}).map(([name, { means }]): Row => {
        return { id: `code ${name}`, says: sentenceOf(means), beside: name, icon: 'code', run: () => setCode(name) };
      }),
    ];
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const wordsOf = ({ says, beside = '' }: Row) => `${says} ${beside}`.toLowerCase();
    const fits = all.filter((row) => words.every((word) => wordsOf(row).includes(word)));
    // What is called so comes before what only mentions it.
    const begins = (row: Row) => words.length > 0 && (row.beside ?? '').toLowerCase().startsWith(words.join(' '));
    return [...fits.filter(begins), ...fits.filter((row) => !begins(row))].slice(0, ROWS_MAX);
  }, [text, overview, found.details, hello, onClose, onKeys, offered, codes, mayStart]);
  useKeys('Palette', [{ keys: 'Escape', says: 'Close', run: onClose, inFields: true }], { isModal: true });
  if (operation)
    return (
      <Suspense fallback={null}>
        <OperationForm operation={operation} given={givenFor(operation, route.path)} onClose={onClose} />
      </Suspense>
    );
  if (code !== null) return <CodeDialog code={code} row={codes?.[code]} onClose={onClose} />;
  const chosen = rows[Math.min(at, rows.length - 1)];
  const move = (event: KeyboardEvent): void => {
    const last = rows.length - 1;
    const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last, PageDown: at + 8, PageUp: at - 8 }[
      event.key
    ];
    if (step !== undefined && !(event.key === 'Home' || event.key === 'End' ? text !== '' : false)) {
      event.preventDefault();
      const next = Math.min(last, Math.max(0, step));
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      chosen?.run();
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it, too
    // biome-ignore lint/a11y/noStaticElementInteractions: a click beside the palette closes it
    <div className="palette-back" onClick={(event) => event.target === event.currentTarget && onClose()}>
      <div className="palette" role="dialog" aria-modal="true" aria-label="Go to, do, find">
        <div className="palette-field">
          <Icon name="search" />
          <input
            // biome-ignore lint/a11y/noAutofocus: a person who opens the palette writes into it
            autoFocus
            role="combobox"
            aria-label="Go to, do, find"
            aria-expanded="true"
            aria-controls={id}
            aria-activedescendant={chosen ? `${id} ${rows.indexOf(chosen)}` : undefined}
            placeholder="Go to, do, find"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setAt(0);
            }}
            onKeyDown={move}
          />
          <Kbd keys="Escape" />
        </div>
        <div ref={list} id={id} role="listbox" aria-label="What was found" className="palette-rows" tabIndex={-1}>
          {rows.map((row, n) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys of the list
            <div
              key={row.id}
              id={`${id} ${n}`}
              role="option"
              tabIndex={-1}
              aria-selected={row === chosen}
              className="palette-row"
              onClick={row.run}
              onPointerMove={() => setAt(n)}
            >
              {row.glyph ? <Glyph status={row.glyph} isQuiet /> : <Icon name={row.icon ?? 'right'} />}
              <span className="palette-says">
                <Foreign text={row.says} />
              </span>
              {row.beside ? (
                <span className="palette-beside">
                  <Foreign text={row.beside} />
                </span>
              ) : null}
              {row.keys ? <Kbd keys={row.keys} /> : null}
            </div>
          ))}
        </div>
        {rows.length === 0 ? <p className="palette-none">Nothing has these words.</p> : null}
      </div>
    </div>
  );
}

/** An operation about a cast begins with the one that is open. */
function givenFor({ fields }: Operation, [place, id]: readonly string[]): Readonly<Record<string, unknown>> {
  return place === 'cast' && id !== undefined && 'cast' in fields ? { cast: id } : {};
}

type Codes = Readonly<Record<string, { readonly means: string; readonly help?: string; readonly fix?: string }>>;

/** What a code means, and what to do about it. */
function CodeDialog({
  code,
  row,
  onClose,
}: {
  code: string;
  row: Codes[string] | undefined;
  onClose: () => void;
}): ReactNode {
  const lines = Object.values(row ?? {}).filter((each) => typeof each === 'string' && each.includes(' '));
  return (
    <Dialog
      title={<code className="code-title">{code}</code>}
      onClose={onClose}
      acts={
        <>
          <Button onPress={onClose}>Close</Button>
          <CopyCommand command={`baton explain ${code}`} />
        </>
      }
    >
      {lines.map((line) => (
        <p key={line}>
          <Foreign text={sentence(line)} />
        </p>
      ))}
    </Dialog>
  );
}

function sentenceOf(means: string): string {
  const [first = ''] = means.split(/[;:]/);
  return first.charAt(0).toUpperCase() + first.slice(1);
}
