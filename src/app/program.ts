// The program itself, for whoever is to start it: agents and their hooks, and detached casts.
import { fileURLToPath } from 'node:url';

export const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
