// The materia dialect: a small JSON object with `workItems`, `satisfied` and `context`, and what its socket assigns.
import type { Dialect } from '../../kernel/dialect.ts';
import { materiaBrief, materiaRepair } from './brief.ts';
import { readMateria } from './read.ts';

export const materia: Dialect = { brief: materiaBrief, repair: materiaRepair, read: readMateria };
