// A copy of a loadout in this project, with the materia and prompts that it uses.
import { type ReactNode, useState } from 'react';
import { call, type Refusal } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { go } from '../router.ts';
import { refreshAll } from '../workspace.ts';

export function DuplicateDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const [copy, setCopy] = useState(`My-${name}`);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    const answer = await call('loadout.duplicate', { name, as: copy.trim() });
    setBusy(false);
    if (!answer.allow) return setRefusal(answer);
    onClose();
    refreshAll();
    go(`/loadouts/${encodeURIComponent(copy.trim())}`);
  };
  return (
    <Dialog
      title={`Duplicate ${name}`}
      onClose={onClose}
      acts={
        <>
          <Button
            kind="primary"
            busy={isBusy && 'Copying…'}
            refused={copy.trim() === '' ? 'Write a name first.' : undefined}
            onPress={() => void run()}
          >
            Duplicate
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </>
      }
    >
      <TextField label="Name of the copy" value={copy} onChange={setCopy} />
      <p className="form-note">The copy goes to this project, with the materia and prompts that it uses.</p>
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
    </Dialog>
  );
}
