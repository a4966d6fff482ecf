// `baton handoff verify`: judges a foreign envelope. Its id is used up with the verdict, in one step with writing it down,
// so that of any number of copies exactly one is judged.
import { join, resolve } from 'node:path';
import { asRefusal, loadedFrom } from '../../dialects/governed/attest.ts';
import { fatal } from '../../dialects/governed/diagnostic.ts';
import { HOPS_MAX, type PastHandoff } from '../../dialects/governed/lineage.ts';
import { unusable } from '../../dialects/governed/registry.ts';
import { loadRegistryFolder, readerOf, sha256 } from '../../dialects/governed/registry-folder.ts';
import { LOCK_PATH } from '../../dialects/governed/registry-json.ts';
import { MAX_AGE_S, MAX_SKEW_S, verifyHandoff } from '../../dialects/governed/verify.ts';
import { parseJsonText } from '../../dialects/json-text.ts';
import type { Log } from '../../engine/ports.ts';
import { StorageError } from '../../engine/storage-error.ts';
import type { Entry } from '../../kernel/fact.ts';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { hasRegistry } from '../../workspace/registry-lock.ts';
import { again, type Call, text, UsageError } from '../command.ts';
import { answering, integer, type LedgerSession, withLedger } from '../ledger-session.ts';
import { readInput } from '../read-input.ts';
import { person } from '../session.ts';
import { trustIn } from '../trust-in-log.ts';

const NAME_CHARS_MAX = 128;

export async function run(call: Call): Promise<number> {
  const [word, file] = call.words;
  if (word !== 'verify' || file === undefined) throw new UsageError(`say: ${again(call)} handoff verify FILE`);
  const envelope = await readInput(call, file);
  return answering(async () => {
    try {
      return await withLedger(call, (session) => judge(session, envelope), { begins: true });
    } catch (error) {
      // What cannot be written down is not accepted.
      if (error instanceof StorageError) return deny('AUDIT_UNAVAILABLE', `${error.message}; nothing was accepted`, {});
      throw error;
    }
  });
}

async function judge({ call, workspace, log, door }: LedgerSession, envelope: string): Promise<Verdict> {
  const named = text(call.values, 'registry');
  const dir = named === undefined ? join(workspace.dir, '.baton') : resolve(call.cwd, named);
  const registry = hasRegistry(dir)
    ? loadRegistryFolder(dir)
    : unusable([fatal('REGISTRY_MISSING', 'there is no registry; name one with --registry DIR')], sha256);
  const { cleared } = await trustIn(log);
  const said = membersOf(envelope);
  const chain = await ancestorsOf(log, said.parent);
  const verdict = verifyHandoff(envelope, {
    registry,
    now: new Date().toISOString(),
    seen: { has: () => false },
    maxAgeS: integer(call, 'max-age-s') ?? MAX_AGE_S,
    maxSkewS: integer(call, 'max-skew-s') ?? MAX_SKEW_S,
    lookupParent: (id) => chain.get(id) ?? null,
    isCleared: (digest) => Object.hasOwn(cleared, digest),
  });
  const { handoff_id, envelope_digest, request_digest } = verdict.details;
  const handoff = isString(handoff_id) ? handoff_id : null;
  const isSource = verdict.allow ? false : aboutSource(verdict.details);
  const judged = await door.submit(
    {
      kind: 'handoff.judge',
      handoff,
      source: said.source,
      target: said.target,
      claimed: said.claimed,
      parent: said.parent,
      verdict,
      refusal: verdict.allow ? null : asRefusal(verdict, (isSource ? said.claimed.source : said.claimed.target) ?? ''),
      registry: loadedFrom(registry, sha256(readerOf(dir)(LOCK_PATH) ?? new Uint8Array())),
      envelopeDigest: isString(envelope_digest) ? envelope_digest : null,
      requestDigest: isString(request_digest) ? request_digest : null,
      envelope,
    },
    person(),
  );
  return withReference(log, judged, isString(envelope_digest) ? envelope_digest : null);
}

/** Where the verdict stands in the log; for a copy, also what became of the first one. */
async function withReference(log: Log, verdict: Verdict, digest: string | null): Promise<Verdict> {
  const { seq } = await log.head();
  const prior = isObject(verdict.details.prior) ? verdict.details.prior.seq : null;
  const [first] = typeof prior === 'number' ? await log.read({ after: prior - 1, limit: 1 }) : [];
  const earlier = first ? { prior: { ...told(first), same_digest: digestOf(first) === digest } } : {};
  return { ...verdict, details: { ...verdict.details, audit_ref: `log#${seq}`, ...earlier } };
}

function told({ seq, fact }: Entry): JsonObject {
  const isAccepted = fact.kind === 'attempt.started' || (fact.kind === 'handoff.judged' && fact.allow);
  return { status: isAccepted ? 'accepted' : 'rejected', audit_ref: `log#${seq}` };
}

function digestOf({ fact }: Entry): string | null {
  if (fact.kind === 'handoff.judged') return fact.envelopeDigest;
  return fact.kind === 'attempt.started' ? (fact.envelope?.digest ?? null) : null;
}

/** The handoffs before this one, as the log has them. */
async function ancestorsOf(log: Log, parent: string | null): Promise<ReadonlyMap<string, PastHandoff>> {
  const chain = new Map<string, PastHandoff>();
  for (let id = parent?.toLowerCase() ?? null; id !== null && !chain.has(id) && chain.size <= HOPS_MAX; ) {
    const past = await find(log, id);
    if (!past) break;
    chain.set(id, past);
    id = past.parent;
  }
  return chain;
}

async function find(log: Log, id: string): Promise<PastHandoff | null> {
  let at: number | null = null;
  await log.commit((await log.head()).seq, (_tail, used) => {
    at = used(`handoff:${id}`);
    return [];
  });
  const [entry] = at === null ? [] : await log.read({ after: at - 1, limit: 1 });
  const fact = entry?.fact;
  if (fact?.kind === 'handoff.judged') {
    const { allow, source, target, requestDigest, parent } = fact;
    return { accepted: allow, source: source ?? '', target: target ?? '', requestDigest: requestDigest ?? '', parent };
  }
  if (fact?.kind !== 'attempt.started' || !fact.envelope) return null;
  const { source, target, parent } = membersIn(fact.envelope.envelope);
  return { accepted: true, source: source ?? '', target: target ?? '', requestDigest: '', parent };
}

type Members = {
  readonly source: string | null;
  readonly target: string | null;
  readonly claimed: { readonly source: string | null; readonly target: string | null };
  readonly parent: string | null;
};

function membersOf(envelope: string): Members {
  const parsed = parseJsonText(envelope);
  return membersIn(parsed.ok && isObject(parsed.value) ? parsed.value : {});
}

function membersIn(envelope: JsonObject): Members {
  const member = (of: string, name: string) => {
    const object = Object.hasOwn(envelope, of) ? envelope[of] : undefined;
    const value = isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
    return isString(value) && value.length <= NAME_CHARS_MAX ? value : null;
  };
  return {
    source: member('source_agent', 'agent_id'),
    target: member('target_agent', 'agent_id'),
    claimed: { source: member('source_agent', 'prompt_hash'), target: member('target_agent', 'prompt_hash') },
    parent: member('links', 'parent_handoff_id')?.toLowerCase() ?? null,
  };
}

function aboutSource({ problems }: JsonObject): boolean {
  const [first] = Array.isArray(problems) ? problems : [];
  return isObject(first) && isString(first.pointer) && first.pointer.startsWith('/source_agent');
}
