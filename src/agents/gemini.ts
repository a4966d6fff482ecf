// Gemini CLI as an agent: `gemini -o stream-json`, in a home folder of the attempt's own, which `gemini-home.ts` makes. It takes tools,
// servers and hooks from files only.
import { fileURLToPath } from 'node:url';
import type { LiveEvent } from '../engine/ports.ts';
import { isObject, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import type { AgentCall, AgentSettings, Program, ProgramCall } from './agent-call.ts';
import { detailOf, reportReader, toolEvent } from './event-streams.ts';
import { GEMINI_VARIABLE, type GeminiHome } from './gemini-home.ts';
import {
  type AgentReport,
  addName,
  amount,
  figure,
  ofWhichCached,
  withCommand,
  withOutcome,
  withoutCommand,
} from './report.ts';
import { geminiTools } from './tool-scope.ts';

export const gemini: Program = {
  name: 'gemini',
  variables: [
    ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_CLI_HOME'],
    ...['GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION'],
    'GOOGLE_APPLICATION_CREDENTIALS',
  ],
  invoke,
  reader: reportReader(fold, live),
};

const HOME = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './gemini-home.ts' : './gemini-home.js', import.meta.url),
);

function invoke(call: AgentCall, settings: AgentSettings): ProgramCall {
  const scope = geminiTools(call.tools);
  const { program, args = [], baseUrl } = settings;
  const own = [
    ...['-o', 'stream-json'],
    ...(call.model === null ? [] : ['--model', call.model]),
    ...(call.session === null ? [] : ['--resume', call.session.id]),
    ...args,
  ];
  // A program that was not found is named as it is, so that the attempt says that it is missing.
  const argv = program === undefined ? ['gemini', ...own] : [process.execPath, HOME, program, ...own];
  const env = {
    [GEMINI_VARIABLE]: JSON.stringify(homeOf(call, settings, scope.tools)),
    // By itself it starts itself once more, with more memory.
    GEMINI_CLI_NO_RELAUNCH: 'true',
    ...(baseUrl === undefined ? {} : { GOOGLE_GEMINI_BASE_URL: baseUrl }),
  };
  const thinking = call.thinking === null ? [] : ['gemini takes no level of thinking; it uses its own'];
  return { argv, stdin: call.prompt, env, warnings: [...scope.warnings, ...thinking] };
}

function homeOf(
  { system, retriesMax, turnName }: AgentCall,
  { mcp = {}, guard, baseUrl }: AgentSettings,
  tools: readonly string[],
): GeminiHome {
  const servers = Object.entries(mcp).map(([name, { command, args = [], env = {} }]) => [
    name,
    { command, args: [...args], env: { ...env } },
  ]);
  return {
    name: turnName,
    settings: {
      general: { maxAttempts: retriesMax + 1, enableAutoUpdate: false, enableAutoUpdateNotification: false },
      // Without trust it has no servers and no hooks. With its own key, another address must be marked as such.
      security: {
        folderTrust: { enabled: false },
        ...(baseUrl === undefined ? {} : { auth: { selectedType: 'gemini-api-key' } }),
      },
      // The list of files would make every continued conversation another one.
      context: { fileFiltering: { enableRecursiveFileSearch: false }, includeDirectoryTree: false },
      // It would end with half of an answer, and call it one.
      model: { disableLoopDetection: true },
      advanced: { ignoreLocalEnv: true },
      // Its own agents would work outside of the cast.
      experimental: { enableAgents: false },
      skills: { enabled: false },
      mcpServers: Object.fromEntries(servers),
      mcp: {},
      ...(guard ? { hooksConfig: { enabled: true } } : {}),
    },
    policy: policyOf(tools, mcp),
    system,
    guard: guard ? { program: guard.program, args: guard.args } : null,
  };
}

/** What is not allowed here is not even offered. The last rule has the lower number, and so comes after the others. */
function policyOf(tools: readonly string[], mcp: NonNullable<AgentSettings['mcp']>): string {
  const rule = (fields: Readonly<Record<string, string>>) =>
    ['[[rule]]', ...Object.entries(fields).map(([key, value]) => `${key} = ${value}`), ''].join('\n');
  const allowed = { decision: '"allow"', priority: '999', allowRedirection: 'true' };
  return [
    ...(tools.length === 0 ? [] : [rule({ toolName: JSON.stringify(tools), ...allowed })]),
    ...Object.entries(mcp).map(([name, { tools: own }]) =>
      rule({ mcpName: JSON.stringify(name), toolName: JSON.stringify(own ?? '*'), ...allowed }),
    ),
    rule({ toolName: '"*"', decision: '"deny"', priority: '998' }),
  ].join('\n');
}

