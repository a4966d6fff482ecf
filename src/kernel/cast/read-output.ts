// Reads what an attempt put out in the contract of its socket. An output that was cut is never taken for the whole.
import { dialectCan, type WithCapabilities } from '../capabilities.ts';
import type { Reading } from '../dialect.ts';
import { DEFAULTS, type Materia, type Socket } from '../graph/config.ts';
import type { Input } from '../input.ts';
import { contractFor } from '../report/contract.ts';
import type { Cast, Turn } from '../state.ts';
import { refusalOfSmuggled } from '../trust/smuggled.ts';
import { utf8Length } from '../utf8-length.ts';
import { type Denied, deny } from '../verdict.ts';
import { materiaOf, type Pen, socketOf } from './pen.ts';

type Answer = Extract<Input, { kind: 'attempt.output' }>;

export function readOutput(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  { output, truncated = false, cutShort = false }: Answer,
): Reading {
  const socket = socketOf(cast, turn.socket);
  const bytes = utf8Length(output);
  const { maxOutputBytes } = socket.limits;
  if (bytes > maxOutputBytes && !truncated) {
    const message = `the output is longer than the ${maxOutputBytes} bytes that are allowed; ${RAISE}`;
    const verdict = deny('CONTRACT_VIOLATION', message, { issues: [{ path: '$', message }] });
    return { ok: false, verdict };
  }
  const read = pen.dialects[socket.contract].read(output, contractFor(cast, turn));
  const smuggled = read.ok ? refusalOfSmuggled(output, read.handoff.payload) : null;
  const reading: Reading = smuggled ? { ok: false, verdict: smuggled } : read;
  if (cutShort) return { ok: false, verdict: cutOff(reading.ok ? null : reading.verdict, CUT_SHORT) };
  if (!truncated || (reading.ok && mayBeCut(cast.rules, socket, materiaOf(cast, turn.socket)))) return reading;
  return { ok: false, verdict: cutOff(reading.ok ? null : reading.verdict, cutAt(maxOutputBytes)) };
}

/**
 * Only the text that a program printed, at the limit that nobody chose, is taken without its end, and its fact says so. The
 * head of JSON may read like the whole, and a limit that somebody wrote down is meant.
 */
function mayBeCut(rules: WithCapabilities, { contract, limits }: Socket, { type }: Materia): boolean {
  return (
    type === 'utility' && !dialectCan(rules, contract, 'isJson') && limits.maxOutputBytes === DEFAULTS.maxOutputBytes
  );
}

const RAISE = 'write less, or raise limits.maxOutputBytes of the socket';

/** Said of half an answer, whatever it reads like: JSON with words after it may be whole, and nobody knows. */
const CUT_SHORT =
  'the answer was cut off before its end, at the limit of length of the model or at a filter of its provider; answer in fewer words, or with a model that may say more';

function cutAt(maxOutputBytes: number): string {
  return `the output is larger than the ${maxOutputBytes} bytes that are allowed and was cut there; ${RAISE}`;
}

/** What is wrong with half an output is not what is wrong: that the other half is missing comes first. */
function cutOff(refusal: Denied | null, message: string): Denied {
  if (!refusal) return deny('CONTRACT_VIOLATION', message, { issues: [{ path: '$', message }] });
  const { code, reason, details } = refusal;
  const issues = Array.isArray(details.issues) ? details.issues : [];
  return deny(code, `${message} (what is left: ${reason})`, {
    ...details,
    issues: [{ path: '$', message }, ...issues],
  });
}
