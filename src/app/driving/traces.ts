// Traces for OpenTelemetry: one span for a cast and one for each attempt, by the conventions for generative AI. They are made
// from what is committed, by the process that drives the cast, and sent as OTLP in JSON. A collector that does not answer is
// reported once and changes nothing for the cast. No text of a person or an agent goes along.
import { providerOf, spanIdOf, traceIdOf, tracesEndpoint } from '../../agents/trace-context.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { postJson } from '../connection.ts';
import { socketName } from '../views/in-words.ts';
import type { Workspace } from '../workspace.ts';

type Seen = readonly Pick<Entry, 'fact' | 'at'>[];

type Tracer = {
  /** Learns what began from entries whose spans were sent, or will not be. */
  learn(entries: Seen): void;
  saw(entries: Seen): void;
  /** All spans are out, or have failed. */
  settled(): Promise<void>;
};

type Place = Pick<Workspace, 'env'>;
type Turn = { readonly socket: string; readonly item: string | null };
type Begun = { readonly loadout: string; readonly rules: Rules; readonly at: string };

const NOTHING: Tracer = { learn: () => undefined, saw: () => undefined, settled: async () => undefined };
const SEND_EVERY_MS = 1_000;
/** A collector that is slow loses the oldest ones. */
const WAITING_MAX = 2_048;

export function tracer({ env }: Place, say: (line: string) => void): Tracer {
  const sender = spanSender({ env }, say, 'The cast goes on.');
  if (sender === null) return NOTHING;
  const turns = new Map<number, Turn>();
  const attempts = new Map<string, string>();
  let begun: Begun | null = null;
  const learn = (entries: Seen) => {
    for (const { fact, at } of entries) {
      if (fact.kind === 'cast.started') begun = { loadout: fact.loadout, rules: fact.rules, at };
      else if (fact.kind === 'turn.started')
        turns.set(fact.turn, { socket: fact.socket, item: fact.item?.key ?? null });
      else if (fact.kind === 'attempt.started') attempts.set(`${fact.turn}.${fact.attempt}`, at);
    }
  };
  return {
    learn,
    saw(entries) {
      for (const entry of entries) {
        learn([entry]);
        const made = begun && spanOf(entry, begun, turns, attempts);
        if (made) sender.send(made);
      }
    },
    settled: sender.settled,
  };
}

type SpanSender = {
  /** Sends it with others, a moment later. */
  send(span: JsonObject): void;
  /** All spans are out, or have failed. */
  settled(): Promise<void>;
};