function fold(report: AgentReport, event: JsonObject): AgentReport {
  switch (event.type) {
    case 'init':
      return { ...report, sessionId: stringAt(event, 'session_id'), model: stringAt(event, 'model') };
    case 'message':
      return event.role === 'assistant'
        ? { ...report, text: report.text + (stringAt(event, 'content') ?? ''), error: null }
        : report;
    case 'tool_use':
      return foldCall(report, event);
    case 'tool_result':
      return foldOutcome(report, event);
    case 'error':
      return event.severity === 'error' ? failed(report, stringAt(event, 'message') ?? '') : report;
    case 'result':
      return foldResult(report, event);
    default:
      return report;
  }
}

/** Text before a tool call is not its answer. */
function foldCall(report: AgentReport, event: JsonObject): AgentReport {
  const name = stringAt(event, 'tool_name') ?? '';
  const begun = {
    ...report,
    text: '',
    openCalls: report.openCalls + 1,
    toolCalls: addName(report.toolCalls, name),
  };
  if (name !== 'run_shell_command') return begun;
  return withCommand(begun, objectAt(event, 'parameters').command, stringAt(event, 'tool_id'));
}

const NOT_OFFERED = /^Tool "([^"]{1,200})" not found/;
/** A guard refuses by the first, its own rules by the second. */
const KEPT_FROM = new Set(['execution_denied', 'policy_violation', 'permission_denied', 'tool_not_registered']);

function foldOutcome(report: AgentReport, event: JsonObject): AgentReport {
  const call = stringAt(event, 'tool_id');
  const error = objectAt(event, 'error');
  const ended = { ...report, openCalls: Math.max(0, report.openCalls - 1) };
  if (!KEPT_FROM.has(stringAt(error, 'type') ?? '')) return withOutcome(ended, call);
  const name = NOT_OFFERED.exec(stringAt(error, 'message') ?? '')?.[1];
  return withoutCommand(name === undefined ? ended : { ...ended, denials: addName(report.denials, name) }, call);
}

function foldResult(report: AgentReport, event: JsonObject): AgentReport {
  const stats = objectAt(event, 'stats');
  const input = figure(stats.input_tokens);
  // Its thoughts are in the total only.
  const output = Math.max(figure(stats.output_tokens), figure(stats.total_tokens) - input);
  const used = { input, output, cost: 0, ...ofWhichCached(figure(stats.cached)) };
  const next = { ...report, usage: input + output === 0 ? null : used };
  if (event.status === 'success') return { ...next, isFinished: true, error: null };
  const message = stringAt(objectAt(event, 'error'), 'message');
  return message === null ? next : failed(next, message);
}

/** Its own words for an answer of nothing at all, and for one that was cut off before its first word. */
const SAID_NOTHING = /returned an empty response/;
const CUT_OFF = /maximum (?:output )?token|MAX_TOKENS/i;
/** The text around the provider's message. */
const API_ERROR = /^\[API Error: ([\s\S]*?)\](?:\n|$)/;

function failed(report: AgentReport, message: string): AgentReport {
  if (SAID_NOTHING.test(message)) return { ...report, isFinished: false, error: null };
  if (CUT_OFF.test(message)) return { ...report, isFinished: true, isCut: true, error: null };
  const text = API_ERROR.exec(message)?.[1] ?? message;
  const named = objectAt(objectIn(text), 'error');
  const wait = /retry after (\d{1,6})s/.exec(text)?.[1];
  const isWrongKey = /API.key not valid|API_KEY_INVALID/i.test(text);
  const status = isWrongKey ? 401 : wait === undefined ? amount(named.code) : 429;
  const error = {
    message: stringAt(named, 'message') ?? text,
    ...(status > 0 ? { status } : {}),
    ...(wait === undefined ? {} : { retryAfterMs: Number(wait) * 1_000 }),
  };
  return { ...report, text: '', isFinished: false, error };
}

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function live(event: JsonObject): readonly LiveEvent[] {
  if (event.type === 'message' && event.role === 'assistant')
    return [{ kind: 'text', text: stringAt(event, 'content') ?? '' }];
  if (event.type !== 'tool_use') return [];
  return [toolEvent(stringAt(event, 'tool_name') ?? '', detailOf(objectAt(event, 'parameters')))];
}
