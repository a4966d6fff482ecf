// Reads the envelope an agent wrote: the one JSON object of its answer, with the shape of a handoff. Who the agents are
// and whether they may is for the verifier, which has the registry.
import { extractObject } from '../dialects/json-answer.ts';
import type { Reading } from '../kernel/dialect.ts';
import type { Problem } from '../kernel/trust/problem.ts';
import { refusal } from './answer.ts';
import { checkSchema } from './envelope.ts';
import { LIMITS, parseEnvelope } from './parse.ts';
import type { StageName } from './stage.ts';

export function governedRead(raw: string): Reading {
  const found = extractObject(raw, { maxBytes: LIMITS.textBytes });
  if (!found.ok) {
    const message = `${found.message} (line ${found.line}, column ${found.column})`;
    if (found.kind === 'forbidden_key') return refuse('injection', [{ code: 'INJECTION_KEY', pointer: '', message }]);
    const isLimit = found.kind === 'too_large' || found.kind === 'too_deep';
    return refuse('parse', [{ code: isLimit ? 'LIMIT_EXCEEDED' : 'PARSE', pointer: '', message }]);
  }
  const parsed = parseEnvelope(found.value);
  if (!parsed.ok) return refuse('parse', parsed.problems);
  const { problems } = checkSchema(parsed.value);
  if (problems.length > 0) return refuse('schema', problems);
  return { ok: true, handoff: { outcome: 'done', satisfied: null, payload: parsed.value } };
}

function refuse(stage: StageName, problems: readonly Problem[]): Reading {
  return { ok: false, verdict: refusal(stage, problems) };
}
