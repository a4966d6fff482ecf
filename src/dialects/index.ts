// All dialects by the name a socket chooses them with.
import type { Dialects } from '../kernel/pen.ts';
import { gaia } from './gaia/index.ts';
import { materia } from './materia/index.ts';
import { operator } from './operator/index.ts';
import { textDialect } from './text/index.ts';

export const dialects: Dialects = { materia, gaia, operator, text: textDialect };
