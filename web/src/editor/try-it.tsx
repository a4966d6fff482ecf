// Try it: the draft runs in the page, step by step. A person answers for each agent, or takes an answer that leads on. Nothing is
// started, and nothing costs anything.
import { type ReactNode, useDeferredValue, useEffect, useState } from 'react';
import type { EditorDocument } from '../../../src/editor/document.ts';
import type { DoneStep, OpenStep, TrialAnswer, TrialRecording } from '../../../src/editor/trial-script.ts';
import { call, type Refusal } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button } from '../parts/button.tsx';
import { AreaField, TextField } from '../parts/fields.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { ItemPill } from '../parts/items.tsx';
import { Foreign, ForeignLines } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import type { SaveTrial } from './disk.tsx';
import type { TrialState } from './use-trial.ts';

export function TryIt({
  trial: state,
  onSocket,
  onSave,
}: {
  trial: TrialState;
  onSocket: (socket: string) => void;
  /** Missing where this person may not write tests. */
  onSave: SaveTrial | undefined;
}): ReactNode {
  const { trial, refusal, request, setRequest, answer, back, again, toEnd, toggle, recording } = state;
  const [chosen, setChosen] = useState<number | null>(null);
  const open = trial?.open[0];
  useKeys('Try it', [
    { keys: 'n', says: 'Answer as usual', run: () => open && answer({ socket: open.socket, text: open.usual }) },
    { keys: 'b', says: 'One step back', run: back },
  ]);
  const shown = chosen === null ? undefined : trial?.done[chosen];
  return (
    <aside className="try-it" aria-label="Try it">
      <div className="try-head">
        <h2>Try it</h2>
        <Button kind="quiet" icon="close" label="Close the trial" onPress={toggle} />
      </div>
      <TextField label="Request" value={request} onChange={setRequest} />
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
      {trial ? (
        <>
          <div className="try-acts">
            <Button refused={trial.done.length === 0 ? 'Nothing is answered yet.' : undefined} keys="b" onPress={back}>
              Back
            </Button>
            <Button refused={open ? undefined : 'It is over.'} onPress={toEnd}>
              To the end
            </Button>
            <Button kind="quiet" onPress={again}>
              Again
            </Button>
          </div>
          <ol className="try-steps" aria-label="Steps">
            {trial.done.map((step, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
              <li key={at}>
                <button
                  type="button"
                  aria-expanded={chosen === at}
                  className="try-step"
                  onClick={() => {
                    setChosen(chosen === at ? null : at);
                    onSocket(step.socket);
                  }}
                >
                  <Glyph status={step.outcome === 'accepted' ? 'done' : step.outcome} isQuiet />
                  <b>
                    <Foreign text={step.name} />
                  </b>
                  {step.item ? <ItemPill n={step.item.number} state="done" title={step.item.title} /> : null}
                  <span className="try-says">
                    <Foreign text={step.says.join(' ')} />
                  </span>
                </button>
                {chosen === at && shown ? <StepDetail step={shown} /> : null}
              </li>
            ))}
          </ol>
          {trial.open.map((step, at) => (
            <OpenPart
              key={`${step.socket} ${step.item?.number ?? ''} ${step.attempt} ${trial.done.length}`}
              {...{ step, answer }}
              isFirst={at === 0}
            />
          ))}
          {trial.open.length === 0 ? (
            <p className={`try-end try-${trial.status}`} role="status">
              {trial.status === 'completed'
                ? 'The cast is complete.'
                : trial.status === 'waiting'
                  ? 'The cast waits for a person.'
                  : trial.status === 'failed'
                    ? 'The cast failed.'
                    : `The cast is ${trial.status}.`}{' '}
              {trial.reason === '' || trial.status === 'completed' ? null : <Foreign text={trial.reason} />}
              {trial.code === null ? null : <code> {trial.code}</code>}
            </p>
          ) : null}
          {recording && onSave ? <SaveTest {...{ recording, onSave }} /> : null}
        </>
      ) : null}
    </aside>
  );
}

