// `npm run docs`: writes the generated pages of the reference. A test fails when they are stale.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REFERENCE_PAGES } from './reference-pages.ts';

const folder = fileURLToPath(new URL('../docs/reference/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [name, page] of Object.entries(REFERENCE_PAGES)) writeFileSync(`${folder}${name}`, page());
