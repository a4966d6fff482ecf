// Checks of `assign`: which part of an output goes to which slot of the cast data.
import type { Code } from '../codes.ts';
import { isObject, type Json } from '../json.ts';
import { error, type Findings, shown } from './issue.ts';
import { problemOfSource, problemOfTarget } from './path-syntax.ts';

export function* checkAssign(assign: Json | undefined, path: string, code: Code): Findings {
  if (assign === undefined) return;
  if (!isObject(assign)) {
    yield error(code, path, `assign is ${shown(assign)}. Write an object such as {"lastCheck": "$.context"}.`);
    return;
  }
  for (const [target, source] of Object.entries(assign)) {
    const problem = problemOfTarget(target) ?? problemOfSource(source);
    if (problem !== null) yield error(code, `${path}.${target}`, `This assignment cannot be made: ${problem}.`);
  }
}
