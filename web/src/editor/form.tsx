// The form at the right: all that the format has for what is selected. A socket with its materia, an edge, a loop, or, with nothing
// selected, the loadout and what decides how its casts run.
import { type ReactNode, useState } from 'react';
import type { FieldOwner } from '../../../src/editor/document.ts';
import {
  type EditorDocument,
  exitsIn,
  loadoutOf,
  loopAt,
  loopWith,
  materiaIn,
  materiaOf,
  socketAt,
  socketsOf,
} from '../../../src/editor/document.ts';
import type { ValuePath } from '../../../src/editor/write-in.ts';
import { type Condition, END } from '../../../src/kernel/graph/config.ts';
import { WHOLE_CONFIG } from '../../../src/kernel/graph/config-fields.ts';
import { EDGE, LOADOUT, LOOP, SOCKET } from '../../../src/kernel/graph/loadout-fields.ts';
import { AGENT, UTILITY } from '../../../src/kernel/graph/materia-fields.ts';
import {
  isObject,
  isString,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../../../src/kernel/json.ts';
import { Button, Segments } from '../parts/button.tsx';
import { Choice } from '../parts/fields.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { plural } from '../words.ts';
import type { Draft, DraftState } from './draft.ts';
import { wayRef } from './draft.ts';
import { type Drawn, type DrawnWay, kindOf, ordinal } from './drawn.ts';
import { FieldControl, FieldForm, type FormContext, PairsControl, readJson, Typed } from './field-form.tsx';
import {
  CONFIG_FIELDS,
  LOADOUT_FIELDS,
  LOADOUT_MORE,
  LOOP_FIELDS,
  MATERIA_FIELDS,
  SOCKET_FIELDS,
  TABS,
  type Tab,
} from './form-fields.ts';
import { MateriaBar } from './nodes.tsx';
import { PromptEditor } from './prompt.tsx';
import { returnsOf } from './returns.ts';
import { ToolsControl } from './tools.tsx';

export type FormProps = {
  readonly draft: Draft;
  readonly state: DraftState;
  readonly drawn: Drawn;
  readonly isReadOnly: boolean;
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
  /** What the checks say, by the path of the field as text: `socket.Socket-3.parse`, `materia.Build.model`. */
  readonly faults: ReadonlyMap<string, string>;
  readonly offers: Readonly<Record<string, readonly string[]>>;
  /** The materia whose prompts the registry pins. */
  readonly locked: readonly string[];
  readonly trustOf: (materia: string) => ReactNode;
  readonly brief: (socket: string) => ReactNode;
  readonly placesOf: () => Readonly<Record<string, { readonly x: number; readonly y: number }>>;
};

export function Form(props: FormProps): ReactNode {
  const { state, drawn } = props;
  const { sockets, way, loop } = state.selection;
  const [only] = sockets;
  const chosenWay = way === null ? undefined : drawn.ways.find(({ id }) => id === way);
  if (chosenWay) return <WayForm key={chosenWay.id} {...props} way={chosenWay} />;
  if (loop !== null && loopAt(state.document, loop)) return <LoopForm key={loop} {...props} loop={loop} />;
  if (sockets.length > 1) return <ManyForm {...props} />;
  if (only !== undefined) return <SocketForm key={only} {...props} id={only} />;
  return <LoadoutForm {...props} />;
}

function contextOf({ draft, isReadOnly, faults, offers }: FormProps, of: FieldOwner, prefix: string): FormContext {
  return {
    isReadOnly,
    offers,
    settle: draft.settle,
    set: (path: ValuePath, value: Json | undefined) => {
      draft.edit({ edit: 'field.set', of, path, ...(value === undefined ? {} : { value }) });
    },
    faults: new Map(
      [...faults].flatMap(([path, says]) =>
        path.startsWith(`${prefix}.`) ? [[path.slice(prefix.length + 1), says]] : [],
      ),
    ),
  };
}

function FormHead({ name, id, children }: { name: string; id: string; children?: ReactNode }): ReactNode {
  return (
    <div className="form-head">
      <h2>
        <Foreign text={name} />
      </h2>
      <span className="quiet">
        <Foreign text={id} />
      </span>
      <span className="grow" />
      {children}
    </div>
  );
}

function SocketForm(props: FormProps & { id: string }): ReactNode {
  const { draft, state, drawn, isReadOnly, tab, onTab, id, brief, trustOf, offers } = props;
  const { document } = state;
  const socket = socketAt(document, id) ?? {};
  const materia = stringAt(socket, 'materia');
  const own = materiaIn(document, id);
  const kind = kindOf(materia, own);
  const table = kind === 'utility' ? UTILITY : AGENT;
  const inSocket = contextOf(props, { socket: id }, `socket.${id}`);
  const inMateria = contextOf(props, { materia: materia ?? '' }, `materia.${materia}`);
  const drawnSocket = drawn.sockets.find((each) => each.id === id);
  const edges = drawn.ways.filter(({ from, kind: sort }) => from === id && sort === 'edge');
  const users = drawn.sockets.filter((each) => each.materia === materia).length;
  const has = (name: string): boolean => Object.hasOwn(table.fields, name);
  const shownIn = (which: Tab, without: readonly string[]): readonly string[] =>
    MATERIA_FIELDS[which].filter((name) => has(name) && !without.includes(name));
  return (
    <>
      <FormHead name={drawnSocket?.name ?? id} id={id}>
        {isReadOnly ? null : <SocketMenu {...{ draft, state, id }} />}
      </FormHead>
      <div className="form-tabs" role="tablist" aria-label="Form">
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`form-tab-${name}`}
            aria-selected={name === tab}
            aria-controls="form-panel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => onTab(name)}
            onKeyDown={(event) => {
              const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
              if (by === undefined) return;
              event.preventDefault();
              const next = TABS[(TABS.indexOf(name) + by + TABS.length) % TABS.length] ?? name;
              onTab(next);
              event.currentTarget.parentElement?.querySelector<HTMLElement>(`#form-tab-${next}`)?.focus();
            }}
          >
            {name === 'Agent' && kind === 'utility' ? 'Utility' : name}
            {name === 'Edges' && edges.length > 0 ? ` ${edges.length}` : ''}
          </button>
        ))}
      </div>
      <div className="form-body" role="tabpanel" id="form-panel" aria-labelledby={`form-tab-${tab}`} tabIndex={-1}>
        {tab === 'Agent' ? (
          <>
            <MateriaChoice {...{ draft, document, id, materia, isReadOnly }} />
            {own && materia !== null ? (
              <>
                {users > 1 ? (
                  <p className="form-note">
                    {plural(users, 'socket')} use this materia. What is written here changes all of them.
                  </p>
                ) : null}
                {kind === 'utility' ? null : (
                  <>
                    <div className="form-pairs">
                      {['runner', 'model'].map((name) => (
                        <FieldControl
                          key={name}
                          name={name}
                          field={AGENT.fields[name] ?? { type: 'text' }}
                          value={own[name]}
                          path={[name]}
                          context={inMateria}
                        />
                      ))}
                    </div>
                    <Unavailable own={own} offers={offers} />
                    <ToolsControl value={own.tools} context={inMateria} known={offers.tools ?? []} />
                    <PromptEditor
                      {...{ draft, document, id, materia, own, isReadOnly }}
                      isLocked={props.locked.includes(materia)}
                    />
                  </>
                )}
                <Returns document={document} id={id} />
                {brief(id)}
                <EdgeList {...props} from={id} />
                <FieldForm
                  table={table}
                  names={shownIn(
                    'Agent',
                    kind === 'utility' ? ['type'] : ['runner', 'model', 'tools', 'prompt', 'promptFile', 'type'],
                  )}
                  value={own}
                  context={inMateria}
                />
              </>
            ) : materia === null ? (
              <p className="form-note">This socket is empty. Its links stay. Drop a materia on it, or choose one.</p>
            ) : (
              <p className="form-note bad">
                There is no materia <Foreign text={materia} />. Choose another, or make it.
              </p>
            )}
            <details className="form-part">
              <summary>This socket: name and words</summary>
              <div className="form-part-fields">
                <FieldForm table={SOCKET} names={SOCKET_FIELDS.Agent} value={socket} context={inSocket} />
              </div>
            </details>
          </>
        ) : tab === 'Contract' ? (
          <>
            <Returns document={document} id={id} />
            <FieldForm
              table={SOCKET}
              names={SOCKET_FIELDS.Contract.filter((name) => name !== 'assign')}
              value={socket}
              context={inSocket}
            />
            <PairsControl
              name="assign"
              field={SOCKET.fields.assign ?? { type: 'json' }}
              value={socket.assign}
              path={['assign']}
              context={inSocket}
              targets={slotsOf(document)}
              sources={pathsOf(document, id)}
            />
            {own && materia !== null ? (
              <details className="form-part">
                <summary>
                  Of the materia <Foreign text={materia} />
                </summary>
                <div className="form-part-fields">
                  <FieldForm table={table} names={MATERIA_FIELDS.Contract} value={own} context={inMateria} />
                </div>
              </details>
            ) : null}
          </>
        ) : tab === 'Edges' ? (
          <>
            <EdgeList {...props} from={id} />
            {isReadOnly ? null : <NewEdge {...props} from={id} />}
            <ExitList {...props} from={id} />
          </>
        ) : tab === 'Limits' ? (
          <>
            <FieldForm table={SOCKET} names={SOCKET_FIELDS.Limits} value={socket} context={inSocket} />
            {own && materia !== null ? (
              <details className="form-part" open>
                <summary>
                  Of the materia <Foreign text={materia} />
                </summary>
                <div className="form-part-fields">
                  <FieldForm table={table} names={shownIn('Limits', [])} value={own} context={inMateria} />
                </div>
              </details>
            ) : null}
          </>
        ) : materia === null ? (
          <p className="form-note">This socket is empty.</p>
        ) : (
          trustOf(materia)
        )}
      </div>
    </>
  );
}

