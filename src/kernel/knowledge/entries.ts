// The entries of `update_contracts`: writes to sections and deposits of evidence. Each entry is permitted or refused by itself;
// none breaks the report it came in.
import type { Code } from '../codes.ts';
import { isObject, isString, isText, type Json, type JsonObject, nameOfType } from '../json.ts';
import { normalPath, PATH_FAULTS } from '../ledger/path.ts';
import { integerOf } from '../report/sections.ts';
import { utf8Length } from '../text.ts';
import { below, type Finding, findingWarning, textOf } from './live-state.ts';

export type WrittenEntry = { readonly contract: string; readonly payload: JsonObject };

type Refused = {
  readonly contract: string;
  readonly code: Code;
  readonly why: string;
  /** The place in the report, where that says more than the section. */
  readonly path?: string;
};

type Sorted = {
  readonly permitted: readonly WrittenEntry[];
  /** The evidence that is deposited; none where a piece of it cannot be taken. */
  readonly deposits: readonly Deposit[];
  /** One for each entry that names a section and may not be written, and for each piece of evidence that is not taken. */
  readonly refused: readonly Refused[];
  /** The sections these entries name, each once. */
  readonly rejected: readonly string[];
  /** The warnings about entries that are none, and about evidence that is taken all the same. */
  readonly skipped: readonly Finding[];
  /** The warnings about all entries that are not written. */
  readonly findings: readonly Finding[];
};

const NO_ENTRIES: Sorted = { permitted: [], deposits: [], refused: [], rejected: [], skipped: [], findings: [] };

/**
 * Sorts entries by whether they may be written. `writable` is null where no list was given: then all may. `seen` holds the
 * files that evidence names; null where they could not be inspected.
 */
export function sortEntries(
  entries: Json | undefined,
  writable: readonly string[] | null,
  path: string,
  seen: Artifacts | null = null,
): Sorted {
  if (entries === undefined || entries === null) return NO_ENTRIES;
  if (!Array.isArray(entries)) {
    const skipped = [skip(path, `expected an array of {contract, payload}, got ${nameOfType(entries)}`)];
    return { ...NO_ENTRIES, skipped, findings: skipped };
  }
  const sections = writable && new Set(writable);
  const list = writable?.length ? textOf(writable.toSorted().join(', ')) : '(none)';
  const permitted: WrittenEntry[] = [];
  const evidence: Placed[] = [];
  const refused: Refused[] = [];
  const skipped: Finding[] = [];
  const findings: Finding[] = [];
  const refuse = (at: string, contract: string, code: Code, why: string) => {
    refused.push({ contract, code, why });
    findings.push(rejection(contract, at, why));
  };
  for (const [index, entry] of (entries as readonly Json[]).entries()) {
    const at = below(path, index);
    const { contract, payload } = isObject(entry) ? entry : {};
    if (!isString(contract) || payload === undefined) {
      const found = skip(at, 'not an object with contract and payload');
      skipped.push(found);
      findings.push(found);
    } else if (contract === EVIDENCE) {
      evidence.push({ at, payload });
    } else if (sections && !sections.has(contract)) {
      refuse(at, contract, 'WRITE_NOT_PERMITTED', `may not be written; writable sections: ${list}`);
    } else if (!isObject(payload)) {
      refuse(at, contract, 'PAYLOAD_NOT_OBJECT', `its payload must be an object, got ${nameOfType(payload)}`);
    } else {
      permitted.push({ contract, payload });
    }
  }
  const { deposits, faults, findings: doubts } = readDeposits(evidence, seen);
  for (const { code, path: place, why } of faults) {
    refused.push({ contract: EVIDENCE, code, why: `${place}: ${why}`, path: place });
    findings.push(rejection(EVIDENCE, place, `${code}: ${why}`));
  }
  skipped.push(...doubts);
  findings.push(...doubts);
  const rejected = [...new Set(refused.map(({ contract }) => contract))];
  return { permitted, deposits, refused, rejected, skipped, findings };
}

export function rejection(contract: string, path: string, why: string): Finding {
  return findingWarning(`UPDATE_CONTRACTS_REJECTED:${textOf(contract)}`, path, `${textOf(contract)}: ${why}`);
}

function skip(path: string, why: string): Finding {
  return findingWarning(`UPDATE_CONTRACTS_SKIPPED:${path}`, path, why);
}