function OpenPart({
  step,
  answer,
  isFirst,
}: {
  step: OpenStep;
  answer: (answer: TrialAnswer) => void;
  isFirst: boolean;
}): ReactNode {
  const [text, setText] = useState(step.usual);
  const { socket, name, item, brief, isUtility, refusal, attempt } = step;
  return (
    <section className="try-open" aria-label={`${name} waits`}>
      <p>
        <Glyph status="running" isQuiet />{' '}
        <b>
          <Foreign text={name} />
        </b>
        {item ? (
          <>
            {' '}
            <ItemPill n={item.number} state="live" title={item.title} /> <Foreign text={item.title} />
          </>
        ) : null}
        {attempt > 1 ? `, attempt ${attempt}` : ''}
      </p>
      {refusal ? (
        <p className="try-refused">
          Refused: <Foreign text={refusal} />
        </p>
      ) : null}
      <details>
        <summary>{isUtility ? 'What it is given' : 'The brief it reads'}</summary>
        <pre className="try-text" tabIndex={0} role="region" aria-label={`Brief of ${name}`}>
          <ForeignLines text={brief} />
        </pre>
      </details>
      <AreaField label={`Answer as ${name}`} value={text} onChange={setText} rows={6} isMono />
      <div className="try-acts">
        <Button
          kind={isFirst ? 'primary' : 'plain'}
          {...(isFirst ? { keys: 'n' } : {})}
          onPress={() => answer({ socket, text })}
        >
          Answer as {name}
        </Button>
        <Button kind="quiet" onPress={() => answer({ socket, text: null })}>
          Let it fail
        </Button>
      </div>
    </section>
  );
}

function StepDetail({ step: { brief, answer, data, name } }: { step: DoneStep }): ReactNode {
  return (
    <div className="try-detail">
      {(
        [
          ['Brief', brief],
          ['Answer', answer],
          ['State after it', JSON.stringify(data, null, 2)],
        ] as const
      ).map(([title, text]) => (
        <details key={title} open={title !== 'Brief'}>
          <summary>{title}</summary>
          <pre className="try-text" tabIndex={0} role="region" aria-label={`${title} of ${name}`}>
            <ForeignLines text={text} />
          </pre>
        </details>
      ))}
    </div>
  );
}

function SaveTest({ recording, onSave }: { recording: TrialRecording; onSave: SaveTrial }): ReactNode {
  const [name, setName] = useState('');
  const [saved, setSaved] = useState<{ readonly name: string; readonly refusal: Refusal | null } | null>(null);
  const save = (force: boolean): void =>
    void onSave(name, recording, force).then((refusal) => setSaved({ name, refusal }));
  const answer = saved?.name === name ? saved : null;
  return (
    <details className="try-save">
      <summary>Save as test</summary>
      <TextField label="Name of the test" value={name} onChange={setName} placeholder="such as reworked-once" />
      <div className="try-acts">
        <Button
          refused={/^[a-z0-9][a-z0-9-]{0,59}$/.test(name) ? undefined : 'Small letters, digits and hyphens.'}
          onPress={() => save(false)}
        >
          Save it
        </Button>
        {answer?.refusal?.code === 'LOADOUT_EXISTS' ? <Button onPress={() => save(true)}>Replace it</Button> : null}
      </div>
      {answer ? <p role="status">{answer.refusal?.reason ?? 'Saved. “baton test” plays it again.'}</p> : null}
    </details>
  );
}

/** The brief as the agent of a socket would read it, while its prompt is written. */
export function BriefPreview({
  document,
  socket,
  name,
  isSound,
}: {
  document: EditorDocument;
  socket: string;
  name: string;
  /** Nothing can be cast of a draft with errors, so there is no brief. */
  isSound: boolean;
}): ReactNode {
  const late = useDeferredValue(document);
  const [brief, setBrief] = useState<{ readonly text: string | null } | null>(null);
  useEffect(() => {
    if (!isSound) return setBrief({ text: null });
    let isGone = false;
    const timer = setTimeout(() => {
      void briefIn(late, socket).then((text) => {
        if (!isGone) setBrief({ text });
      });
    }, 300);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [late, socket, isSound]);
  return (
    <section className="form-section" aria-label={`Brief, as ${name} will read it`}>
      <h3>Brief, as {name} will read it</h3>
      {brief === null ? null : brief.text === null ? (
        <p className="form-note">No cast comes here yet: repair the errors, and lead an edge to it.</p>
      ) : (
        <pre className="brief-text" tabIndex={0} role="region" aria-label="The brief">
          <ForeignLines text={brief.text} />
        </pre>
      )}
    </section>
  );
}

async function briefIn(document: EditorDocument, socket: string): Promise<string | null> {
  const answer = await call<{ readonly brief: string }>('loadout.try', { document, brief: socket });
  return answer.allow ? answer.details.brief : null;
}
