// A trial as the server plays it: nothing is started there, and nothing is kept.
import type { EditorDocument } from '../../../src/editor/document.ts';
import type { Trial, TrialScript } from '../../../src/editor/trial-script.ts';
import { call, type Verdict } from '../api.ts';

export function tryDraft(
  document: EditorDocument,
  script: TrialScript,
  toEnd = false,
): Promise<Verdict<{ readonly trial: Trial }>> {
  return call('loadout.try', { document, ...script, ...(toEnd ? { toEnd } : {}) });
}

export async function briefIn(document: EditorDocument, socket: string): Promise<string | null> {
  const answer = await call<{ readonly brief: string }>('loadout.try', { document, brief: socket });
  return answer.allow ? answer.details.brief : null;
}
