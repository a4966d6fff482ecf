// The trial of the draft that is open: its answers so far, and what the server made of them. Nothing is started there.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EditorDocument } from '../../../src/editor/document.ts';
import {
  recordingOf,
  type Trial,
  type TrialAnswer,
  type TrialRecording,
  type TrialScript,
} from '../../../src/editor/trial-script.ts';
import { call, type Refusal, type Verdict } from '../api.ts';

export type TrialState = {
  readonly isOpen: boolean;
  readonly trial: Trial | null;
  readonly refusal: Refusal | null;
  readonly request: string;
  readonly setRequest: (request: string) => void;
  readonly answer: (answer: TrialAnswer) => void;
  readonly back: () => void;
  readonly again: () => void;
  readonly toEnd: () => void;
  readonly toggle: () => void;
  /** What happens where, for the picture. */
  readonly here: ReadonlyMap<string, string>;
  readonly recording: TrialRecording | null;
};

const NOWHERE: ReadonlyMap<string, string> = new Map();
const TYPED_MS = 250;

export function useTrial(document: EditorDocument): TrialState {
  const [isOpen, setOpen] = useState(false);
  const [request, setRequest] = useState('Add a login page');
  const [asked, setAsked] = useState<Asked>(FRESH);
  const [trial, setTrial] = useState<Trial | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const run = useRef(0);
  const isStarted = useRef(false);
  // What is edited meanwhile is tried at once, with the answers as far as they still fit.
  useEffect(() => {
    if (!isOpen) return;
    const own = ++run.current;
    const wait = isStarted.current ? TYPED_MS : 0;
    isStarted.current = true;
    const timer = setTimeout(
      () =>
        void tryDraft(document, { request, answers: asked.answers }, asked.toEnd).then((answer) => {
          // A later question is on its way; its answer counts.
          if (own !== run.current) return;
          setTrial(answer.allow ? answer.details.trial : null);
          setRefusal(answer.allow ? null : answer);
        }),
      asked.isQuick ? 0 : wait,
    );
    return () => clearTimeout(timer);
  }, [isOpen, document, request, asked]);
  const here = useMemo(() => {
    if (!trial || !isOpen) return NOWHERE;
    return new Map(
      trial.open.map(({ socket, item, attempt }) => [
        socket,
        [item ? `item ${item.number}` : 'waits for its answer', attempt > 1 ? `attempt ${attempt}` : '']
          .filter(Boolean)
          .join(', '),
      ]),
    );
  }, [trial, isOpen]);
  const toggle = useCallback(() => setOpen((before) => !before), []);
  const answers = trial?.script.answers ?? [];
  const ask = (next: readonly TrialAnswer[], toEnd = false): void => setAsked({ answers: next, toEnd, isQuick: true });
  return {
    ...{ isOpen, trial, refusal, request, setRequest, here, toggle },
    recording: trial && trial.done.length > 0 ? recordingOf(document.name, trial) : null,
    answer: (answer) => ask([...answers, answer]),
    back: () => ask(answers.slice(0, -1)),
    again: () => ask([]),
    toEnd: () => ask(answers, true),
  };
}

type Asked = { readonly answers: readonly TrialAnswer[]; readonly toEnd: boolean; readonly isQuick: boolean };
const FRESH: Asked = { answers: [], toEnd: false, isQuick: true };

/** A trial is played by the server; nothing is started there, and nothing is kept. */
function tryDraft(
  document: EditorDocument,
  script: TrialScript,
  toEnd = false,
): Promise<Verdict<{ readonly trial: Trial }>> {
  return call('loadout.try', { document, ...script, ...(toEnd ? { toEnd } : {}) });
}
