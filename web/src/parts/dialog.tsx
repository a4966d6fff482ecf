// A dialog. It keeps the keyboard inside, closes by Esc, and gives the focus back. Enter in a field of one line is its main button.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { useKeys } from '../keys.ts';
import './dialog.css';

/** Enter means nothing of its own in these. */
const ONE_LINE: ReadonlySet<string> = new Set(['text', 'search', 'number', 'password']);

export function Dialog({
  title,
  onClose,
  children,
  acts,
  isWide = false,
}: {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
  acts?: ReactNode;
  isWide?: boolean;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // The keys of the view below do nothing meanwhile.
  useKeys('Dialog', [], { isModal: true });
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const pressMain = (event: KeyboardEvent): void => {
    const { target, key, nativeEvent } = event;
    const isPlain = key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isPlain || event.defaultPrevented || nativeEvent.isComposing) return;
    if (!(target instanceof HTMLInputElement) || !ONE_LINE.has(target.type) || target.role === 'combobox') return;
    event.preventDefault();
    dialog.current?.querySelector<HTMLElement>('.dialog-acts .button-primary')?.click();
  };
  return (
    <dialog
      ref={dialog}
      className={`dialog${isWide ? ' dialog-wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={pressMain}
    >
      <div className="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
        {acts ? <div className="dialog-acts">{acts}</div> : null}
      </div>
    </dialog>
  );
}
