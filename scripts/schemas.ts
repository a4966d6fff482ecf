// `npm run schemas`: writes the published JSON Schemas. A test fails when they are stale.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PUBLISHED_SCHEMAS, schemaText } from '../src/contracts/published-schemas.ts';

const folder = fileURLToPath(new URL('../schemas/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const name of Object.keys(PUBLISHED_SCHEMAS)) writeFileSync(`${folder}${name}.schema.json`, schemaText(name));
