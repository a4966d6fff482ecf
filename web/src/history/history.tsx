// The history: what happened, entry by entry, whether it is as it was written, and what it cost.
import type { ReactNode } from 'react';
import { Header } from '../parts/pane.tsx';
import { linkTo } from '../router.ts';
import { Costs } from './costs.tsx';
import '../parts/lists.css';
import './history.css';
import { Log } from './log.tsx';

const TABS = [
  ['log', 'Log'],
  ['costs', 'Costs'],
] as const;

export default function History({ tab = 'log' }: { tab: string | undefined }): ReactNode {
  return (
    <>
      <Header
        title="History"
        beside={
          <nav className="tabs" aria-label="History">
            {TABS.map(([id, name]) => (
              <a key={id} {...linkTo(`/history/${id}`)} aria-current={id === tab ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
        }
      />
      {tab === 'costs' ? <Costs /> : <Log />}
    </>
  );
}