/** An entry named `evidence` deposits proof for a criterion of a brief. All evidence of one report is taken or none. */
export const EVIDENCE = 'evidence';

export const EVIDENCE_TYPES = ['text', 'file', 'command_output', 'url', 'screenshot'] as const;
type EvidenceType = (typeof EVIDENCE_TYPES)[number];

export const DEPOSITS_MAX = 64;
export const TEXT_BYTES_MAX = 65_536;
export const ARTIFACT_BYTES_MAX = 67_108_864;
const NAME_CHARS_MAX = 200;
const PATH_CHARS_MAX = 1_024;

/** Either `text` or `artifact_path`; the path is relative to the folder of the turn, and in its normal form. */
export type Deposit = {
  readonly brief_id: number;
  readonly ac_id: string;
  readonly type: EvidenceType;
  readonly text?: string;
  readonly artifact_path?: string;
  readonly task_id?: string;
  readonly created_by_agent?: string;
  readonly size_bytes?: number;
};

/** What was seen of a file that is named as evidence: whether it lies in the folder once links are followed, and its size. */
export type Artifact = { readonly inside: boolean; readonly bytes: number | null };
export type Artifacts = Readonly<Record<string, Artifact>>;

/** An entry that deposits evidence, and its place. */
type Placed = { readonly at: string; readonly payload: Json };

type Fault = { readonly code: Code; readonly path: string; readonly why: string };

type Deposits = {
  /** None where one of them cannot be taken. */
  readonly deposits: readonly Deposit[];
  /** Where one of them cannot be taken, one for each in their order. */
  readonly faults: readonly Fault[];
  readonly findings: readonly Finding[];
};

/** All of it or nothing. `seen` is null where no files can be looked at: then paths are judged by how they are written. */
export function readDeposits(entries: readonly Placed[], seen: Artifacts | null): Deposits {
  const read = entries.map((entry, index) => readDeposit(entry, index, seen));
  const findings = read.flatMap((one) => ('code' in one ? [] : one.findings));
  if (!read.some((one) => 'code' in one)) {
    return { deposits: read.flatMap((one) => ('code' in one ? [] : [one.deposit])), faults: [], findings };
  }
  const faults = read.map((one, index): Fault => ('code' in one ? one : withheld(entries[index]?.at ?? '')));
  return { deposits: [], faults, findings: [] };
}

function withheld(at: string): Fault {
  const why =
    'nothing is wrong with it, and it is not taken without the other evidence of the report; send all of it again';
  return { code: 'EVIDENCE_WITHHELD', path: at, why };
}

/** The paths that the evidence of a report names and that can lie in the folder by how they are written, each once. */
export function artifactsNamed(report: JsonObject): readonly string[] {
  const entries = Array.isArray(report.update_contracts) ? (report.update_contracts as readonly Json[]) : [];
  const payloads = entries
    .filter(isObject)
    .flatMap(({ contract, payload }) => (contract === EVIDENCE ? [payload] : []));
  const paths = payloads.slice(0, DEPOSITS_MAX).flatMap((payload) => {
    const path = isObject(payload) && isText(payload.artifact_path) ? insidePath(payload.artifact_path) : null;
    return path?.ok ? [path.path] : [];
  });
  return [...new Set(paths)];
}

type Read = { readonly deposit: Deposit; readonly findings: readonly Finding[] };

function readDeposit({ at, payload }: Placed, index: number, seen: Artifacts | null): Read | Fault {
  const path = below(at, 'payload');
  if (index >= DEPOSITS_MAX) {
    return { code: 'CONTEXT_LIMIT', path: at, why: `one report deposits at most ${DEPOSITS_MAX} pieces of evidence` };
  }
  if (!isObject(payload)) return bad(path, `must be an object, got ${nameOfType(payload)}`);
  const { brief_id, ac_id, type, text = null, artifact_path: artifact = null } = payload;
  const briefId = integerOf(brief_id);
  if (briefId === null || !Number.isSafeInteger(briefId)) {
    return bad(below(path, 'brief_id'), `must be a whole number, got ${shown(brief_id)}`);
  }
  const acId = nameOf(ac_id);
  if (acId === null)
    return bad(below(path, 'ac_id'), `must name the criterion in at most ${NAME_CHARS_MAX} characters`);
  const known = EVIDENCE_TYPES.find((each) => each === type);
  if (!known) return bad(below(path, 'type'), `must be one of ${EVIDENCE_TYPES.join(', ')}, got ${shown(type)}`);
  if ((text === null) === (artifact === null)) {
    return bad(path, `must have either text or artifact_path, and has ${text === null ? 'neither' : 'both'}`);
  }
  const about = { brief_id: briefId, ac_id: acId, type: known };
  const more = optionsOf(payload, path);
  if ('code' in more) return more;
  if (text === null) return withArtifact({ ...about, ...more }, artifact, below(path, 'artifact_path'), seen);
  if (!isString(text)) return bad(below(path, 'text'), `must be a text, got ${nameOfType(text)}`);
  const bytes = utf8Length(text);
  if (bytes > TEXT_BYTES_MAX) return tooLarge(below(path, 'text'), bytes, TEXT_BYTES_MAX);
  return { deposit: { ...about, text, ...more }, findings: [] };
}

