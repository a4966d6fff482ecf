// What a person must know about a registry: its faults, and its differences from the approved state. A lock also approves the
// settings with which the agents of a configuration run.
import { isUtf8 } from 'node:buffer';
import { DEFAULT_RUNNER } from '../kernel/capabilities.ts';
import { isToolScope } from '../kernel/graph/config.ts';
import { typeOfMateria } from '../kernel/graph/issue.ts';
import { given, isObject, isText, type Json, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import { type Diagnostic, remark } from '../kernel/trust/problem.ts';
import { isHigher, isMajorHigher } from '../kernel/trust/quarantine.ts';
import type { LoadedRegistry } from '../kernel/trust/state.ts';
import type { Registry } from '../trust/agent.ts';
import { type ApprovedSetup, driftFrom, pastPins, readLock } from '../trust/lock.ts';
import { isPinnedModel } from '../trust/manifest.ts';

/** All findings, the worst first. `before` is the registry that last came into force. */
export function reviewRegistry(registry: Registry, config: Json, before: LoadedRegistry | null): readonly Diagnostic[] {
  const level = { fatal: 0, agent: 1, warning: 2 } as const;
  const found = [
    ...registry.diagnostics,
    ...slots(registry),
    ...drift(registry, config),
    ...unreadable(registry),
    ...repinned(registry, before),
    ...supersededOddly(registry),
  ];
  const seen = new Set<string>();
  const isNew = ({ code, agent, message }: Diagnostic) => {
    // The log and the history of the lock may both have it.
    const key =
      code === 'LOCK_ENTRY_GONE' || code === 'VERSION_NOT_RAISED' ? `${code} ${agent}` : `${code} ${agent} ${message}`;
    return !seen.has(key) && seen.add(key);
  };
  return found.filter(isNew).toSorted((a, b) => level[a.level] - level[b.level]);
}

/** One row for each agent. */
export function rowsOf(registry: Registry, isBlocked: (agent: string) => boolean): readonly JsonObject[] {
  return [...registry.agents.values()].map((agent) => ({
    id: agent.id,
    type: agent.type,
    version: agent.version,
    status: isBlocked(agent.id) ? 'quarantined' : agent.faults.length > 0 ? 'faulty' : agent.status,
    hash: agent.lockedHash,
    matches: agent.bytesMatch,
    composition: agent.composition && Object.fromEntries(agent.composition),
    scopes: agent.scopes,
    handsTo: agent.collaboration.allow.filter(({ mode }) => mode === 'collaborate').map(({ target }) => target),
    runner: agent.approval?.runner ?? null,
    model: agent.approval?.model ?? null,
    tools: agent.approval?.tools ?? null,
    pinned: isPinnedModel(agent.approval?.model ?? null),
  }));
}

/** A pinned prompt is sent unchanged, so text that looks like a slot is never filled. */
function slots({ agents }: Registry): Diagnostic[] {
  return [...agents.values()]
    .filter(({ prompt }) => prompt && Buffer.from(prompt).includes('{{'))
    .map(({ id }) => remark(id, 'PROMPT_SLOT', 'its prompt holds {{, and slots of a pinned prompt are never filled'));
}

function drift({ agents }: Registry, config: Json): Diagnostic[] {
  return [...approvalsOf(config)].flatMap(([id, used]) => {
    const parts = driftFrom(agents.get(id)?.approval ?? null, used);
    const message = `it was approved with another ${parts.join(' and ')} than the configuration names`;
    return parts.length === 0 ? [] : remark(id, 'APPROVAL_DRIFT', message);
  });
}

function repinned({ usable, agents }: Registry, before: LoadedRegistry | null): Diagnostic[] {
  if (!usable) return [];
  return Object.entries(before?.agents ?? {}).flatMap(([id, pin]) => {
    const now = agents.get(id);
    if (!now) return remark(id, 'LOCK_ENTRY_GONE', 'it was in force here and the registry does not list it any more');
    if (now.lockedHash === null || now.lockedHash === pin.hash || isHigher(now.version, pin.version)) return [];
    return remark(id, 'VERSION_NOT_RAISED', `its prompt was locked again and its version stays ${now.version}`);
  });
}

/** The same from the history of the lock, which may have more than the log of this machine. */
function supersededOddly({ usable, agents, lock }: Registry): Diagnostic[] {
  if (!usable) return [];
  const { entries, history } = readLock(lock);
  return Object.keys(history).flatMap((id): Diagnostic[] => {
    const now = entries.get(id);
    if (!agents.has(id))
      return [remark(id, 'LOCK_ENTRY_GONE', 'it was locked once and the registry does not list it any more')];
    if (!now) return [];
    const { version, hash, declared } = now;
    const past = pastPins(history, id);
    const same = past.filter((pin) => pin.version === version);
    if (same.some((pin) => pin.hash !== hash))
      return [remark(id, 'VERSION_NOT_RAISED', `its prompt was locked again and its version stays ${version}`)];
    if (past.some((pin) => isHigher(pin.version ?? '', version ?? '')))
      return [remark(id, 'VERSION_NOT_RAISED', `its version was lowered to ${version}`)];
    // The version number must show the change to users of the earlier declaration.
    const broken = past.find(
      (pin) => pin.declared !== null && pin.declared !== declared && !isMajorHigher(version ?? '', pin.version ?? ''),
    );
    if (broken) {
      const message = `its scopes, boundaries or composition changed since ${broken.version}, and ${version} is no new major version`;
      return [remark(id, 'VERSION_NOT_RAISED', message)];
    }
    return [];
  });
}

/** Any bytes can be pinned and claimed by foreign handoffs, but only text can be sent to an agent of a cast. */
function unreadable({ agents }: Registry): Diagnostic[] {
  return [...agents.values()]
    .filter(({ prompt }) => prompt && !isUtf8(prompt))
    .map(({ id }) =>
      remark(id, 'PROMPT_NOT_TEXT', 'its prompt is not UTF-8 text, so that no cast can give it to an agent'),
    );
}

/** The findings as scripts get them. */
export function problemsIn(found: readonly Diagnostic[]) {
  return found.map(({ level, code, agent, message }) => ({ level, code, agent, message }));
}

// The settings with which the agents of a configuration run, by registry id. A lock approves them together with the prompts.
/** If several materia have the same identity, the first one counts. */
export function approvalsOf(config: Json): ReadonlyMap<string, ApprovedSetup> {
  const approvals = new Map<string, ApprovedSetup>();
  const all = isObject(config) ? objectAt(config, 'materia') : {};
  for (const id of Object.keys(all)) {
    const materia = objectAt(all, id);
    const identity = stringAt(materia, 'identity');
    if (identity === null || typeOfMateria(materia) !== 'agent' || approvals.has(identity)) continue;
    const model = given(materia, 'model');
    approvals.set(identity, {
      runner: stringAt(materia, 'runner') ?? DEFAULT_RUNNER,
      model: isText(model) ? model : null,
      tools: toolsOf(given(materia, 'tools')),
    });
  }
  return approvals;
}

function toolsOf(tools: Json | undefined): Json {
  if (isToolScope(tools)) return tools;
  return isObject(tools) && tools.type === 'custom' && Array.isArray(tools.tools)
    ? { type: 'custom', tools: tools.tools }
    : 'none';
}
