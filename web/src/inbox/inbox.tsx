import type { ReactNode } from 'react';
import { Header } from '../parts/pane.tsx';

export default function Inbox({ id }: { id: string | undefined }): ReactNode {
  return <Header title="Inbox" beside={id} />;
}
