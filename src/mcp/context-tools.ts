// What an agent may look up while it works, and what it may ask a person for.
import { dialects } from '../dialects/index.ts';
import { scopeOf } from '../kernel/cast/item.ts';
import { contractOf } from '../kernel/graph/contract.ts';
import { resolvePath } from '../kernel/graph/path.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import type { Cast, Turn } from '../kernel/state.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { refusalOf } from './command-line.ts';
import { turnOf } from './submit-handoff.ts';
import { args, FOREIGN, type Scene, type Tool } from './tool.ts';

/** More than that does not help an agent, and fills its window. */
const VALUE_CHARS_MAX = 65_536;

export const CONTEXT_TOOLS: readonly Tool[] = [
  {
    name: 'read_context',
    audience: 'anyone',
    description: `Read what you were asked and what the steps before you left: without a path the request, the item, what you must return and which data there is; with a path (such as workItems.0.title) the value there. Outside a cast: all a new session needs to go on with a run. ${FOREIGN}`,
    input: args({
      path: { type: 'string', minLength: 1, maxLength: 1000, description: 'within a cast: a path into its data' },
      run: { type: 'string', minLength: 1, description: 'outside a cast: the run that is meant' },
    }),
    readOnly: true,
    call: ({ path, run }, scene) => (scene.attempt ? ofAttempt(scene, path) : ofRun(scene, run)),
  },
  {
    name: 'request_approval',
    audience: 'agent',
    description: 'Ask a person for permission before you do something that needs it.',
    input: args(
      {
        operation: { type: 'string', minLength: 1, description: 'exactly what you want to do' },
        reason: { type: 'string', minLength: 1, description: 'why it is needed' },
      },
      ['operation', 'reason'],
    ),
    readOnly: false,
    async call({ operation = null }) {
      const reason =
        'Approvals cannot be asked for by tool call yet. Do not do it: say in your handoff what you want to do and why, so that a person can decide.';
      return deny('NOT_ALLOWED_NOW', reason, { operation });
    },
  },
];

async function ofAttempt(scene: Scene, path: Json | undefined): Promise<Verdict> {
  if (!scene.attempt) return deny('NOT_ALLOWED_NOW', 'there is no attempt at hand');
  const found = await turnOf(scene, scene.attempt);
  if (!('turn' in found)) return found;
  const { cast, turn } = found;
  if (!isString(path)) return allow('what you were asked', overview(cast, turn));
  const value = resolvePath(path, scopeOf(cast, turn.item));
  if (value === undefined) {
    const reason = `there is nothing at ${JSON.stringify(path)}; the data has ${listed(Object.keys(cast.data))}`;
    return deny('MISSING_REQUIRED_INPUT', reason, { path });
  }
  return allow(`the value at ${path}`, { path, ...bounded(value) });
}

function overview(cast: Cast, turn: Turn): JsonObject {
  const contract = contractOf(cast.rules, turn.socket);
  const scope = scopeOf(cast, turn.item);
  return {
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    socket: turn.socket,
    request: cast.request,
    item: turn.item ? { key: turn.item.key, title: turn.item.label, ...bounded(scope.item ?? null) } : null,
    returns: { contract: contract.dialect, instructions: dialects[contract.dialect].brief(contract) },
    data: Object.keys(cast.data),
  };
}

/** The value, or the beginning of its text where it is too long. */
function bounded(value: Json): JsonObject {
  const text = JSON.stringify(value);
  if (text.length <= VALUE_CHARS_MAX) return { value };
  return { text: text.slice(0, VALUE_CHARS_MAX), cut: true, chars: text.length };
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'no members' : names.slice(0, 50).join(', ');
}

async function ofRun({ baton }: Scene, run: Json | undefined): Promise<Verdict> {
  const said = await baton(['bundle', ...(isString(run) ? [`--run=${run}`] : [])]);
  if (!isObject(said.value) || said.value.ledger === undefined) return refusalOf(said);
  return allow('what a new session needs', said.value);
}
