// The forms of several sockets, and of the loadout with what decides how its casts run.
import { type ReactNode, useState } from 'react';
import { loadoutOf, loopWith } from '../../../src/editor/document.ts';
import { WHOLE_CONFIG } from '../../../src/kernel/graph/config-fields.ts';
import { LOADOUT } from '../../../src/kernel/graph/loadout-fields.ts';
import { stringAt } from '../../../src/kernel/json.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/fields.tsx';
import { Foreign } from '../parts/text.tsx';
import { plural } from '../words.ts';
import { removeOrEmpty } from './draft.ts';
import { FieldForm } from './field-form.tsx';
import { CONFIG_FIELDS, LOADOUT_FIELDS, LOADOUT_MORE } from './form-fields.ts';
import { contextOf, FormHead, type FormProps, nameOfTarget } from './form-parts.tsx';
import { MateriaBar } from './nodes.tsx';

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

export function ManyForm({ draft, state, drawn, isReadOnly, placesOf }: FormProps): ReactNode {
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

export function LoadoutForm(props: FormProps): ReactNode {
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
