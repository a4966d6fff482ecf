// A notification of the browser when something arrives that stops a cast. It decides nothing: it leads to the inbox.

import { useEffect, useRef, useState } from 'react';
import type { InboxRow } from '../../../src/app/views/cast-page.ts';
import { go, inboxPath } from '../router.ts';
import { inLine } from '../words.ts';
import { titleOf } from './overview.ts';

type Notify = 'on' | 'off' | 'ask' | 'none';

function present(): Notify {
  if (!('Notification' in window)) return 'none';
  return ({ granted: 'on', denied: 'off', default: 'ask' } as const)[Notification.permission];
}

export function useNotify(): readonly [Notify, ask: () => void] {
  const [state, setState] = useState(present);
  const ask = (): void => {
    void Notification.requestPermission().then(() => setState(present()));
  };
  return [state, ask];
}

/** What was there when the page opened is no news. */
export function useNotifications(waits: readonly InboxRow[], isRead: boolean): void {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (!isRead) return;
    const before = known.current;
    known.current = new Set(waits.map(({ id }) => id));
    if (!before || present() !== 'on' || !document.hidden) return;
    for (const row of waits.filter(({ id }) => !before.has(id)).slice(0, 3)) {
      const body = inLine(row.request ?? '').slice(0, 120);
      const note = new Notification(inLine(titleOf(row)).slice(0, 120), { body, tag: row.id, icon: '/icon.svg' });
      note.onclick = () => {
        window.focus();
        go(inboxPath(row.id));
        note.close();
      };
    }
  }, [waits, isRead]);
}
