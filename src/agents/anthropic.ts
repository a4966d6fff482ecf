// Anthropic's Messages interface.
import type { LiveEvent } from '../engine/ports.ts';
import { type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import type { AgentCall } from './agent-call.ts';
import { type ApiRequest, type ApiSettings, addressOf, errorIn, type ModelApi } from './api-runner.ts';
import { type AgentReport, figure, ofWhichCached } from './report.ts';

export const anthropic: ModelApi = { name: 'anthropic', keyVariable: 'ANTHROPIC_API_KEY', request, fold, live };

const ADDRESS = 'https://api.anthropic.com';
const VERSION = '2023-06-01';

/** The interface requires a limit. This one is below the limit of every current model. */
const ANSWER_TOKENS_MAX = 16_384;

/** Tokens a model may think with. They count against the limit of the answer, so they are added to it. */
const THINKING_TOKENS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 2_048,
  medium: 4_096,
  high: 8_192,
  xhigh: 12_288,
  max: 16_000,
};

/** Stop reasons that leave the answer incomplete. */
const CUTS = ['max_tokens', 'model_context_window_exceeded', 'refusal'];

function request(call: AgentCall, settings: ApiSettings, key: string | null): ApiRequest {
  const thinking = THINKING_TOKENS[call.thinking ?? ''] ?? 0;
  return {
    url: addressOf(settings.baseUrl ?? ADDRESS, 'v1/messages'),
    headers: {
      'content-type': 'application/json',
      'anthropic-version': VERSION,
      ...(key === null ? {} : { 'x-api-key': key }),
    },
    body: {
      ...(call.model === null ? {} : { model: call.model }),
      max_tokens: ANSWER_TOKENS_MAX + thinking,
      ...(call.system === null ? {} : { system: call.system }),
      messages: [{ role: 'user', content: call.prompt }],
      ...(thinking > 0 ? { thinking: { type: 'enabled', budget_tokens: thinking } } : {}),
      stream: true,
    },
    warnings: [],
  };
}

function fold(report: AgentReport, event: JsonObject): AgentReport {
  switch (event.type) {
    case 'message_start': {
      const message = objectAt(event, 'message');
      const used = objectAt(message, 'usage');
      const read = figure(used.cache_read_input_tokens);
      const input = figure(used.input_tokens) + figure(used.cache_creation_input_tokens) + read;
      const usage = { input, output: figure(used.output_tokens), cost: 0, ...ofWhichCached(read) };
      return { ...report, model: stringAt(message, 'model'), usage };
    }
    case 'content_block_delta':
      return { ...report, text: report.text + (textOf(event) ?? '') };
    case 'message_delta': {
      const output = figure(objectAt(event, 'usage').output_tokens);
      const usage = report.usage ?? { input: 0, output: 0, cost: 0 };
      const stop = stringAt(objectAt(event, 'delta'), 'stop_reason');
      const isCut = report.isCut || CUTS.includes(stop ?? '');
      return { ...report, isCut, usage: { ...usage, output: Math.max(usage.output, output) } };
    }
    case 'message_stop':
      return { ...report, isFinished: true };
    case 'error':
      return { ...report, isFinished: false, error: errorIn(event) };
    default:
      return report;
  }
}

function textOf(event: JsonObject): string | null {
  const delta = objectAt(event, 'delta');
  return delta.type === 'text_delta' ? stringAt(delta, 'text') : null;
}

function live(event: JsonObject): readonly LiveEvent[] {
  const text = event.type === 'content_block_delta' ? textOf(event) : null;
  return text === null ? [] : [{ kind: 'text', text }];
}
