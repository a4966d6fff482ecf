// One cast: what it is, and its items.
import type { ReactNode } from 'react';
import { Header } from '../parts/pane.tsx';
import { Answered } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { CAST_CHANGES } from '../shell/overview.ts';
import { useLook } from '../workspace.ts';

export type CastViewProps = {
  /** The id of the cast. */
  readonly cast: string;
  /** The turn of the address: `18`, or `18.1` with an attempt. `at` and the rest are in the query (`useRoute`). */
  readonly turn: string | undefined;
};

type CastPage = {
  readonly request: string;
  readonly loadout: string;
  readonly status: string;
  readonly items?: readonly { readonly title: string; readonly status: string }[];
};

export default function CastView({ cast }: CastViewProps): ReactNode {
  const view = useLook<CastPage>(`casts/${encodeURIComponent(cast)}/view`, {}, CAST_CHANGES);
  return (
    <>
      <Header title={<Foreign text={view.details?.request ?? 'Cast'} />} below={view.details?.loadout} />
      <div className="view-main page-missing">
        <Answered answer={view} what="The cast">
          {({ status, items = [] }) => (
            <>
              <p>{status}</p>
              <ol>
                {items.map((item) => (
                  <li key={item.title}>
                    <Foreign text={item.title} />, {item.status}
                  </li>
                ))}
              </ol>
            </>
          )}
        </Answered>
      </div>
    </>
  );
}
