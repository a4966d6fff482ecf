import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './tokens.css';
import './base.css';
import { listenToKeys } from './keys.ts';
import { Shell } from './shell/shell.tsx';
import { applyTheme } from './theme.ts';
import { open } from './workspace.ts';

applyTheme();
listenToKeys();
void open();
const root = document.getElementById('page');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Shell />
    </StrictMode>,
  );
