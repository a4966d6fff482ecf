// An MCP server over the tools of Baton: it lists those that the caller may use, hands each call to its tool and the verdict
// back, and tells the caller meanwhile how it goes on.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  type Tool as Listed,
  ListToolsRequestSchema,
  McpError,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../kernel/json.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { callTool, toolNamed, toolsShownTo } from './call-tool.ts';
import type { Scene, Tool, Wire } from './tool.ts';

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** What a server offers beside the tools of Baton. `baton mcp` has nothing of that kind. */
export type Extension = {
  readonly capabilities: ServerCapabilities;
  readonly tools: readonly Listed[];
  /** Null where it has no such tool. */
  call(name: string, args: JsonObject, extra: Extra, wire: Wire): Promise<CallToolResult> | CallToolResult | null;
  /** Adds what it answers besides calls of tools. */
  addTo(server: Server): void;
};

/** One server serves one connection. */
export function serverFor(scene: Scene, version: string, extension: Extension | null = null): Server {
  const about = { name: 'baton', title: 'Baton', version };
  const capabilities = { tools: {}, ...extension?.capabilities };
  const server = new Server(about, { capabilities, instructions: instructionsFor(scene) });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [...(await toolsShownTo(scene)).map(asListed), ...(extension?.tools ?? [])],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const wire = wireOf(extra, params._meta?.progressToken);
    const args = (params.arguments ?? {}) as JsonObject;
    const tool = toolNamed(params.name);
    if (tool) return asResult(await callTool(scene, tool, args, wire));
    const result = await extension?.call(params.name, args, extra, wire);
    if (result) return result;
    throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name}`);
  });
  extension?.addTo(server);
  return server;
}

function wireOf({ signal, sendNotification }: Extra, token: string | number | undefined): Wire {
  let told = 0;
  return {
    signal,
    async progress(message) {
      if (token === undefined) return;
      told += 1;
      const params = { progressToken: token, progress: told, message };
      await sendNotification({ method: 'notifications/progress', params });
    },
  };
}

function instructionsFor({ isAgent }: Scene): string {
  return isAgent
    ? 'You work on one turn of a cast. Look things up with read_context, and hand your work on with submit_handoff: a refusal says what to mend.'
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
