import type { ReactNode } from 'react';
import { Header } from '../parts/pane.tsx';

export default function Home(): ReactNode {
  return <Header title="Home" />;
}
