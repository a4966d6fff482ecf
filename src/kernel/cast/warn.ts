// The warning that a budget is nearly used up, once.
import type { Cast } from '../state.ts';
import { warningDue } from './budget.ts';
import type { Pen } from './pen.ts';

export function warn(pen: Pen, cast: Cast): void {
  const percent = warningDue(cast);
  if (percent !== null) pen.write({ kind: 'budget.warned', cast: cast.id, usage: cast.usage, percent });
}
