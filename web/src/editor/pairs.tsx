// Pairs of a target and a source, as `assign` has them.
import { type ReactNode, useId, useState } from 'react';
import { isObject } from '../../../src/kernel/json.ts';
import { Button } from '../parts/button.tsx';
import { Foreign } from '../parts/text.tsx';
import { type ControlProps, Hint, labelOf, Typed } from './typed.tsx';

/** Pairs of a target and a source, as `assign` has them. */
export function PairsControl(
  props: ControlProps & { targets: readonly string[]; sources: readonly string[] },
): ReactNode {
  const { value, path, context, field, targets, sources } = props;
  const [target, setTarget] = useState('');
  const pairs = Object.entries(isObject(value) ? value : {});
  const id = useId();
  return (
    <fieldset className="form-rows" data-field={path.join('.')}>
      <legend>{labelOf(props.name)}</legend>
      <Hint field={field} fault={context.faults.get(path.join('.'))} />
      {pairs.map(([key, source]) => (
        <div key={key} className="form-pair">
          <label htmlFor={`${id}-${key}`}>
            <Foreign text={key} />
          </label>
          <span aria-hidden="true">←</span>
          <Typed
            id={`${id}-${key}`}
            context={context}
            isMono
            list={sources}
            value={typeof source === 'string' ? source : JSON.stringify(source)}
            read={(text) => text}
            put={(next) => context.set([...path, key], next)}
          />
          {context.isReadOnly ? null : (
            <Button
              kind="quiet"
              icon="close"
              label={`Remove ${key}`}
              onPress={() => {
                const rest = Object.fromEntries(pairs.filter(([each]) => each !== key));
                context.set(path, Object.keys(rest).length === 0 ? undefined : rest);
              }}
            />
          )}
        </div>
      ))}
      {context.isReadOnly ? null : (
        <div className="form-new">
          <input
            className="mono"
            aria-label="Slot of the cast data that is written"
            placeholder="slot, such as lastCheck"
            list={`${id}-targets`}
            value={target}
            onChange={(event) => setTarget(event.target.value)}
          />
          <datalist id={`${id}-targets`}>
            {targets.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Button
            icon="plus"
            refused={target.trim() === '' ? 'Write the slot first.' : undefined}
            onPress={() => {
              context.set(path, { ...(isObject(value) ? value : {}), [target.trim()]: '$.context' });
              setTarget('');
            }}
          >
            Add
          </Button>
        </div>
      )}
    </fieldset>
  );
}
