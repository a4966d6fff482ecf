// Any command-line program as an agent, by a template: a list of arguments with slots such as {{prompt}}. There is no
// shell, so what is put into a slot stays one argument whatever is in it. Its standard output is its answer.
import type { CommandTemplate } from '../kernel/graph/config.ts';
import type { AgentCall, Invocation, Program } from './agent-call.ts';
import { EMPTY_REPORT } from './report.ts';

const SLOT = /\{\{ ?(prompt|system|model|thinking|session) ?\}\}/g;

export function command(template: CommandTemplate): Program {
  return {
    name: template.flat()[0] ?? 'command',
    variables: [],
    invoke(call, settings) {
      const filled = template.flatMap((part) => fill(typeof part === 'string' ? [part] : part, call));
      return {
        argv: [...filled, ...(settings.args ?? [])],
        // Who does not ask for the prompt among the arguments reads it from standard input.
        stdin: asks(template, 'prompt') ? '' : call.prompt,
        env: {},
        warnings: warningsFor(template, call),
      };
    },
    reader() {
      const said: string[] = [];
      return {
        push(chunk) {
          said.push(chunk);
          return [{ kind: 'text', text: chunk }];
        },
        report: () => ({ ...EMPTY_REPORT, text: said.join(''), isFinished: null, commands: null }),
      };
    },
  };
}

function fill(group: readonly string[], call: AgentCall): string[] {
  const values = slotsOf(call);
  const used = group.flatMap((text) => Array.from(text.matchAll(SLOT), ([, name = '']) => name));
  if (used.some((name) => values[name] === null)) return [];
  return group.map((text) => text.replace(SLOT, (_, name: string) => values[name] ?? ''));
}

function slotsOf({ prompt, system, model, thinking, session }: AgentCall): Readonly<Record<string, string | null>> {
  return { prompt, system, model, thinking, session: session?.id ?? null };
}

function asks(template: CommandTemplate, slot: string): boolean {
  return template.flat().some((text) => Array.from(text.matchAll(SLOT)).some(([, name]) => name === slot));
}

/** What was asked for and has no slot. Tools are the program's own business: a template cannot limit them. */
function warningsFor(template: CommandTemplate, call: AgentCall): Invocation['warnings'] {
  const unheard = Object.entries(slotsOf(call)).filter(
    ([name, value]) => name !== 'prompt' && value !== null && !asks(template, name),
  );
  return [
    ...unheard.map(([name]) => `the command has no slot {{${name}}}; it was not told its ${name}`),
    ...(call.tools === 'coding' ? [] : ['the tools of a command cannot be limited; it uses its own']),
  ];
}
