// An MCP server over the tools of Baton. It lists the tools that the caller may use, passes each call to its tool, returns the verdict,
// and sends progress meanwhile.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  type ElicitRequestFormParams,
  ElicitResultSchema,
  ErrorCode,
  type Tool as Listed,
  ListToolsRequestSchema,
  McpError,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { mayDo, refusalToAgent } from '../access/rights.ts';
import { readWithSchema } from '../dialects/user-schema.ts';
import { offeredTools } from '../kernel/cast/rules.ts';
import type { JsonObject } from '../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { APPROVAL_TOOLS, readContext, withSaid } from './agent-tools.ts';
import { NO_FORM, OPERATION_TOOLS } from './operation-tools.ts';
import { submitHandoff } from './submit-handoff.ts';
import type { CurrentCall, Tool, ToolContext } from './tool.ts';

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** What a server offers besides the tools of Baton. `baton mcp` has nothing of that kind. */
export type Extension = {
  readonly capabilities: ServerCapabilities;
  readonly tools: readonly Listed[];
  /** Null if it has no such tool. */
  call(
    name: string,
    args: JsonObject,
    extra: Extra,
    current: CurrentCall,
  ): Promise<CallToolResult> | CallToolResult | null;
  /** Adds handlers for other requests than tool calls. */
  addTo(server: Server): void;
};

/** One server serves one connection. */
export function serverFor(context: ToolContext, version: string, extension: Extension | null = null): Server {
  const about = { name: 'baton', title: 'Baton', version };
  const capabilities = { tools: {}, ...extension?.capabilities };
  const server = new Server(about, { capabilities, instructions: instructionsFor(context) });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [...(await toolsShownTo(context, canAsk(server))).map(asListed), ...(extension?.tools ?? [])],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const current = currentCall(server, extra, params._meta?.progressToken);
    const args = (params.arguments ?? {}) as JsonObject;
    const tool = toolNamed(params.name);
    if (tool) return asResult(await callTool(context, tool, args, current));
    const result = await extension?.call(params.name, args, extra, current);
    if (result) return result;
    throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name}`);
  });
  extension?.addTo(server);
  return server;
}

function currentCall(server: Server, extra: Extra, token: string | number | undefined): CurrentCall {
  const { signal, sendNotification, sendRequest } = extra;
  let sent = 0;
  const ask: NonNullable<CurrentCall['ask']> = ({ message, schema }, timeout) => {
    const params = { mode: 'form', message, requestedSchema: schema } as unknown as ElicitRequestFormParams;
    return sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, { signal, timeout });
  };
  return {
    signal,
    async progress(message) {
      if (token === undefined) return;
      sent += 1;
      const params = { progressToken: token, progress: sent, message };
      await sendNotification({ method: 'notifications/progress', params });
    },
    ...(canAsk(server) ? { ask } : {}),
  };
}

/** Whether the client shows forms. A client that names no kind of elicitation shows forms. */
function canAsk(server: Server): boolean {
  const { elicitation } = server.getClientCapabilities() ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function instructionsFor({ isAgent }: ToolContext): string {
  return isAgent
    ? 'You work on one turn of a cast. Look things up with read_context, and hand your work on with submit_handoff: a refusal says what to change.'
    : 'Baton runs teams of agents and keeps what passes between them to its contracts. Start a cast with cast_start, follow it with cast_wait, read it with cast_show. Tasks and locks of this workspace: task_list, task_claim, lock_check.';
}

function asListed({ name, description, input, act }: Tool) {
  const inputSchema = input as { type: 'object' };
  return { name, description, inputSchema, annotations: { readOnlyHint: act === 'look', openWorldHint: false } };
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

export const MCP_TOOLS: readonly Tool[] = [submitHandoff, readContext, ...APPROVAL_TOOLS, ...OPERATION_TOOLS];

export function toolsFor(context: Caller, tools: readonly Tool[] = MCP_TOOLS): readonly Tool[] {
  return tools.filter((tool) => refusalFor(context, tool) === null);
}

/** The tools that are shown to the caller. An agent is shown those that fit its turn. */
async function toolsShownTo(context: ToolContext, canAsk: boolean): Promise<readonly Tool[]> {
  const tools = toolsFor({ ...context, canAsk });
  const { attempt } = context;
  const cast = context.isAgent && attempt ? await context.cast(attempt.cast).catch(() => null) : null;
  const turn = cast?.turns[attempt?.turn ?? 0];
  if (!cast || !turn) return tools;
  const offered = offeredTools(cast, turn);
  return tools.filter(({ name }) => offered.includes(name));
}

export function toolNamed(name: string): Tool | null {
  return MCP_TOOLS.find((tool) => tool.name === name) ?? null;
}

/** Never throws: a failing tool is a verdict, too. */
export async function callTool(
  context: ToolContext,
  tool: Tool,
  given: JsonObject,
  current: CurrentCall,
): Promise<Verdict> {
  const { name } = tool;
  const refused = refusalFor({ ...context, canAsk: current.ask !== undefined }, tool);
  if (refused) {
    if (refused.code !== 'NOT_ALLOWED_NOW') context.onRefused?.(refused);
    return refused;
  }
  const reading = readWithSchema(tool.input, given);
  if (!reading.usable) return deny('INTERNAL', `the schema of ${name} cannot be used: ${reading.why}`);
  const [first] = reading.problems;
  if (first) return deny('BAD_USAGE', `${name}: ${first.path} ${first.message}`, { issues: [...reading.problems] });
  try {
    return await withSaid(context, await tool.call(given, context, current));
  } catch (error) {
    return deny('INTERNAL', `${name} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What decides which tools a caller may use. */
type Caller = Pick<ToolContext, 'isAgent' | 'isElsewhere' | 'role' | 'personToken'> & { readonly canAsk?: boolean };

/** Why the caller may not use the tool, or null. */
export function refusalFor(caller: Caller, tool: Tool): Denied | null {
  const { isAgent, isElsewhere, role, personToken, canAsk } = caller;
  const { name, audience } = tool;
  // Beyond what a command refuses, an agent is not even shown other casts by tool: it may have no other way to look.
  if (audience === 'person' && isAgent) {
    return refusalToAgent(tool.peopleOnly ?? 'look at casts from outside', { tool: name });
  }
  if (audience === 'agent' && !isAgent) {
    const reason = `${name} is for an agent within a cast, and no cast has started this server`;
    return deny('NOT_ALLOWED_NOW', reason, { tool: name });
  }
  if (tool.actsHere && isElsewhere) {
    const reason = `${name} works in the process and folder of the agent; use \`baton mcp\` on standard input and output, or \`baton exec\``;
    return deny('NOT_ALLOWED_NOW', reason, { tool: name });
  }
  if (tool.isDecision) {
    if (!personToken || !canAsk) return deny('NOT_ALLOWED_NOW', `${name} is not offered: ${NO_FORM}`, { tool: name });
    const token = personToken();
    if (!token.allow) return token;
  }
  const may = role === undefined ? allow() : mayDo(role, tool.act, name);
  return may.allow ? null : may;
}