function SocketMenu({ draft, state, id }: { draft: Draft; state: DraftState; id: string }): ReactNode {
  const isEntry = stringAt(loadoutOf(state.document), 'entry') === id;
  return (
    <span className="form-acts">
      {isEntry ? null : (
        <Button kind="quiet" onPress={() => draft.edit({ edit: 'entry.set', socket: id })}>
          Make entry
        </Button>
      )}
      <Button
        kind="quiet"
        icon="close"
        label={socketAt(state.document, id)?.materia === undefined ? 'Remove this socket' : 'Empty this socket'}
        onPress={() => removeOrEmpty(draft, [id])}
      />
    </span>
  );
}

/** Empties what is full; what is empty goes with its links. */
export function removeOrEmpty(draft: Draft, sockets: readonly string[]): void {
  const { document } = draft.read();
  const full = sockets.filter((id) => stringAt(socketAt(document, id) ?? {}, 'materia') !== null);
  draft.edit(full.length > 0 ? { edit: 'socket.empty', sockets: full } : { edit: 'socket.remove', sockets });
}

function MateriaChoice({
  draft,
  document,
  id,
  materia,
  isReadOnly,
}: {
  draft: Draft;
  document: EditorDocument;
  id: string;
  materia: string | null;
  isReadOnly: boolean;
}): ReactNode {
  const all = Object.keys(materiaOf(document));
  const isKnown = materia === null || all.includes(materia);
  if (isReadOnly) return null;
  return (
    <Choice
      label="Materia"
      value={materia ?? ''}
      of={[
        ['', 'none, the socket is empty'],
        ...(isKnown || materia === null ? [] : [[materia, `${materia} (is not there)`] as const]),
        ...all.map((each) => [each, each] as const),
      ]}
      onChange={(next) =>
        draft.edit(
          next === '' ? { edit: 'socket.empty', sockets: [id] } : { edit: 'materia.set', socket: id, materia: next },
        )
      }
    />
  );
}

