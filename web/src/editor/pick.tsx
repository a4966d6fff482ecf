// A short list to choose from: a materia to add, a socket to connect to. The field has the focus; arrows move, Enter takes.
import { type ReactNode, useId, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Name } from '../parts/text.tsx';

export type Picked = { readonly id: string; readonly says: string; readonly beside: string };

export function Pick({
  title,
  of,
  onPick,
  onClose,
}: {
  title: string;
  of: readonly Picked[];
  onPick: (id: string) => void;
  onClose: () => void;
}): ReactNode {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = of.filter(({ says, beside, id: own }) => {
    const all = `${says} ${beside} ${own}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const chosen = Math.min(at, shown.length - 1);
  const take = (picked: Picked | undefined): void => {
    if (!picked) return;
    onClose();
    onPick(picked.id);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="pick">
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={shown.length > 0 ? `${id}-${chosen}` : undefined}
          aria-label={title}
          placeholder="Type a part of its name"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (by !== undefined) {
              event.preventDefault();
              setAt((chosen + by + shown.length) % Math.max(1, shown.length));
            } else if (event.key === 'Enter') {
              event.preventDefault();
              take(shown[chosen]);
            }
          }}
        />
        <div className="pick-list" id={`${id}-list`} role="listbox" aria-label={title}>
          {shown.slice(0, 60).map((each, n) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
            <div
              key={each.id}
              id={`${id}-${n}`}
              className="pick-row"
              role="option"
              tabIndex={-1}
              aria-selected={n === chosen}
              onClick={() => take(each)}
            >
              <Name text={each.says} />
              <span className="quiet">{each.beside}</span>
            </div>
          ))}
        </div>
        {shown.length === 0 ? <p className="quiet">Nothing fits.</p> : null}
      </div>
    </Dialog>
  );
}
