// OpenCode as an agent: `opencode run --format json`. Every changed setting is in one variable, in addition to the user's own
// configuration and sign-in, and counts before the project's. It tells what it does only step by step; a plugin of ours tells the rest.
import type { LiveEvent } from '../engine/ports.ts';
import { type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import type { AgentCall, AgentSettings, Program, ProgramCall } from './agent-call.ts';
import { detailOf, reportReader, toolEvent } from './event-streams.ts';
import { type AgentReport, addName, addUsage, amount, figure, ofWhichCached, withCommand } from './report.ts';
import { nearestLevel, opencodeTools } from './tool-scope.ts';

export const opencode: Program = {
  name: 'opencode',
  // It talks to every provider; the keys of these are its own, others are listed by the materia.
  variables: [
    ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENCODE_API_KEY'],
    ...['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'],
  ],
  invoke,
  reader: reportReader(fold, live),
};

const PLUGIN = new URL(
  import.meta.url.endsWith('.ts') ? './opencode-plugin.ts' : './opencode-plugin.js',
  import.meta.url,
);

/** Its word for how a model thinks is a variant of the model. */
const LEVELS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const AGENT = 'baton';
const PROVIDER = 'baton';

function invoke(call: AgentCall, settings: AgentSettings): ProgramCall {
  const scope = opencodeTools(call.tools);
  const thinking = nearestLevel('opencode', call.thinking, LEVELS);
  const model = call.model === null || settings.baseUrl === undefined ? call.model : `${PROVIDER}/${call.model}`;
  const argv = [
    ...[settings.program ?? 'opencode', 'run', '--format', 'json', '--agent', AGENT],
    // Without a title it asks a model for one.
    ...['--title', call.turnName],
    ...(model === null ? [] : ['--model', model]),
    ...(thinking.level === null ? [] : ['--variant', thinking.level]),
    ...(call.session === null ? [] : ['--session', call.session.id]),
    ...(settings.args ?? []),
  ];
  const env = {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(call, settings, scope.tools)),
    ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    ...(settings.guard
      ? { BATON_OPENCODE_GUARD: JSON.stringify({ program: settings.guard.program, args: settings.guard.args }) }
      : {}),
  };
  const addressless =
    settings.baseUrl !== undefined && call.model === null
      ? ['opencode needs the name of the model at another address; the address was left out']
      : [];
  return { argv, stdin: call.prompt, env, warnings: [...scope.warnings, ...thinking.warnings, ...addressless] };
}

function configOf(
  { system, model }: AgentCall,
  { baseUrl, mcp = {} }: AgentSettings,
  tools: readonly string[],
): JsonObject {
  const servers = Object.entries(mcp);
  const offered = servers.flatMap(([name, { tools: own }]) => own?.map((tool) => `${name}_${tool}`) ?? [`${name}_*`]);
  const permission = Object.fromEntries([...tools, ...offered].map((name) => [name, 'allow']));
  // What is written is allowed by one name, whichever of its tools writes.
  const writes = tools.includes('write') ? { edit: 'allow' } : {};
  return {
    ...{ autoupdate: false, share: 'disabled', snapshot: false },
    plugin: [PLUGIN.href],
    agent: {
      [AGENT]: {
        mode: 'primary',
        ...(system === null ? {} : { prompt: system }),
        // The last rule that fits counts.
        permission: { '*': 'deny', ...permission, ...writes },
      },
    },
    mcp: Object.fromEntries(
      servers.map(([name, { command, args = [], env = {} }]) => [
        name,
        {
          type: 'local',
          command: [command, ...args],
          environment: { ...env },
          enabled: true,
          timeout: SERVER_START_MS,
        },
      ]),
    ),
    ...(baseUrl === undefined || model === null
      ? {}
      : {
          provider: {
            [PROVIDER]: {
              ...{ npm: '@ai-sdk/openai-compatible', name: PROVIDER, models: { [model]: {} } },
              options: { baseURL: baseUrl, apiKey: '{env:OPENAI_API_KEY}' },
            },
          },
        }),
  };
}

