// A dialog. It keeps the keyboard inside, closes by Esc, and gives the focus back.
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useKeys } from '../keys.ts';
import './dialog.css';

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
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it, too
    <dialog
      ref={dialog}
      className={`dialog${isWide ? ' dialog-wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
        {acts ? <div className="dialog-acts">{acts}</div> : null}
      </div>
    </dialog>
  );
}
