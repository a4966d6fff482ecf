// The keys that work now, by view.
import type { ReactNode } from 'react';
import { useKeyLayers, useSingleKeys } from '../keys.ts';
import { Button, Kbd } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Check } from '../parts/fields.tsx';

export function Keys({ onClose }: { onClose: () => void }): ReactNode {
  const layers = useKeyLayers().filter(({ keys }) => keys.length > 0);
  const [isOn, setOn] = useSingleKeys();
  return (
    <Dialog title="Keys" onClose={onClose} isWide acts={<Button onPress={onClose}>Close</Button>}>
      <div className="keys-help">
        {layers.map(({ name, keys }) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map((key) => (
                <div key={key.keys}>
                  <dt>
                    <span className="unseen">{key.keys}</span>
                    <Kbd keys={key.keys} />
                  </dt>
                  <dd>{key.says}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Check label="Use single letters as keys" isOn={isOn} onChange={setOn} />
    </Dialog>
  );
}
