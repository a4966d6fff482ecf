// Any command-line program as an agent, by a template: a list of arguments with slots such as {{prompt}}. There is no
// shell, so what is put into a slot stays one argument whatever is in it. Its standard output is its answer.
import { createHash } from 'node:crypto';
import { COMMAND_SLOTS, type CommandTemplate } from '../kernel/graph/config.ts';
import type { AgentCall, Program, ProgramCall } from './agent-call.ts';
import { EMPTY_REPORT } from './report.ts';

const SLOT = new RegExp(`\\{\\{ ?(${COMMAND_SLOTS.join('|')}) ?\\}\\}`, 'g');

export function command(template: CommandTemplate): Program {
  return {
    name: template.flat()[0] ?? 'command',
    variables: [],
    invoke(call, settings) {
      const slots = slotsOf(template, call);
      const filled = template.flatMap((part) => (typeof part === 'string' ? [fill(part, slots)] : group(part, slots)));
      return {
        argv: [...filled, ...(settings.args ?? [])],
        // Who does not ask for the prompt among the arguments reads it from standard input.
        stdin: asks(template, 'prompt') ? '' : call.prompt,
        env: {},
        warnings: warningsFor(template, call),
        ...(slots.session ? { sessionId: slots.session } : {}),
      };
    },
    reader() {
      const chunks: string[] = [];
      return {
        push(chunk) {
          chunks.push(chunk);
          return [{ kind: 'text', text: chunk }];
        },
        report: () => ({ ...EMPTY_REPORT, text: chunks.join(''), isFinished: null, commands: null }),
      };
    },
  };
}

type Slots = Readonly<Record<string, string | null>>;

/** Left out as a whole when one of its slots has no value. */
function group(texts: readonly string[], slots: Slots): string[] {
  const used = texts.flatMap((text) => Array.from(text.matchAll(SLOT), ([, name = '']) => name));
  return used.some((name) => slots[name] === null) ? [] : texts.map((text) => fill(text, slots));
}

/** An argument of its own keeps its place: what has no value is empty in it. */
function fill(text: string, slots: Slots): string {
  return text.replace(SLOT, (_, name: string) => slots[name] ?? '');
}

/** Such a program names no conversation of its own, so it is given a name: from the turn's first attempt on, the same one. */
function slotsOf(template: CommandTemplate, { prompt, system, model, thinking, session, turnName }: AgentCall): Slots {
  const own = asks(template, 'session') ? (session?.id ?? uuidOf(turnName)) : null;
  return { prompt, system, model, thinking, session: own };
}

/** In the form that most programs ask for: a UUID made of a name (version 5). */
function uuidOf(name: string): string {
  const hex = createHash('sha1').update(`baton:${name}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

function asks(template: CommandTemplate, slot: string): boolean {
  return template.flat().some((text) => Array.from(text.matchAll(SLOT)).some(([, name]) => name === slot));
}

/** What was asked for and has no slot. Tools are the program's own business: a template cannot limit them. */
function warningsFor(template: CommandTemplate, call: AgentCall): ProgramCall['warnings'] {
  const { system, model, thinking } = call;
  const unheard = Object.entries({ system, model, thinking }).filter(
    ([name, value]) => value !== null && !asks(template, name),
  );
  return [
    ...unheard.map(([name]) => `the command has no slot {{${name}}}; it did not get its ${name}`),
    ...(call.tools === 'coding' ? [] : ['the tools of a command cannot be limited; it uses its own']),
  ];
}
