import type { ReactNode } from 'react';
import { Header } from '../parts/pane.tsx';

export default function Casts(): ReactNode {
  return <Header title="Casts" />;
}
