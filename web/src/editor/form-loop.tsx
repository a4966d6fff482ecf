// The form of a loop: where its items come from, where it goes on to the next one, and its exits.
import { type ReactNode, useState } from 'react';
import { exitsIn, loopAt, socketsOf } from '../../../src/editor/document.ts';
import type { Condition } from '../../../src/kernel/graph/config.ts';
import { LOOP } from '../../../src/kernel/graph/loadout-fields.ts';
import { isObject, objectAt, stringAt } from '../../../src/kernel/json.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/fields.tsx';
import { Foreign } from '../parts/text.tsx';
import { plural } from '../words.ts';
import type { Draft } from './draft.ts';
import { CONDITIONS, type Drawn } from './drawn.ts';
import { FieldForm } from './field-form.tsx';
import { LOOP_FIELDS } from './form-fields.ts';
import { contextOf, FormHead, type FormProps, nameOfTarget, targetsOf } from './form-parts.tsx';
import { Typed } from './typed.tsx';

export function LoopForm(props: FormProps & { loop: string }): ReactNode {
  const { draft, state, drawn, loop: id, isReadOnly } = props;
  const loop = loopAt(state.document, id) ?? {};
  const drawnLoop = drawn.loops.find((each) => each.id === id);
  const steps = drawnLoop?.steps ?? [];
  const context = contextOf(props, { loop: id }, `loop.${id}`);
  const exits = exitsIn(state.document).filter((each) => each.loop === id);
  const generators = drawn.sockets.filter(({ marks }) => marks.includes('Generator'));
  const consumes = objectAt(loop, 'consumes');
  const sockets = socketsOf(state.document);
  const { maxConcurrency } = objectAt(loop, 'parallel');
  const cursor = stringAt(consumes, 'cursor') ?? '';
  const nameIn = (socket: string): string => nameOfTarget(drawn, socket);
  return (
    <>
      <FormHead name={drawnLoop?.over == null ? 'Loop' : `For each item of ${drawnLoop.over}`} id={id} />
      <div className="form-body">
        <Choice
          label="Items come from"
          value={stringAt(consumes, 'from') ?? ''}
          of={[
            ['', 'no generator'],
            ...generators.map(({ id: socket, name }) => [socket, `${name}, ${socket}`] as const),
          ]}
          onChange={(generator) => generator !== '' && draft.edit({ edit: 'loop.set', loop: id, generator })}
        />
        <fieldset className="form-rows">
          <legend>Goes on to the next item at</legend>
          {steps.map((step) => {
            const advance = objectAt(sockets, step).advance;
            const when = isObject(advance) ? (stringAt(advance, 'when') ?? 'always') : 'no';
            return (
              <Choice
                key={step}
                label={nameIn(step)}
                value={when}
                of={[
                  ['no', 'does not advance'],
                  ['always', 'after every answer'],
                  ['satisfied', 'when satisfied'],
                  ['not_satisfied', 'when not satisfied'],
                ]}
                onChange={(next) =>
                  draft.edit(
                    next === 'no'
                      ? { edit: 'advance.remove', socket: step }
                      : { edit: 'advance.set', socket: step, when: next === 'always' ? null : (next as Condition) },
                  )
                }
              />
            );
          })}
        </fieldset>
        <section className="form-section" aria-label="Exits">
          <h3>When no item is left</h3>
          {exits.length === 0 ? <p className="form-note">No exit: the cast ends after the last item.</p> : null}
          <ol className="edge-list">
            {exits.map((exit) => (
              <li key={exit.exit}>
                <span className="diamond" aria-hidden="true" />
                <button type="button" className="link edge-open" onClick={() => draft.select({ way: exit.exit })}>
                  {nameIn(exit.from)}, {exit.condition.replace('_', ' ')}
                </button>
                <b>
                  <Foreign text={nameIn(exit.to)} />
                </b>
                {isReadOnly ? null : (
                  <span className="edge-acts">
                    <Button
                      kind="quiet"
                      icon="close"
                      label={`Remove the exit to ${nameIn(exit.to)}`}
                      onPress={() => draft.edit({ edit: 'exit.remove', exit: exit.exit })}
                    />
                  </span>
                )}
              </li>
            ))}
          </ol>
          {isReadOnly ? null : <NewExit {...{ draft, drawn, loop: id, steps }} />}
        </section>
        {isReadOnly ? null : (
          <>
            <div className="field">
              <label htmlFor="loop-lanes">Lanes</label>
              <Typed
                id="loop-lanes"
                type="number"
                context={context}
                value={typeof maxConcurrency === 'number' ? String(maxConcurrency) : ''}
                placeholder="one after the other"
                read={(text) => (text === '' ? undefined : Math.max(1, Math.round(Number(text))))}
                put={(lanes) =>
                  draft.edit({
                    edit: 'loop.set',
                    loop: id,
                    maxConcurrency: typeof lanes === 'number' ? lanes : null,
                  })
                }
              />
              <p className="field-hint">
                How many items may be in progress at the same time, each in a worktree of its own.
              </p>
            </div>
            <div className="field">
              <label htmlFor="loop-cursor">Cursor</label>
              <Typed
                id="loop-cursor"
                context={context}
                value={cursor}
                placeholder="workItemIndex"
                read={(text) => (text === '' ? undefined : text)}
                put={(next) =>
                  draft.edit({ edit: 'loop.set', loop: id, cursor: typeof next === 'string' ? next : null })
                }
              />
              <p className="field-hint">The name of the cursor that counts the items.</p>
            </div>
            <fieldset className="form-rows">
              <legend>Its sockets</legend>
              {drawn.sockets.map(({ id: socket, name, loop: other }) =>
                other !== null && other !== id ? null : (
                  <label key={socket} className="check">
                    <input
                      type="checkbox"
                      checked={steps.includes(socket)}
                      onChange={(event) =>
                        draft.edit({
                          edit: 'loop.set',
                          loop: id,
                          sockets: event.target.checked ? [...steps, socket] : steps.filter((each) => each !== socket),
                        })
                      }
                    />
                    <span>
                      <Foreign text={name} /> <span className="quiet">{socket}</span>
                    </span>
                  </label>
                ),
              )}
            </fieldset>
          </>
        )}
        <details className="form-part">
          <summary>Rarely needed</summary>
          <div className="form-part-fields">
            <FieldForm table={LOOP} names={[...LOOP_FIELDS, 'consumes']} value={loop} context={context} />
          </div>
        </details>
        {isReadOnly ? null : (
          <>
            <p className="form-note">
              {exits.length === 0
                ? 'Breaking the loop keeps its sockets and edges.'
                : `Breaking the loop keeps its sockets and edges, and removes ${plural(exits.length, 'exit')}: ${exits.map((exit) => `${nameIn(exit.from)} to ${nameIn(exit.to)}, ${exit.condition.replace('_', ' ')}`).join('; ')}.`}
            </p>
            <Button onPress={() => draft.edit({ edit: 'loop.break', loop: id })}>Break the loop</Button>
          </>
        )}
      </div>
    </>
  );
}

function NewExit({
  draft,
  drawn,
  loop,
  steps,
}: {
  draft: Draft;
  drawn: Drawn;
  loop: string;
  steps: readonly string[];
}): ReactNode {
  const [from, setFrom] = useState(drawn.loops.find(({ id }) => id === loop)?.advances.at(-1) ?? steps.at(-1) ?? '');
  const [condition, setCondition] = useState<Condition>('always');
  const [to, setTo] = useState('');
  const nameIn = (id: string): string => nameOfTarget(drawn, id);
  return (
    <details className="form-part">
      <summary>Add an exit</summary>
      <div className="form-part-fields">
        <Choice label="At" value={from} of={steps.map((id) => [id, nameIn(id)] as const)} onChange={setFrom} />
        <Choice label="On" value={condition} of={CONDITIONS} onChange={(next) => setCondition(next as Condition)} />
        <Choice label="To" value={to} of={[['', 'choose'], ...targetsOf(drawn, false)]} onChange={setTo} />
        <Button
          icon="plus"
          refused={to === '' ? 'Choose where it leads.' : undefined}
          onPress={() => draft.edit({ edit: 'exit.add', loop, from, condition, to })}
        >
          Add the exit
        </Button>
      </div>
    </details>
  );
}
