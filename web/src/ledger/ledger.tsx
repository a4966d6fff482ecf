import type { ReactNode } from 'react';
import { Header } from '../parts/pane.tsx';

export default function Ledger(): ReactNode {
  return <Header title="Ledger" />;
}