/** The file as it was seen counts before any claim about it. */
function withArtifact(about: Deposit, artifact: Json, path: string, seen: Artifacts | null): Read | Fault {
  if (!isText(artifact)) return bad(path, `must be the path of a file, got ${nameOfType(artifact)}`);
  const inside = insidePath(artifact);
  if (!inside.ok) return { code: 'EVIDENCE_OUTSIDE', path, why: inside.why };
  const deposit = { ...about, artifact_path: inside.path };
  if (seen === null) return { deposit, findings: [] };
  const file = Object.hasOwn(seen, inside.path) ? seen[inside.path] : undefined;
  if (!file?.inside) {
    const why = file ? 'leads out of the workspace by a link; name a file inside it' : 'could not be looked at';
    return { code: 'EVIDENCE_OUTSIDE', path, why };
  }
  if (file.bytes === null)
    return { deposit, findings: [findingWarning(`EVIDENCE_MISSING:${path}`, path, 'there is no such file')] };
  if (file.bytes > ARTIFACT_BYTES_MAX) return tooLarge(path, file.bytes, ARTIFACT_BYTES_MAX);
  return { deposit: { ...deposit, size_bytes: file.bytes }, findings: [] };
}

type Inside = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly why: string };

function insidePath(raw: string): Inside {
  if (raw.length > PATH_CHARS_MAX) return { ok: false, why: `is longer than ${PATH_CHARS_MAX} characters` };
  const found = normalPath(raw);
  if (!found.ok) return { ok: false, why: PATH_FAULTS[found.fault] };
  const isElsewhere = found.path.startsWith('/') || found.path.startsWith('~') || /^[A-Za-z]:/.test(found.path);
  return isElsewhere ? { ok: false, why: 'must be relative to the folder you work in' } : found;
}

type Options = Pick<Deposit, 'task_id' | 'created_by_agent' | 'size_bytes'>;

function optionsOf(payload: JsonObject, path: string): Options | Fault {
  const { task_id: task = null, created_by_agent: agent = null, size_bytes: size = null } = payload;
  const [taskId, agentName] = [nameOf(task), nameOf(agent)];
  if (task !== null && taskId === null) return bad(below(path, 'task_id'), 'must be the id of a task, or be left out');
  if (agent !== null && agentName === null) {
    return bad(below(path, 'created_by_agent'), 'must be the name of an agent, or be left out');
  }
  const bytes = integerOf(size);
  if (size !== null && (bytes === null || bytes < 0)) {
    return bad(below(path, 'size_bytes'), `must be a number of bytes, or be left out, got ${shown(size)}`);
  }
  if (bytes !== null && bytes > ARTIFACT_BYTES_MAX)
    return tooLarge(below(path, 'size_bytes'), bytes, ARTIFACT_BYTES_MAX);
  return {
    ...(taskId === null ? {} : { task_id: taskId }),
    ...(agentName === null ? {} : { created_by_agent: agentName }),
    ...(bytes === null ? {} : { size_bytes: bytes }),
  };
}

/** A name may be written as a number. */
function nameOf(value: Json | undefined): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  return isText(text) && text.length <= NAME_CHARS_MAX ? text.trim() : null;
}

function bad(path: string, why: string): Fault {
  return { code: 'EVIDENCE_INVALID', path, why };
}

function tooLarge(path: string, bytes: number, max: number): Fault {
  return { code: 'EVIDENCE_TOO_LARGE', path, why: `takes ${bytes} bytes, and ${max} is the most` };
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'nothing' : textOf(value);
}
