// Where the spans of a cast belong. The ids follow from the names of cast and attempt: every process that knows these names
// means the same span, also after a crash, and nothing has to be kept or handed over.
import { hash } from 'node:crypto';

type Variables = Readonly<Record<string, string | undefined>>;

/** Where traces are sent to, by the variables that OpenTelemetry defines; null where none are configured. */
export function tracesEndpoint(env: Variables): string | null {
  if (env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return null;
  if (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? `${base.replace(/\/+$/, '')}/v1/traces` : null;
}

export function traceIdOf(cast: string): string {
  return hash('sha256', `baton trace ${cast}`).slice(0, 32);
}

/** The span of the cast itself, or of one of its attempts, such as `18.1`. */
export function spanIdOf(cast: string, attempt = ''): string {
  return hash('sha256', `baton span ${cast} ${attempt}`).slice(0, 16);
}

type Attempt = { readonly cast: string; readonly turn: number; readonly attempt: number };

/** The W3C context that an agent or a utility goes on with; null where nothing is traced. */
export function traceparentOf(env: Variables, { cast, turn, attempt }: Attempt): string | null {
  return tracesEndpoint(env) && `00-${traceIdOf(cast)}-${spanIdOf(cast, `${turn}.${attempt}`)}-01`;
}

/** As a variable of its program. */
export function traceVariables(env: Variables, attempt: Attempt): Readonly<Record<string, string>> {
  const traceparent = traceparentOf(env, attempt);
  return traceparent === null ? {} : { TRACEPARENT: traceparent };
}

const PROVIDERS: Readonly<Record<string, string>> = { claude: 'anthropic', codex: 'openai' };

/** How traces call the provider of a runner. */
export function providerOf(runner: string): string {
  return PROVIDERS[runner] ?? runner;
}
