// An MCP server over a list of tools. Which of them are offered depends on who asks: within an attempt only an agent's own,
// outside everything that steers. A tool that is kept from the caller is refused in words, not hidden behind an error.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { actOf, mayDo } from '../access/role.ts';
import { readWithSchema } from '../dialects/user-schema.ts';
import type { JsonObject } from '../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { CAST_TOOLS } from './cast-tools.ts';
import { CONTEXT_TOOLS } from './context-tools.ts';
import { LEDGER_TOOLS } from './ledger-tools.ts';
import { submitHandoff } from './submit-handoff.ts';
import type { Scene, Tool, Wire } from './tool.ts';

export const TOOLS: readonly Tool[] = [submitHandoff, ...CONTEXT_TOOLS, ...LEDGER_TOOLS, ...CAST_TOOLS];

export function toolsFor(scene: Pick<Scene, 'isAgent' | 'role'>, tools: readonly Tool[] = TOOLS): readonly Tool[] {
  return tools.filter((tool) => keptFrom(scene, tool) === null);
}

/** One server serves one connection. */
export function serverFor(scene: Scene, version: string): Server {
  const about = { name: 'baton', title: 'Baton', version };
  const server = new Server(about, { capabilities: { tools: {} }, instructions: instructionsFor(scene) });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toolsFor(scene).map(asListed) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const token = params._meta?.progressToken;
    let told = 0;
    const wire: Wire = {
      signal: extra.signal,
      async progress(message) {
        if (token === undefined) return;
        told += 1;
        const progress = { progressToken: token, progress: told, message };
        await extra.sendNotification({ method: 'notifications/progress', params: progress });
      },
    };
    return asResult(await callTool(scene, params.name, (params.arguments ?? {}) as JsonObject, wire));
  });
  return server;
}

/** Whatever a tool does, its caller gets a verdict; only a tool that does not exist is an error of the protocol. */
export async function callTool(scene: Scene, name: string, given: JsonObject, wire: Wire): Promise<Verdict> {
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${name}`);
  const kept = keptFrom(scene, tool);
  if (kept) return kept;
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

function keptFrom({ isAgent, role }: Pick<Scene, 'isAgent' | 'role'>, tool: Tool): Denied | null {
  const { name, audience } = tool;
  if (audience === 'person' && isAgent) {
    const reason = `${name} steers casts, and an agent within a cast may not; leave that to a person`;
    return deny('APPROVER_IS_AGENT', reason, { tool: name });
  }
  if (audience === 'agent' && !isAgent) {
    const reason = `${name} is for an agent within a cast, and no cast has started this server`;
    return deny('NOT_ALLOWED_NOW', reason, { tool: name });
  }
  const may = role === undefined ? allow() : mayDo(role, actOf(tool), name);
  return may.allow ? null : may;
}

function instructionsFor({ isAgent }: Scene): string {
  return isAgent
    ? 'You work on one turn of a cast. Look things up with read_context, ask lock_check before you write, and hand your work on with submit_handoff: a refusal says what to mend.'
    : 'Baton runs teams of agents and keeps what passes between them to its contracts. Start a cast with cast_start, follow it with cast_wait, read it with cast_show. Tasks and locks of this workspace: task_list, task_claim, lock_check.';
}

function asListed({ name, description, input, readOnly }: Tool) {
  const inputSchema = input as { type: 'object' };
  return { name, description, inputSchema, annotations: { readOnlyHint: readOnly, openWorldHint: false } };
}

/** The same verdict twice: as text for a model, as a value for a program. */
function asResult(verdict: Verdict) {
  const { allow, code, reason, details } = verdict;
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(verdict) }],
    structuredContent: { allow, code, reason, details: { ...details } },
    isError: !allow,
  };
}
