// Judges a foreign envelope. Its id is used up with the verdict, in one step with writing it down,
// so that of any number of copies exactly one is judged.
import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkpointFolders } from '../../audit/checkpoints.ts';
import { parseJsonText } from '../../dialects/json-text.ts';
import { type Log, StorageError } from '../../engine/ports.ts';
import type { Entry } from '../../kernel/fact.ts';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { fatal } from '../../kernel/trust/problem.ts';
import type { Refusal } from '../../kernel/trust/state.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { handoffIdOf, refusal } from '../../trust/answer.ts';
import { asRefusal } from '../../trust/attest.ts';
import { canonicalDigest } from '../../trust/canonical.ts';
import { nothingRecomputed } from '../../trust/envelope.ts';
import { HOPS_MAX, type PastHandoff } from '../../trust/lineage.ts';
import { parseEnvelope } from '../../trust/parse.ts';
import { unusable } from '../../trust/registry.ts';
import { hashBytes } from '../../trust/registry-folder.ts';
import { MAX_AGE_S, MAX_SKEW_S, type VerifyOptions, verifyHandoff } from '../../trust/verify.ts';
import { hasRegistry, keeperOf } from '../../workspace/registry-lock.ts';
import { trustIn } from '../at-head.ts';
import { jsonText } from '../ledger-session.ts';
import type { Context, InputOf } from '../operation.ts';
import { bringIntoForce, keepQuarantine } from '../registry-in-force.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf, Operation } from './table.ts';

const NAME_CHARS_MAX = 128;

export const handoffVerify: Operation<'handoff.verify'> = async (workspace, input, context) => {
  const { envelope: given, bytes } = input;
  const envelope = bytes === undefined ? Buffer.from(jsonText(given)) : Buffer.from(bytes, 'base64');
  try {
    return await judge(workspace, envelope, input, context);
  } catch (error) {
    // What cannot be written down is not accepted.
    if (!(error instanceof StorageError)) throw error;
    // The answer may go to the sender of the handoff, who must not see paths of this machine.
    context.onEvent({ kind: 'note', text: `baton: ${error.message}` });
    return unwritten(envelope);
  }
};

/** The answer to a handoff that could not be judged, because the verdict could not be kept. */
function unwritten(envelope: Buffer): Verdict {
  const message = 'the log cannot be written, so nothing was accepted';
  const parsed = parseEnvelope(envelope);
  const value = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const { code, reason, details } = refusal('audit', [{ code: 'AUDIT_UNAVAILABLE', pointer: '', message }]);
  const attestation = { claimed: null, recomputed: nothingRecomputed() };
  // Nothing is used up: the same envelope may be sent again.
  return deny(code, reason, { ...details, retryable: true, handoff_id: handoffIdOf(value), attestation });
}

function judge(
  workspace: Workspace,
  bytes: Buffer,
  input: InputOf<FieldsOf<'handoff.verify'>>,
  context: Context,
): Promise<Verdict> {
  const store = workspace.ledgerStore({ begins: true });
  return store.asStored((log) => judgeOn(store, log, workspace, bytes, input, context));
}

async function judgeOn(
  store: WorkspaceStore,
  log: Log,
  workspace: Workspace,
  bytes: Buffer,
  { registry: named, maxAgeS = MAX_AGE_S, maxSkewS = MAX_SKEW_S }: InputOf<FieldsOf<'handoff.verify'>>,
  { actor, onEvent }: Context,
): Promise<Verdict> {
  const envelope = bytes.toString('utf8');
  const home = join(workspace.dir, '.baton');
  const dir = named === undefined ? home : resolve(workspace.cwd, named);
  await bringIntoForce(store, workspace, actor);
  const found = hasRegistry(dir) ? keeperOf(dir)() : null;
  const registry =
    found?.registry ??
    unusable([fatal('REGISTRY_MISSING', 'there is no registry; name one with --registry DIR')], hashBytes);
  const { cleared } = await trustIn(log);
  const members = membersOf(envelope);
  const chain = new Map([...(await ancestorsOf(log, members.parent)), ...(await ancestorsOf(log, members.root))]);
  const now = new Date().toISOString();
  const verify = (change: Partial<VerifyOptions> = {}) =>
    verifyHandoff(bytes, {
      registry,
      now,
      seen: { has: () => false },
      maxAgeS,
      maxSkewS,
      lookupParent: (id) => chain.get(id) ?? null,
      isCleared: (digest) => Object.hasOwn(cleared, digest),
      ...change,
    });
  const verdict = verify();
  const blocked = (agent: string | null) => verify({ quarantined: (id) => id === agent });
  const { handoff_id, envelope_digest, request_digest } = verdict.details;
  const handoff = isString(handoff_id) ? handoff_id : null;
  const isSource = verdict.allow ? false : aboutSource(verdict.details);
  const { seq: before } = await log.head();
  const judged = await store.submit(
    {
      kind: 'handoff.judge',
      handoff,
      source: members.source,
      target: members.target,
      claimed: members.claimed,
      parent: members.parent,
      verdict,
      otherwise: {
        replay: verify({ seen: { has: () => true } }),
        source: blocked(members.source),
        target: blocked(members.target),
      },
      refusal: verdict.allow
        ? null
        : withoutForeignBlocks(
            asRefusal(verdict, (isSource ? members.claimed.source : members.claimed.target) ?? ''),
            isSameFolder(dir, home),
          ),
      registry: found?.loaded ?? null,
      ...(found?.texts ? { registryTexts: found.texts } : {}),
      envelopeDigest: isString(envelope_digest) ? envelope_digest : null,
      contentDigest: verdict.allow ? contentDigestOf(bytes) : null,
      requestDigest: isString(request_digest) ? request_digest : null,
      envelope,
    },
    actor,
  );
  await keepQuarantine(store, workspace, (text) => onEvent({ kind: 'note', text }));
  const digest = isString(envelope_digest) ? envelope_digest : null;
  const [written] = (await log.read({ after: before, kindPrefix: 'handoff.' })).filter(
    ({ fact }) =>
      fact.kind === 'handoff.judged' &&
      fact.handoff === handoff &&
      fact.code === judged.code &&
      fact.envelopeDigest === digest,
  );
  const { origin } = checkpointFolders(workspace, workspace.env);
  return withReference({ log, origin }, judged, written ?? null, digest);
}

