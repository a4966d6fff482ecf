// OpenAI's interfaces, Responses and Chat Completions, and every server that is compatible with one of them. An address
// of one's own means Chat Completions unless the settings say otherwise, because that is what such servers speak.
import type { LiveEvent } from '../engine/ports.ts';
import { type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import type { AgentCall } from './agent-call.ts';
import { type ApiRequest, type ApiSettings, addressOf, errorIn, type ModelApi } from './api-runner.ts';
import { type AgentReport, figure, objectsIn, ofWhichCached, textIn } from './report.ts';
import { nearestLevel } from './tool-scope.ts';

export const openai: ModelApi = { name: 'openai', keyVariable: 'OPENAI_API_KEY', request, fold, live };

const ADDRESS = 'https://api.openai.com/v1';
const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh'];

function request(call: AgentCall, settings: ApiSettings, key: string | null): ApiRequest {
  const wire = settings.wire ?? (settings.baseUrl === undefined ? 'responses' : 'chat');
  const { level, warnings } = nearestLevel('openai', call.thinking, EFFORTS);
  const model = call.model === null ? {} : { model: call.model };
  const headers = {
    'content-type': 'application/json',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  };
  const base = settings.baseUrl ?? ADDRESS;
  if (wire === 'chat') {
    const system = call.system === null ? [] : [{ role: 'system', content: call.system }];
    const messages = [...system, { role: 'user', content: call.prompt }];
    const effort = level === null ? {} : { reasoning_effort: level };
    const body = { ...model, messages, stream: true, stream_options: { include_usage: true }, ...effort };
    return { url: addressOf(base, 'chat/completions'), headers, body, warnings };
  }
  const body = {
    ...model,
    input: [{ role: 'user', content: call.prompt }],
    ...(call.system === null ? {} : { instructions: call.system }),
    ...(level === null ? {} : { reasoning: { effort: level } }),
    stream: true,
    store: false,
  };
  return { url: addressOf(base, 'responses'), headers, body, warnings };
}

/** The events of both interfaces: those of Responses have a type. */
function fold(report: AgentReport, event: JsonObject): AgentReport {
  const type = stringAt(event, 'type');
  if (type === null) return foldChunk(report, event);
  switch (type) {
    case 'response.output_text.delta':
      return { ...report, text: report.text + (stringAt(event, 'delta') ?? '') };
    case 'response.completed':
      return foldResponse(report, objectAt(event, 'response'));
    case 'response.incomplete':
      return { ...foldResponse(report, objectAt(event, 'response')), isCut: true };
    case 'response.failed':
      return { ...report, isFinished: false, error: errorIn(objectAt(event, 'response')) };
    case 'error':
      return { ...report, isFinished: false, error: errorIn('error' in event ? event : { error: event }) };
    default:
      return report;
  }
}

function foldResponse(report: AgentReport, response: JsonObject): AgentReport {
  const used = objectAt(response, 'usage');
  const messages = objectsIn(response.output).filter(({ type }) => type === 'message');
  const text = messages.map(({ content }) => textIn(content)).join('');
  return {
    ...report,
    text: text === '' ? report.text : text,
    isFinished: true,
    usage: {
      ...{ input: figure(used.input_tokens), output: figure(used.output_tokens), cost: 0 },
      ...ofWhichCached(figure(objectAt(used, 'input_tokens_details').cached_tokens)),
    },
    model: stringAt(response, 'model') ?? report.model,
  };
}

function foldChunk(report: AgentReport, chunk: JsonObject): AgentReport {
  if ('error' in chunk) return { ...report, isFinished: false, error: errorIn(chunk) };
  const [choice = {}] = objectsIn(chunk.choices);
  const delta = stringAt(objectAt(choice, 'delta'), 'content') ?? '';
  const used = objectAt(chunk, 'usage');
  const usage = {
    ...{ input: figure(used.prompt_tokens), output: figure(used.completion_tokens), cost: figure(used.cost) },
    ...ofWhichCached(figure(objectAt(used, 'prompt_tokens_details').cached_tokens)),
  };
  const finish = stringAt(choice, 'finish_reason');
  return {
    ...report,
    text: report.text + delta,
    isFinished: report.isFinished || finish !== null,
    isCut: report.isCut || finish === 'length' || finish === 'content_filter',
    model: stringAt(chunk, 'model') ?? report.model,
    usage: 'prompt_tokens' in used ? usage : report.usage,
  };
}

function live(event: JsonObject): readonly LiveEvent[] {
  const [choice = {}] = objectsIn(event.choices);
  const text =
    event.type === 'response.output_text.delta'
      ? stringAt(event, 'delta')
      : stringAt(objectAt(choice, 'delta'), 'content');
  return text === null || text === '' ? [] : [{ kind: 'text', text }];
}