/** A server that lists no tools by then is not used. */
const SERVER_START_MS = 30_000;

function fold(report: AgentReport, event: JsonObject): AgentReport {
  if (event.type === 'baton') return foldTold(report, event);
  const known = { ...report, sessionId: stringAt(event, 'sessionID') ?? report.sessionId };
  const part = objectAt(event, 'part');
  switch (event.type) {
    // Text before a tool call is not its answer.
    case 'step_start':
      return { ...known, text: '', error: null };
    case 'text':
      return { ...known, text: known.text + (stringAt(part, 'text') ?? '') };
    case 'tool_use':
      return foldTool(known, part);
    case 'step_finish':
      return foldStep(known, part);
    case 'error':
      return failed(known, objectAt(event, 'error'));
    default:
      return known;
  }
}

function foldTold(report: AgentReport, event: JsonObject): AgentReport {
  if ('model' in event) return { ...report, model: stringAt(event, 'model') ?? report.model };
  if ('begun' in event) return { ...report, openCalls: report.openCalls + 1 };
  if ('retry' in event) return { ...report, error: { message: stringAt(event, 'retry') ?? 'error' } };
  return report;
}

/** Its own words for a tool that is not offered, and for one that its rules forbid. */
const NOT_OFFERED = /^Model tried to call unavailable tool|specified a rule which prevents you/;

function foldTool(report: AgentReport, part: JsonObject): AgentReport {
  const name = stringAt(part, 'tool') ?? '';
  const state = objectAt(part, 'state');
  const next = {
    ...report,
    openCalls: Math.max(0, report.openCalls - 1),
    toolCalls: addName(report.toolCalls, name),
  };
  const error = state.status === 'error' ? (stringAt(state, 'error') ?? '') : null;
  if (error !== null && NOT_OFFERED.test(error)) return { ...next, denials: addName(report.denials, name) };
  // A command that failed has run: only what was kept from it is an error of the call.
  return name === 'bash' && error === null ? withCommand(next, objectAt(state, 'input').command) : next;
}

/** A step is over when its tools have ended. */
function foldStep(report: AgentReport, part: JsonObject): AgentReport {
  const tokens = objectAt(part, 'tokens');
  const cache = objectAt(tokens, 'cache');
  const read = figure(cache.read);
  const used = {
    input: figure(tokens.input) + read + figure(cache.write),
    output: figure(tokens.output) + figure(tokens.reasoning),
    cost: figure(part.cost),
    ...ofWhichCached(read),
  };
  const isFinished = part.reason !== 'tool-calls';
  return {
    ...report,
    usage: addUsage(report.usage, used),
    openCalls: 0,
    isFinished,
    isCut: part.reason === 'length' || part.reason === 'content-filter',
    error: null,
  };
}

function failed(report: AgentReport, error: JsonObject): AgentReport {
  const data = objectAt(error, 'data');
  const status = amount(data.statusCode);
  const wait = Number(stringAt(objectAt(data, 'responseHeaders'), 'retry-after') ?? 0);
  const message = stringAt(data, 'message') ?? stringAt(error, 'name') ?? 'error';
  return {
    ...report,
    text: '',
    isFinished: false,
    error: {
      message,
      ...(status > 0 ? { status } : {}),
      ...(wait > 0 ? { retryAfterMs: wait * 1_000 } : {}),
    },
  };
}

function live(event: JsonObject): readonly LiveEvent[] {
  if (event.type !== 'baton') return [];
  if ('said' in event) return [{ kind: 'text', text: stringAt(event, 'said') ?? '' }];
  if ('begun' in event) return [toolEvent(stringAt(event, 'tool') ?? '', detailOf(objectAt(event, 'input')))];
  if (!('retry' in event)) return [];
  return [{ kind: 'waiting', forMs: amount(event.forMs), reason: stringAt(event, 'retry') ?? 'error' }];
}