/**
 * A registry that the caller names says nothing about the agents of this workspace: with an altered copy a caller could
 * otherwise block any of them. A context is the same under every registry.
 */
function withoutForeignBlocks(refusal: Refusal, isOwn: boolean): Refusal {
  return isOwn || refusal.blocks?.context ? refusal : { ...refusal, blocks: null };
}

function isSameFolder(one: string, other: string): boolean {
  const real = (folder: string) => (existsSync(folder) ? realpathSync(folder) : folder);
  return real(one) === real(other);
}

type Reference = { readonly log: Log; readonly origin: string };

/** Where the verdict is in the log; for a copy, also what became of the first one, and which that was. */
async function withReference(
  reference: Reference,
  verdict: Verdict,
  written: Entry | null,
  digest: string | null,
): Promise<Verdict> {
  const prior = isObject(verdict.details.prior) ? verdict.details.prior.seq : null;
  const [first] = typeof prior === 'number' ? await reference.log.read({ after: prior - 1, limit: 1 }) : [];
  const earlier = first
    ? { prior: { ...(await referenceRow(reference, first)), same_digest: envelopeDigestOf(first) === digest } }
    : {};
  const audit_ref = written && (await referenceTo(reference, written));
  const twin = isObject(verdict.details.duplicate_of) ? verdict.details.duplicate_of.seq : null;
  const [same] = typeof twin === 'number' ? await reference.log.read({ after: twin - 1, limit: 1 }) : [];
  const twice = same ? { duplicate_of: { handoff_id: idOf(same), ...(await referenceRow(reference, same)) } } : {};
  return { ...verdict, details: { ...verdict.details, audit_ref, ...earlier, ...twice } };
}

/** The digest of the content: the envelope without its id and its timestamp. */
function contentDigestOf(bytes: Uint8Array): string | null {
  const parsed = parseEnvelope(bytes);
  if (!parsed.ok || !isObject(parsed.value)) return null;
  const { handoff_id: _id, timestamp: _timestamp, ...content } = parsed.value;
  return canonicalDigest(content, hashBytes);
}

function idOf({ fact }: Entry): string | null {
  return fact.kind === 'handoff.judged' ? fact.handoff : null;
}

/** The name of the log, the number of the entry, and its leaf hash, which the entry after it holds. */
async function referenceTo({ log, origin }: Reference, { seq }: Entry): Promise<string> {
  const [next] = await log.read({ after: seq, limit: 1 });
  return `${origin}#${seq}:${next ? next.prev : (await log.head()).hash}`;
}

async function referenceRow(reference: Reference, entry: Entry): Promise<JsonObject> {
  const { fact } = entry;
  const isAccepted = fact.kind === 'attempt.started' || (fact.kind === 'handoff.judged' && fact.allow);
  return { status: isAccepted ? 'accepted' : 'rejected', audit_ref: await referenceTo(reference, entry) };
}

function envelopeDigestOf({ fact }: Entry): string | null {
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
  const key = `handoff:${id}`;
  let at: number | null = null;
  await log.commit((await log.head()).seq, {
    wanted: () => ({ once: [key], leases: [] }),
    decide: (_tail, found) => {
      at = found.once(key);
      return [];
    },
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
  readonly root: string | null;
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
    root: member('links', 'root_handoff_id')?.toLowerCase() ?? null,
  };
}

function aboutSource({ problems }: JsonObject): boolean {
  const [first] = Array.isArray(problems) ? problems : [];
  return isObject(first) && isString(first.pointer) && first.pointer.startsWith('/source_agent');
}
