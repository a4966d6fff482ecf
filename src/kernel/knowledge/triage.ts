// A person decides what is remembered: a suggestion is accepted, for one section or for everybody, or dropped. What was
// accepted can be dropped later, too.
import type { Pen } from '../cast/pen.ts';
import type { Input } from '../input.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { textOf } from './finding.ts';
import { isSectionName, MEMORY_MAX, memoryOf, sectionOf, suggestionOf } from './state.ts';

export function accept({ state, write }: Pen, input: Extract<Input, { kind: 'memory.accept' }>): Verdict {
  const { id, section = null } = input;
  const { knowledge } = state;
  if (section !== null && !isSectionName(section)) {
    const reason = `no section can be called ${JSON.stringify(textOf(section))}`;
    return deny('SECTION_NAME_INVALID', reason, { section: textOf(section) });
  }
  if (section !== null && isUndeclared(input, section) && sectionOf(knowledge, section) === null) {
    const reason = `there is no section ${section}, so that nobody would be told it; \`baton context show\` lists them`;
    return deny('UNKNOWN_SECTION', reason, { section });
  }
  if (!suggestionOf(knowledge, id)) return unknown(id, memoryOf(knowledge, id) !== null);
  if (Object.keys(knowledge.memory).length >= MEMORY_MAX) {
    const reason = `${MEMORY_MAX} suggestions were accepted, and more would not be read; drop one first`;
    return deny('MEMORY_FULL', reason, { id, max: MEMORY_MAX });
  }
  write({ kind: 'memory.accepted', id, section });
  return allow(`${id} is remembered${section === null ? '' : ` with ${section}`}`, { id, section });
}

/** Where nobody said which sections there are, any may come to be. */
function isUndeclared({ declared }: Extract<Input, { kind: 'memory.accept' }>, section: string): boolean {
  return declared !== undefined && !declared.includes(section);
}

export function drop({ state, write }: Pen, input: Extract<Input, { kind: 'memory.drop' }>): Verdict {
  const { id, reason } = input;
  const found = suggestionOf(state.knowledge, id) ?? memoryOf(state.knowledge, id);
  if (!found) return unknown(id, false);
  write({ kind: 'memory.dropped', id, key: found.key, reason });
  return allow(`${id} is dropped`, { id });
}

function unknown(id: string, isAccepted: boolean): Denied {
  if (isAccepted) return deny('NOT_ALLOWED_NOW', `${id} was accepted already`, { id });
  return deny(
    'UNKNOWN_MEMORY',
    `nothing waits under ${JSON.stringify(textOf(id))}; \`baton memory list\` shows what does`,
    {
      id: textOf(id),
    },
  );
}
