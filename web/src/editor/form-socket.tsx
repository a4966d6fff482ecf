// The form of a socket: its materia, its contract, its edges and its limits.
import type { ReactNode } from 'react';
import { type EditorDocument, loadoutOf, materiaIn, materiaOf, socketAt } from '../../../src/editor/document.ts';
import { SOCKET } from '../../../src/kernel/graph/loadout-fields.ts';
import { AGENT, UTILITY } from '../../../src/kernel/graph/materia-fields.ts';
import { type JsonObject, stringAt } from '../../../src/kernel/json.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/fields.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { plural } from '../words.ts';
import { type Draft, type DraftState, removeOrEmpty } from './draft.ts';
import { kindOf } from './drawn.ts';
import { FieldControl, FieldForm } from './field-form.tsx';
import { MATERIA_FIELDS, SOCKET_FIELDS, TABS, type Tab } from './form-fields.ts';
import { contextOf, FormHead, type FormProps } from './form-parts.tsx';
import { EdgeList, ExitList, NewEdge } from './form-ways.tsx';
import { PairsControl } from './pairs.tsx';
import { PromptEditor } from './prompt.tsx';
import { pathsOf, returnsOf, slotsOf } from './returns.ts';
import { ToolsControl } from './tools.tsx';

export function SocketForm(props: FormProps & { id: string }): ReactNode {
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
