// The tools, which of them a caller may use, and one call of one. Within an attempt only an agent's own are offered, outside
// everything that steers. A tool that is kept from the caller is refused in words, not hidden behind an error.
import { onlyPeopleMay, refusalToAgent } from '../access/people-only.ts';
import { mayDo } from '../access/role.ts';
import { readWithSchema } from '../dialects/user-schema.ts';
import { offeredTools } from '../kernel/cast/offer.ts';
import type { JsonObject } from '../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { CONTEXT_TOOLS } from './context-tools.ts';
import { OPERATION_TOOLS } from './operation-tools.ts';
import { submitHandoff } from './submit-handoff.ts';
import type { Scene, Tool, Wire } from './tool.ts';

export const TOOLS: readonly Tool[] = [submitHandoff, ...CONTEXT_TOOLS, ...OPERATION_TOOLS];

export function toolsFor(scene: Pick<Scene, 'isAgent' | 'role'>, tools: readonly Tool[] = TOOLS): readonly Tool[] {
  return tools.filter((tool) => keptFrom(scene, tool) === null);
}

/** The tools that are shown to the caller. An agent is shown those that fit its turn. */
export async function toolsShownTo(scene: Scene): Promise<readonly Tool[]> {
  const tools = toolsFor(scene);
  const { attempt } = scene;
  const cast = scene.isAgent && attempt ? await scene.cast(attempt.cast).catch(() => null) : null;
  const turn = cast?.turns[attempt?.turn ?? 0];
  if (!cast || !turn) return tools;
  const offered = offeredTools(cast, turn);
  return tools.filter(({ name }) => offered.includes(name));
}

export function toolNamed(name: string): Tool | null {
  return TOOLS.find((tool) => tool.name === name) ?? null;
}

/** Whatever a tool does, its caller gets a verdict. */
export async function callTool(scene: Scene, tool: Tool, given: JsonObject, wire: Wire): Promise<Verdict> {
  const { name } = tool;
  const kept = keptFrom(scene, tool);
  if (kept) {
    if (kept.code !== 'NOT_ALLOWED_NOW') scene.onRefused?.(kept);
    return kept;
  }
  const reading = readWithSchema(tool.input, given);
  if (!reading.usable) return deny('INTERNAL', `the schema of ${name} cannot be used: ${reading.why}`);
  const [first] = reading.problems;
  if (first) return deny('BAD_USAGE', `${name}: ${first.path} ${first.message}`, { issues: [...reading.problems] });
  try {
    return await tool.call(given, scene, wire);
  } catch (error) {
    return deny('INTERNAL', `${name} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Why the caller may not use the tool, or null. */
export function keptFrom({ isAgent, role }: Pick<Scene, 'isAgent' | 'role'>, tool: Tool): Denied | null {
  const { name, audience, command = '' } = tool;
  // Beyond what a command refuses, an agent is not even shown other casts by tool: it may have no other way to look.
  if (audience === 'person' && isAgent) {
    return refusalToAgent(tool.peopleOnly ?? onlyPeopleMay(command) ?? 'look at casts from outside', { tool: name });
  }
  if (audience === 'agent' && !isAgent) {
    const reason = `${name} is for an agent within a cast, and no cast has started this server`;
    return deny('NOT_ALLOWED_NOW', reason, { tool: name });
  }
  const may = role === undefined ? allow() : mayDo(role, tool.act, name);
  return may.allow ? null : may;
}
