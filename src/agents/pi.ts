// pi as an agent: `pi -p --mode json`. It always ends with exit code 0, so only its events show failures.
import { fileURLToPath } from 'node:url';
import type { LiveEvent } from '../engine/ports.ts';
import { type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import type { AgentCall, AgentSettings, Program, ProgramCall } from './agent-call.ts';
import { detailOf, reportReader, toolEvent } from './event-streams.ts';
import { GUARD_VARIABLE, SERVERS_VARIABLE } from './pi-extension.ts';
import {
  type AgentReport,
  addName,
  amount,
  figure,
  objectsIn,
  textIn,
  withCommand,
  withMessageUsage,
  withOutcome,
  withoutCommand,
} from './report.ts';
import { nearestLevel, piTools } from './tool-scope.ts';

export const pi: Program = {
  name: 'pi',
  // It talks to every provider; the keys of these three are its own, others are listed by the materia.
  variables: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_OAUTH_TOKEN',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'PI_CODING_AGENT_DIR',
    'PI_CODING_AGENT_SESSION_DIR',
  ],
  invoke,
  reader: reportReader(fold, live),
};

/** It loads extensions from files, in TypeScript or in JavaScript. */
const EXTENSION = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './pi-extension.ts' : './pi-extension.js', import.meta.url),
);

const LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

function invoke(call: AgentCall, settings: AgentSettings): ProgramCall {
  const scope = piTools(call.tools);
  const thinking = nearestLevel('pi', call.thinking, LEVELS);
  const servers = Object.entries(settings.mcp ?? {});
  // Its list of tools holds for those of servers too, so that only those that are named can be called.
  const offered = [...scope.tools, ...servers.flatMap(([, { tools = [] }]) => tools)];
  const argv = [
    ...[settings.program ?? 'pi', '-p', '--mode', 'json'],
    ...(offered.length === 0 ? ['--no-tools'] : ['--tools', offered.join(',')]),
    ...(settings.mcp || settings.guard ? ['--extension', EXTENSION] : []),
    ...(call.model === null ? [] : ['--model', call.model]),
    ...(thinking.level === null ? [] : ['--thinking', thinking.level]),
    ...(call.system === null
      ? []
      : [call.tools === 'none' ? '--system-prompt' : '--append-system-prompt', call.system]),
    ...(call.session === null ? [] : ['--session', call.session.id]),
    ...(settings.args ?? []),
  ];
  const warnings = [
    ...scope.warnings,
    ...thinking.warnings,
    ...servers
      .filter(([, { tools }]) => tools === undefined)
      .map(([name]) => `pi needs the names of the tools of a server; those of ${name} were left out`),
    ...(settings.baseUrl ? ['pi takes the place of a model from its models.json only; the address was left out'] : []),
  ];
  // Standard input is the prompt, so nothing in it can be taken for a flag or for a file to read in.
  const env = {
    ...{ PI_OFFLINE: '1', PI_TELEMETRY: '0' },
    ...(settings.mcp ? { [SERVERS_VARIABLE]: JSON.stringify(settings.mcp) } : {}),
    ...guardVariable(settings),
  };
  return { argv, stdin: call.prompt, env, warnings };
}

function guardVariable({ guard }: AgentSettings): Readonly<Record<string, string>> {
  if (!guard) return {};
  const { program, args } = guard;
  return { [GUARD_VARIABLE]: JSON.stringify({ program, args }) };
}

function fold(report: AgentReport, event: JsonObject): AgentReport {
  switch (event.type) {
    case 'session':
      return { ...report, sessionId: stringAt(event, 'id') };
    case 'message_update':
      return 'usage' in event ? withUsed(report, event) : report;
    case 'message_end':
      return foldMessage(report, objectAt(event, 'message'));
    case 'tool_execution_start': {
      const begun = { ...report, openCalls: report.openCalls + 1 };
      if (event.toolName !== 'bash') return begun;
      return withCommand(begun, objectAt(event, 'args').command, stringAt(event, 'toolCallId'));
    }
    case 'tool_execution_end': {
      const openCalls = Math.max(0, report.openCalls - 1);
      const used = { ...report, openCalls, toolCalls: addName(report.toolCalls, stringAt(event, 'toolName') ?? '') };
      const call = stringAt(event, 'toolCallId');
      return wasRun(event) ? withOutcome(used, call) : withoutCommand(used, call);
    }
    default:
      return report;
  }
}

/** A command that fails has pi's own words at the end of what it printed; where they are missing it was not even begun. */
const FAILED = /Command (?:exited with code -?\d{1,9}|timed out after [\d.]{1,20} seconds|aborted)\s*$/;

function wasRun(event: JsonObject): boolean {
  return event.isError !== true || FAILED.test(textIn(objectAt(event, 'result').content).slice(-200));
}

function foldMessage(report: AgentReport, message: JsonObject): AgentReport {
  if (message.role === 'toolResult') {
    const isRefused = message.isError === true && textIn(message.content).endsWith(' not found');
    return isRefused ? { ...report, denials: addName(report.denials, stringAt(message, 'toolName') ?? '') } : report;
  }
  if (message.role !== 'assistant') return report;
  const used = withUsed(report, message);
  const next = { ...used, underway: {}, model: stringAt(message, 'model') ?? report.model };
  const stop = stringAt(message, 'stopReason');
  if (stop === 'error' || stop === 'aborted') {
    return { ...next, isFinished: false, text: '', error: errorOf(stringAt(message, 'errorMessage') ?? stop) };
  }
  const isWorking = objectsIn(message.content).some(({ type }) => type === 'toolCall');
  return { ...next, text: textIn(message.content), isFinished: !isWorking, isCut: stop === 'length', error: null };
}

/** Messages follow each other, so all events between two ends belong to the same one. */
function withUsed(report: AgentReport, event: JsonObject): AgentReport {
  const used = objectAt(event, 'usage');
  return withMessageUsage(report, '', '', {
    input: figure(used.input) + figure(used.cacheRead) + figure(used.cacheWrite),
    output: figure(used.output),
    cost: figure(objectAt(used, 'cost').total),
  });
}

/** Errors of the provider begin with their status. */
function errorOf(message: string): NonNullable<AgentReport['error']> {
  const status = Number(/^(\d{3})\b/.exec(message)?.[1] ?? 0);
  return { message, ...(status > 0 ? { status } : {}) };
}

function live(event: JsonObject): readonly LiveEvent[] {
  if (event.type === 'message_update') {
    const update = objectAt(event, 'assistantMessageEvent');
    return update.type === 'text_delta' ? [{ kind: 'text', text: stringAt(update, 'delta') ?? '' }] : [];
  }
  if (event.type === 'tool_execution_start')
    return [toolEvent(stringAt(event, 'toolName') ?? '', detailOf(objectAt(event, 'args')))];
  if (event.type !== 'auto_retry_start') return [];
  return [{ kind: 'waiting', forMs: amount(event.delayMs), reason: stringAt(event, 'errorMessage') ?? 'error' }];
}