/** Sends spans; null where no endpoint is configured. A failure is reported once, and the cast goes on. */
export function spanSender({ env }: Place, say: (line: string) => void, allTheSame: string): SpanSender | null {
  const endpoint = tracesEndpoint(env);
  if (endpoint === null) return null;
  const waiting: JsonObject[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  let isTold = false;
  const send = async () => {
    clearTimeout(timer);
    timer = undefined;
    const spans = waiting.splice(0);
    if (spans.length === 0) return;
    const why = await postJson(endpoint, batchOf(spans, env), headersIn(env));
    if (why !== null && !isTold) say(`No traces were sent to ${new URL(endpoint).host}: ${why}. ${allTheSame}`);
    isTold ||= why !== null;
  };
  const sendSoon = () => {
    last = last.then(send).catch(() => undefined);
  };
  return {
    send(made) {
      waiting.push(made);
      waiting.splice(0, Math.max(0, waiting.length - WAITING_MAX));
      timer ??= setTimeout(sendSoon, SEND_EVERY_MS).unref();
    },
    settled() {
      sendSoon();
      return last;
    },
  };
}

/** The span that ends with this entry. */
function spanOf(
  { fact, at }: Seen[number],
  { loadout, rules, at: castAt }: Begun,
  turns: ReadonlyMap<number, Turn>,
  attempts: ReadonlyMap<string, string>,
): JsonObject | null {
  if (fact.kind === 'cast.completed' || fact.kind === 'cast.failed' || fact.kind === 'cast.aborted') {
    const error = fact.kind === 'cast.failed' ? fact.code : null;
    const named = { 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.name': loadout };
    const ids = { traceId: traceIdOf(fact.cast), spanId: spanIdOf(fact.cast) };
    const own = { 'gen_ai.conversation.id': fact.cast, 'baton.status': fact.kind.slice('cast.'.length) };
    return span(ids, `invoke_workflow ${loadout}`, [castAt, at], { ...named, ...own }, error);
  }
  if (!isEnd(fact)) return null;
  const name = `${fact.turn}.${fact.attempt}`;
  const start = attempts.get(name);
  const turn = turns.get(fact.turn);
  if (start === undefined || turn === undefined) return null;
  const socket = rules.graph.sockets[turn.socket];
  const materia = rules.materia[socket?.materia ?? ''];
  const label = socketName(rules, turn.socket);
  const agent = 'agent' in fact ? fact.agent : undefined;
  const usage = 'usage' in fact ? fact.usage : undefined;
  const isUtility = materia?.type === 'utility';
  const runner = agent?.runner ?? (materia?.type === 'agent' ? materia.runner : null) ?? null;
  const model = materia?.type === 'agent' ? materia.model : null;
  const ids = { traceId: traceIdOf(fact.cast), spanId: spanIdOf(fact.cast, name), parentSpanId: spanIdOf(fact.cast) };
  const error = fact.kind === 'attempt.failed' ? fact.code : fact.kind === 'attempt.refused' ? fact.verdict.code : null;
  return span(
    ids,
    isUtility ? `execute_tool ${label}` : `invoke_agent ${label}`,
    [start, at],
    {
      'gen_ai.operation.name': isUtility ? 'execute_tool' : 'invoke_agent',
      ...(isUtility
        ? { 'gen_ai.tool.name': label }
        : { 'gen_ai.agent.name': label, 'gen_ai.agent.id': socket?.materia }),
      'gen_ai.conversation.id': fact.cast,
      'gen_ai.provider.name': isUtility || runner === null ? null : providerOf(runner),
      'gen_ai.request.model': model,
      'gen_ai.response.model': agent?.model,
      'gen_ai.usage.input_tokens': usage?.input,
      'gen_ai.usage.output_tokens': usage?.output,
      ...{
        'baton.turn': fact.turn,
        'baton.attempt': fact.attempt,
        'baton.socket': turn.socket,
        'baton.item': turn.item,
      },
      'baton.outcome': OUTCOMES[fact.kind],
    },
    error,
  );
}

/** The facts with which an attempt is over. */
const OUTCOMES = {
  'turn.accepted': 'accepted',
  'turn.reported': 'reported',
  'turn.blocked': 'blocked',
  'attempt.refused': 'refused',
  'attempt.failed': 'failed',
  'attempt.interrupted': 'interrupted',
  'attempt.lost': 'lost',
} as const;
type End = Extract<Entry['fact'], { kind: keyof typeof OUTCOMES }>;

function isEnd(fact: Entry['fact']): fact is End {
  return Object.hasOwn(OUTCOMES, fact.kind);
}

type Value = string | number | null | undefined;
/** Kinds of spans, and the status of one that failed. */
const INTERNAL = 1;
export const SERVER = 2;
const ERROR = 2;

export function span(
  ids: JsonObject,
  name: string,
  [start, end]: readonly [string, string],
  attributes: Readonly<Record<string, Value>>,
  error: string | null,
  kind = INTERNAL,
): JsonObject {
  return {
    ...ids,
    name,
    kind,
    startTimeUnixNano: nanos(start),
    endTimeUnixNano: nanos(end),
    attributes: attributesOf({ ...attributes, 'error.type': error }),
    status: error === null ? {} : { code: ERROR, message: error },
  };
}

function nanos(at: string): string {
  return `${Date.parse(at)}000000`;
}

/** What is not known is left out. */
function attributesOf(values: Readonly<Record<string, Value>>): JsonObject[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }];
  });
}

function batchOf(spans: readonly JsonObject[], env: Place['env']): string {
  const resource = { attributes: attributesOf({ 'service.name': env.OTEL_SERVICE_NAME ?? 'baton' }) };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'baton' }, spans }] }] });
}

/** `name=value,name=value`, the values written as in an address. */
function headersIn(env: Place['env']): Record<string, string> {
  const written = env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? '';
  const pairs = written.split(',').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=');
    return name.trim() === '' ? [] : [[name.trim(), decodeURIComponent(value.join('=').trim())] as const];
  });
  return Object.fromEntries(pairs);
}
