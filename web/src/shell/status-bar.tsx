// The one line of truth: connection, entry, last verification, cost today, who I am.
import type { ReactNode } from 'react';
import { Kbd } from '../parts/button.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { linkTo } from '../router.ts';
import { nextTheme, useTheme } from '../theme.ts';
import { clock, clockSeconds, count } from '../words.ts';
import { useWorkspace } from '../workspace.ts';
import { costOfLimit, isNearLimit, useCostToday } from './cost.ts';
import type { Overview } from './overview.ts';
import { useVerified } from './verified.ts';

const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const;

export function StatusBar({ onKeys }: { overview: Overview; onKeys: () => void }): ReactNode {
  const connection = useWorkspace('connection');
  const seq = useWorkspace('seq');
  const hello = useWorkspace('hello');
  const verified = useVerified();
  const cost = useCostToday();
  const theme = useTheme();
  return (
    <footer className={`status-bar status-${connection.is}`}>
      <span className="status-line" role="status">
        <span className="status-dot" />
        {connection.is === 'lost'
          ? `Disconnected since ${clockSeconds(connection.since)}`
          : connection.is === 'live'
            ? 'Live'
            : 'Connecting'}
      </span>
      <span>
        entry <b>{count(seq)}</b>
      </span>
      {verified ? (
        <a {...linkTo('/history/log')} className={verified.isGood ? undefined : 'bad'}>
          {verified.isGood ? 'history verified' : 'history is not as it was written'} <b>{clock(verified.at)}</b>
        </a>
      ) : null}
      <span className="status-gap" />
      {cost ? (
        <a {...linkTo('/history/costs')} className={isNearLimit(cost) ? 'wait' : undefined}>
          <b>{costOfLimit(cost)}</b> today
        </a>
      ) : null}
      {hello ? (
        <span>
          {hello.me.name}, {hello.me.role}
        </span>
      ) : null}
      <button type="button" onClick={nextTheme} title={`Theme: ${theme}`} aria-label={`Theme: ${theme}. Change it`}>
        <Icon name={THEME_ICONS[theme]} size={14} />
      </button>
      <button type="button" onClick={onKeys}>
        Keys <Kbd keys="?" />
      </button>
    </footer>
  );
}
