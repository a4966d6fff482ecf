// Takes over a registry from another folder, in whichever of the known shapes it is: its agents, compositions and boundaries
// in our form, and the prompts whose bytes are the locked ones. Boundaries that only the prompts state in prose are written
// down for a person to confirm.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { boundariesIn } from '../trust/boundary-prose.ts';
import { type AgentRecord, toManifestJson } from '../trust/manifest.ts';
import { safePath } from '../trust/prompt.ts';
import type { Agent, Registry } from '../trust/registry.ts';
import { loadRegistryFolder } from '../trust/registry-folder.ts';
import { MANIFEST_PATH } from '../trust/registry-json.ts';
import { hasRegistry, writeRegistryLock, writeWhole } from './registry-lock.ts';

/** `home` is the `.baton` folder, `at` the time of the import. Nothing is written unless everything can be. */
export function importRegistry(from: string, home: string, at: string): Verdict {
  const registry = loadRegistryFolder(from);
  const refusal = refusalOf(registry, home);
  if (refusal) return refusal;
  const ids = [...registry.agents.keys()];
  const agents = [...registry.agents.values()].map((agent) => taken(agent, ids));
  const clash = agents.find(({ record, bytes }) => bytes && isOther(join(home, record.file ?? ''), bytes));
  if (clash) {
    const reason = `${clash.record.file} is there already with another text; move it away, then import again`;
    return deny('PROMPT_PATH', reason, { agent: clash.record.id, file: clash.record.file });
  }
  for (const { record, bytes } of agents) if (bytes && record.file !== null) put(join(home, record.file), bytes);
  const manifest = toManifestJson(
    registry.version,
    agents.map(({ record }) => record),
  );
  mkdirSync(join(home, dirname(MANIFEST_PATH)), { recursive: true });
  writeWhole(join(home, MANIFEST_PATH), manifest);
  writeRegistryLock(home, { at });
  const fromProse = agents.filter(({ isProse }) => isProse).map(({ record }) => record.id);
  const warnings = registry.diagnostics.map(({ code, agent, message }) => ({ code, agent, message }));
  return allow(`${ids.length} agents imported and locked`, { agents: ids, boundariesFromProse: fromProse, warnings });
}

function refusalOf(registry: Registry, home: string): Denied | null {
  if (hasRegistry(home)) {
    const reason = 'this workspace has a registry already; move .baton/versions away first';
    return deny('NOT_ALLOWED_NOW', reason, {});
  }
  const problems = registry.diagnostics.filter(({ level }) => level !== 'warning');
  const [first] = problems;
  if (!first) return null;
  const found = problems.map(({ code, agent, message }) => ({ code, agent, message }));
  const who = first.agent === null ? '' : `${first.agent}: `;
  return deny(first.code, `${who}${first.message}; nothing was imported`, { problems: found });
}

type Taken = { readonly record: AgentRecord; readonly bytes: Uint8Array | null; readonly isProse: boolean };

function taken(agent: Agent, ids: readonly string[]): Taken {
  const { prompt, file, id } = agent;
  const says = agent.collaboration.allow.length > 0 || agent.collaboration.deny.length > 0;
  const prose = says || !prompt ? null : boundariesIn(new TextDecoder().decode(prompt), ids);
  // A prompt that the lock itself holds has no file yet.
  const place = (file !== null && safePath(file)) || `prompts/${id}.md`;
  const record = { ...agent, file: place, ...(prose ? { collaboration: prose } : {}) };
  return { record, bytes: prompt, isProse: prose !== null };
}

function isOther(file: string, bytes: Uint8Array): boolean {
  return existsSync(file) && Buffer.compare(readFileSync(file), bytes) !== 0;
}

function put(file: string, bytes: Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}