function Unavailable({ own, offers }: { own: JsonObject; offers: FormProps['offers'] }): ReactNode {
  const runner = stringAt(own, 'runner');
  const missing = offers.missingRunners ?? [];
  if (runner === null || !missing.includes(runner)) return null;
  return (
    <p className="form-note">
      <Icon name="warning" /> <Foreign text={runner} /> is not available here. It stays selected; a cast on this machine
      needs it.
    </p>
  );
}

function Returns({ document, id }: { document: EditorDocument; id: string }): ReactNode {
  const rows = returnsOf(document, id);
  return (
    <section className="form-section" aria-label="It must return">
      <h3>It must return</h3>
      {rows.length === 0 ? (
        <p className="form-note">Any text. No edge and no slot asks for more.</p>
      ) : (
        <dl className="returns">
          {rows.map(({ name, type, why }) => (
            <div key={name}>
              <dt>
                <code>
                  <Foreign text={name} />
                </code>
              </dt>
              <dd>{type}</dd>
              <dd className="quiet">
                <Foreign text={why} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function EdgeList(props: FormProps & { from: string }): ReactNode {
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

function nameOfTarget(drawn: Drawn, id: string): string {
  return id === END ? 'end' : (drawn.sockets.find((each) => each.id === id)?.name ?? id);
}

function targetsOf(drawn: Drawn, hasEnd = true): readonly (readonly [string, string])[] {
  const names = drawn.sockets.map(({ id, name }) => [id, `${name}, ${id}`] as const);
  return hasEnd ? [...names, [END, 'end']] : names;
}

function NewEdge({ draft, drawn, from }: FormProps & { from: string }): ReactNode {
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

function ExitList({ draft, drawn, from }: FormProps & { from: string }): ReactNode {
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

const CONDITIONS = [
  ['always', 'always'],
  ['satisfied', 'satisfied'],
  ['not_satisfied', 'not satisfied'],
] as const;

function WayForm(props: FormProps & { way: DrawnWay }): ReactNode {
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

function LoopForm(props: FormProps & { loop: string }): ReactNode {
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

const ALIGNMENTS = [
  ['left', 'Left'],
  ['centre', 'Centre'],
  ['right', 'Right'],
  ['top', 'Top'],
  ['middle', 'Middle'],
  ['bottom', 'Bottom'],
  ['across', 'Spread across'],
  ['down', 'Spread down'],
] as const;

function ManyForm({ draft, state, drawn, isReadOnly, placesOf }: FormProps): ReactNode {
  const { sockets } = state.selection;
  const loops = new Set(sockets.map((id) => loopWith(state.document, id)));
  return (
    <>
      <FormHead name={plural(sockets.length, 'socket')} id="selected" />
      <div className="form-body">
        <ul className="many">
          {sockets.slice(0, 20).map((id) => (
            <li key={id}>
              <MateriaBar id={drawn.sockets.find((each) => each.id === id)?.materia ?? null} color={null} />
              <Foreign text={nameOfTarget(drawn, id)} /> <span className="quiet">{id}</span>
            </li>
          ))}
          {sockets.length > 20 ? <li className="quiet">{sockets.length - 20} more</li> : null}
        </ul>
        {isReadOnly ? null : (
          <>
            <fieldset className="form-rows form-align">
              <legend>Align</legend>
              {ALIGNMENTS.map(([how, says]) => (
                <Button key={how} onPress={() => draft.edit({ edit: 'layout.align', sockets, how, at: placesOf() })}>
                  {says}
                </Button>
              ))}
            </fieldset>
            <Button
              keys="l"
              refused={loops.size > 1 || !loops.has(null) ? 'Some of them are in a loop already.' : undefined}
              onPress={() => draft.edit({ edit: 'loop.make', sockets })}
            >
              Make loop
            </Button>
            <Button keys="mod+d" onPress={() => draft.edit({ edit: 'duplicate', sockets })}>
              Duplicate
            </Button>
            {sockets.length === 2 ? (
              <Button
                keys="x"
                onPress={() => {
                  const [from = '', to = ''] = sockets;
                  draft.edit({ edit: 'materia.move', from, to });
                }}
              >
                Swap their materia
              </Button>
            ) : null}
            <Button keys="Backspace" onPress={() => removeOrEmpty(draft, sockets)}>
              Empty them
            </Button>
          </>
        )}
      </div>
    </>
  );
}

function LoadoutForm(props: FormProps): ReactNode {
  const { draft, state, drawn, isReadOnly } = props;
  const { document } = state;
  const loadout = loadoutOf(document);
  const context = contextOf(props, { loadout: true }, 'loadout');
  const [isMoreOpen, setMoreOpen] = useState(false);
  const hasFault = LOADOUT_MORE.some((name) => context.faults.has(name));
  return (
    <>
      <FormHead name={document.name} id="the loadout" />
      <div className="form-body">
        <p className="form-note">Select a socket, an edge or a loop to see its fields.</p>
        {drawn.sockets.length === 0 || isReadOnly ? null : (
          <Choice
            label="A cast starts at"
            value={stringAt(loadout, 'entry') ?? ''}
            of={[['', 'choose'], ...drawn.sockets.map(({ id, name }) => [id, `${name}, ${id}`] as const)]}
            onChange={(socket) => socket !== '' && draft.edit({ edit: 'entry.set', socket })}
          />
        )}
        <FieldForm table={LOADOUT} names={LOADOUT_FIELDS} value={loadout} context={context} />
        <details
          className="form-part"
          open={isMoreOpen || hasFault}
          onToggle={(event) => setMoreOpen(event.currentTarget.open)}
        >
          <summary>More</summary>
          <div className="form-part-fields">
            <FieldForm table={LOADOUT} names={LOADOUT_MORE} value={loadout} context={context} />
          </div>
        </details>
        <section className="form-section">
          <h3>How its casts run</h3>
          <p className="form-note">This holds for all loadouts of the file.</p>
          <FieldForm
            table={WHOLE_CONFIG}
            names={CONFIG_FIELDS}
            value={document.config}
            context={contextOf(props, { config: true }, 'config')}
          />
        </section>
      </div>
    </>
  );
}

/** The slots of the cast data that the draft writes. */
export function slotsOf(document: EditorDocument): readonly string[] {
  const found = Object.values(socketsOf(document)).flatMap((socket) =>
    isObject(socket) ? Object.keys(objectAt(socket, 'assign')) : [],
  );
  return [...new Set([...found, 'workItems'])];
}

/** Where a value of `assign` can come from. */
export function pathsOf(document: EditorDocument, id: string): readonly string[] {
  const returned = returnsOf(document, id).flatMap(({ name }) => (name === '$' ? [] : [`$.${name}`]));
  const slots = slotsOf(document).map((slot) => `state.${slot}`);
  return [
    ...new Set([
      ...returned,
      '$',
      '$.context',
      '$.satisfied',
      'item',
      'item.title',
      'item.context',
      ...slots,
      'lastJson',
      'lastOutput',
    ]),
  ];
}
