// The forms of edges and exits, and the lists of them in the form of a socket.
import { type ReactNode, useState } from 'react';
import { exitsIn, socketAt } from '../../../src/editor/document.ts';
import type { Condition } from '../../../src/kernel/graph/config.ts';
import { EDGE } from '../../../src/kernel/graph/loadout-fields.ts';
import { isObject, isString, type JsonObject, listAt } from '../../../src/kernel/json.ts';
import { Button, Segments } from '../parts/button.tsx';
import { Choice } from '../parts/fields.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { type Draft, wayRef } from './draft.ts';
import { CONDITIONS, type DrawnWay, ordinal } from './drawn.ts';
import { FieldForm } from './field-form.tsx';
import { LoadoutForm } from './form-loadout.tsx';
import { contextOf, FormHead, type FormProps, nameOfTarget, targetsOf } from './form-parts.tsx';
import { readJson, Typed } from './typed.tsx';

export function EdgeList(props: FormProps & { from: string }): ReactNode {
  const { draft, drawn, from, isReadOnly } = props;
  const edges = drawn.ways.filter((way) => way.from === from && way.kind === 'edge');
  const [dragged, setDragged] = useState<number | null>(null);
  const move = (at: number, to: number): void => {
    if (to >= 0 && to < edges.length && at !== to)
      draft.edit({ edit: 'edge.move', edge: { from, index: edges[at]?.at ?? at }, to });
  };
  return (
    <section className="form-section" aria-label="Then, the first that matches">
      <h3>Then, the first that matches</h3>
      {edges.length === 0 ? (
        <p className="form-note">No edge leaves it: the cast ends here, or its loop goes on.</p>
      ) : (
        <ol className="edge-list">
          {edges.map((way, at) => (
            <li
              key={way.id}
              draggable={!isReadOnly}
              className={dragged === at ? 'edge-dragged' : undefined}
              onDragStart={(event) => {
                event.dataTransfer.effectAllowed = 'move';
                event.dataTransfer.setData('text/plain', String(at));
                setDragged(at);
              }}
              onDragEnd={() => setDragged(null)}
              onDragOver={(event) => event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault();
                if (dragged !== null) move(dragged, at);
                setDragged(null);
              }}
            >
              <span className="quiet">{at + 1}</span>
              <button type="button" className="link edge-open" onClick={() => draft.select({ way: way.id })}>
                <Foreign text={way.when.replace('_', ' ')} />
              </button>
              <span className="edge-to">
                <b>
                  <Foreign text={nameOfTarget(drawn, way.to)} />
                </b>
                {way.max === null ? '' : `, at most ${way.max} per item`}
              </span>
              {isReadOnly ? null : (
                <span className="edge-acts">
                  <Button
                    kind="quiet"
                    icon="up"
                    label={`Try edge ${at + 1} earlier`}
                    onPress={() => move(at, at - 1)}
                  />
                  <Button
                    kind="quiet"
                    icon="down"
                    label={`Try edge ${at + 1} later`}
                    onPress={() => move(at, at + 1)}
                  />
                  <span className="edge-grip" aria-hidden="true">
                    <Icon name="drag" />
                  </span>
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

export function NewEdge({ draft, drawn, from }: FormProps & { from: string }): ReactNode {
  const [to, setTo] = useState('');
  return (
    <div className="form-new">
      <Choice label="A new edge to" value={to} of={[['', 'choose'], ...targetsOf(drawn)]} onChange={setTo} />
      <Button
        icon="plus"
        refused={to === '' ? 'Choose where it leads.' : undefined}
        onPress={() => {
          draft.edit({ edit: 'edge.add', from, to });
          setTo('');
        }}
      >
        Connect
      </Button>
    </div>
  );
}

export function ExitList({ draft, drawn, from }: FormProps & { from: string }): ReactNode {
  const exits = drawn.ways.filter((way) => way.from === from && way.kind === 'exit');
  if (exits.length === 0) return null;
  return (
    <section className="form-section" aria-label="Exits of its loop">
      <h3>When no item is left</h3>
      <ol className="edge-list">
        {exits.map((way) => (
          <li key={way.id}>
            <span className="diamond" aria-hidden="true" />
            <button type="button" className="link edge-open" onClick={() => draft.select({ way: way.id })}>
              {way.when.replace('_', ' ')}
            </button>
            <b>
              <Foreign text={nameOfTarget(drawn, way.to)} />
            </b>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function WayForm(props: FormProps & { way: DrawnWay }): ReactNode {
  const { draft, state, drawn, way, isReadOnly } = props;
  const ref = wayRef(way.id);
  const nameIn = (id: string): string => nameOfTarget(drawn, id);
  const loop = drawn.loops.find(({ steps }) => steps.includes(way.from) && steps.includes(way.to));
  if ('exit' in ref) {
    const exit = exitsIn(state.document).find((each) => each.exit === ref.exit);
    if (!exit) return <LoadoutForm {...props} />;
    const steps = drawn.loops.find(({ id }) => id === exit.loop)?.steps ?? [];
    return (
      <>
        <FormHead name={`Exit to ${nameIn(way.to)}`} id={way.id} />
        <div className="form-body">
          <p className="form-note">
            Taken when no item is left. It belongs to the loop <Foreign text={exit.loop} />, and not to a socket.
          </p>
          {isReadOnly ? null : (
            <>
              <Choice
                label="The loop is left at"
                value={exit.from}
                of={steps.map((id) => [id, nameIn(id)] as const)}
                onChange={(from) => draft.edit({ edit: 'exit.set', exit: ref.exit, from })}
              />
              <div className="field">
                <span className="field-label">On which outcome</span>
                <Segments
                  label="On which outcome"
                  of={CONDITIONS}
                  chosen={exit.condition as Condition}
                  onChoose={(condition) => draft.edit({ edit: 'exit.set', exit: ref.exit, condition })}
                />
              </div>
              <Choice
                label="Then"
                value={exit.to}
                of={targetsOf(drawn, false)}
                onChange={(to) => draft.edit({ edit: 'exit.set', exit: ref.exit, to })}
              />
              <Button onPress={() => draft.edit({ edit: 'exit.remove', exit: ref.exit })}>Remove this exit</Button>
            </>
          )}
          <Button kind="quiet" onPress={() => draft.select({ loop: exit.loop })}>
            Open the loop
          </Button>
        </div>
      </>
    );
  }
  const edge = listAt(socketAt(state.document, ref.from) ?? {}, 'edges')[ref.index];
  const written = isObject(edge) ? edge : {};
  const context = contextOf(props, { socket: ref.from }, `socket.${ref.from}`);
  const isNamed = isString(written.when);
  return (
    <>
      <FormHead
        name={`${nameIn(way.from)} to ${nameIn(way.to)}`}
        id={`edge, tried ${ordinal(way.at + 1)} of ${way.of}`}
      />
      <div className="form-body">
        <div className="field">
          <span className="field-label">Taken when the answer is</span>
          {isNamed && !isReadOnly ? (
            <Segments
              label="Taken when the answer is"
              of={CONDITIONS}
              chosen={written.when as Condition}
              onChoose={(when) => draft.edit({ edit: 'edge.set', edge: ref, when })}
            />
          ) : (
            <b>
              <Foreign text={way.when} />
            </b>
          )}
        </div>
        {isReadOnly ? null : (
          <>
            <details className="form-part" open={!isNamed}>
              <summary>A field of the answer instead</summary>
              <div className="form-part-fields">
                <FieldControlOfCondition {...{ draft, written }} edge={ref} />
              </div>
            </details>
            <Choice
              label="To"
              value={way.to}
              of={targetsOf(drawn)}
              onChange={(to) => draft.edit({ edit: 'edge.set', edge: ref, to })}
            />
          </>
        )}
        <FieldForm
          table={EDGE}
          names={['maxTraversals', 'then']}
          value={written}
          path={['edges', ref.index]}
          context={context}
        />
        <EdgeList {...props} from={ref.from} />
        {isReadOnly ? null : (
          <Button onPress={() => draft.edit({ edit: 'edge.remove', edge: ref })}>Remove this edge</Button>
        )}
        {loop ? (
          <section className="form-section">
            <h3>It is part of a loop</h3>
            <Button kind="quiet" icon="loop" onPress={() => draft.select({ loop: loop.id })}>
              Open the loop {loop.id}
            </Button>
          </section>
        ) : null}
      </div>
    </>
  );
}

function FieldControlOfCondition({
  draft,
  edge,
  written,
}: {
  draft: Draft;
  edge: { from: string; index: number };
  written: JsonObject;
}): ReactNode {
  return (
    <div className="field">
      <label htmlFor="edge-field-condition">Condition</label>
      <Typed
        id="edge-field-condition"
        context={{ settle: draft.settle, isReadOnly: false }}
        isMono
        rows={2}
        value={isObject(written.when) ? JSON.stringify(written.when) : ''}
        placeholder='{"field": "status", "is": "done"}'
        read={readJson}
        put={(when) => {
          if (isObject(when)) draft.edit({ edit: 'edge.set', edge, when });
        }}
      />
      <p className="field-hint">
        One field that the contract of the socket declares, and its value: is, isNot, or in with a list.
      </p>
    </div>
  );
}
