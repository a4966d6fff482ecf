import type { ReactNode } from 'react';
import { Header } from '../parts/pane.tsx';

export default function History({ tab }: { tab: string | undefined }): ReactNode {
  return <Header title="History" beside={tab} />;
}
