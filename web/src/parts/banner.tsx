// One line under the header that everybody must see: the line is lost, somebody looks back, nothing new is handed out.
import type { ReactNode } from 'react';
import './banner.css';

export function Banner({
  kind,
  title,
  children,
  act,
}: {
  kind: 'lost' | 'back' | 'plain';
  title: ReactNode;
  children?: ReactNode;
  act?: ReactNode;
}): ReactNode {
  return (
    <div className={`banner banner-${kind}`} role="status">
      <p>
        <b>{title}</b>
        {children ? <span> {children}</span> : null}
      </p>
      {act}
    </div>
  );
}
