// The one place where a request about knowledge becomes facts and a verdict. All of them are for people: an agent writes
// through its report, where its permissions are known.
import type { Pen } from '../cast/pen.ts';
import type { Input } from '../input.ts';
import { deny, type Verdict } from '../verdict.ts';
import type { KnowledgeRequest } from './request.ts';
import { accept, drop } from './triage.ts';
import { revertSection, setSection } from './write.ts';

const WHAT: Readonly<Record<KnowledgeRequest['kind'], string>> = {
  'context.write': 'sets a section by hand; agents write with update_contracts in their report',
  'context.revert': 'puts a section back',
  'memory.accept': 'decides what is remembered',
  'memory.drop': 'decides what is remembered',
};

export function decideKnowledge(pen: Pen, input: Extract<Input, { kind: KnowledgeRequest['kind'] }>): Verdict {
  if (input.isAgent) {
    const reason = `only a person ${WHAT[input.kind]}; this process was started by an agent`;
    return deny('APPROVER_IS_AGENT', reason, { kind: input.kind });
  }
  switch (input.kind) {
    case 'context.write':
      return setSection(pen, input);
    case 'context.revert':
      return revertSection(pen, input);
    case 'memory.accept':
      return accept(pen, input);
    case 'memory.drop':
      return drop(pen, input);
  }
}
