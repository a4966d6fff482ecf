// The utilities of the product: built-in aliases, which run inside the engine, and shipped utilities, which `run-shipped` runs as
// processes. An unlisted name is an error.
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../kernel/json.ts';
import { blackbeltBootstrap, blackbeltMaintain, commit, mimeBootstrap, mimeMaintain } from './cast-branch.ts';
import { commitSigil } from './commit-sigil.ts';
import { ensureIgnored, ignoreArtifacts } from './ignore-artifacts.ts';
import { projectCheck } from './project-check.ts';
import {
  type BuiltinName,
  type ShippedInput,
  type ShippedName,
  type Utility,
  type UtilityOutcome,
  utilityFault,
} from './utility.ts';
import { detectVcs, detectVcsPlainly } from './vcs.ts';

export type { ShippedInput, Utility, UtilityOutcome } from './utility.ts';

const ALIASES: Readonly<Record<BuiltinName, Utility>> = {
  noop: async () => ({ ok: true, output: '' }),
  echo: async ({ params }) => ({ ok: true, output: textOf(params, 'output', 'text', 'message') ?? '' }),
  'project.ensureIgnored': ensureIgnored,
  'vcs.detect': detectVcsPlainly,
};

export const SHIPPED_UTILITIES: Readonly<Record<ShippedName, Utility>> = {
  'Ignore-Artifacts': ignoreArtifacts,
  'Detect-VCS': detectVcs,
  'Blackbelt-Bootstrap': blackbeltBootstrap,
  'Blackbelt-Maintain': blackbeltMaintain,
  'Mime-Bootstrap': mimeBootstrap,
  'Mime-Maintain': mimeMaintain,
  'Commit-Sigil': commitSigil,
  'Project-Check': projectCheck,
  Commit: commit,
};

export function runBuiltin(name: string, input: ShippedInput): Promise<UtilityOutcome> {
  return runNamed(ALIASES, 'built-in utility', name, input);
}

export function runShipped(name: string, input: ShippedInput): Promise<UtilityOutcome> {
  return runNamed(SHIPPED_UTILITIES, 'shipped utility', name, input);
}

/** The arguments that run a shipped utility as a process, or null for an unknown name. */
export function shippedCommand(name: string): readonly string[] | null {
  if (!Object.hasOwn(SHIPPED_UTILITIES, name)) return null;
  const isSource = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(isSource ? './run-shipped.ts' : './run-shipped.js', import.meta.url));
  const sources = isSource ? ['--require', fileURLToPath(new URL('../../bin/own-sources.cjs', import.meta.url))] : [];
  return [process.execPath, '--disable-warning=ExperimentalWarning', ...sources, file, name];
}

async function runNamed(
  table: Readonly<Record<string, Utility>>,
  what: string,
  name: string,
  input: ShippedInput,
): Promise<UtilityOutcome> {
  const given = textOf(input.params, 'output');
  if (given !== null) return { ok: true, output: given };
  const run = Object.hasOwn(table, name) ? table[name] : undefined;
  if (run === undefined)
    return utilityFault(`there is no ${what} ${JSON.stringify(name)}; known are ${Object.keys(table).join(', ')}`);
  try {
    return await run(input);
  } catch (error) {
    return utilityFault(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The first of these parameters that exists: a text as it is, any other value as JSON. */
function textOf(params: JsonObject, ...names: readonly string[]): string | null {
  const name = names.find((one) => Object.hasOwn(params, one));
  const value = name === undefined ? undefined : params[name];
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
