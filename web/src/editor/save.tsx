// Saving: what would be written is shown first. A file that changed underneath is never written over; both versions are merged.
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { Refusal } from '../api.ts';
import { Button, Segments } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Diff } from '../parts/diff.tsx';
import { LoadingRows } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import type { Disk, Home } from './disk.tsx';
import { patchOf } from './line-diff.ts';
import type { Opened, Saved } from './opened.ts';

export function SaveDialog({ opened, disk, onClose }: { opened: Opened; disk: Disk; onClose: () => void }): ReactNode {
  const [home, setHome] = useState<Home>('config');
  const [plan, setPlan] = useState<Saved | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft does not change below the dialog
  useEffect(() => {
    let isGone = false;
    setPlan(null);
    setRefusal(null);
    void disk.preview(home).then((answer) => {
      if (isGone) return;
      if ('allow' in answer) setRefusal(answer);
      else setPlan(answer);
    });
    return () => {
      isGone = true;
    };
  }, [home]);
  const patches = useMemo(() => plan?.files.map(({ path, before, after }) => patchOf(path, before, after)), [plan]);
  const save = async (): Promise<void> => {
    setBusy(true);
    const wrong = await disk.save(home);
    setBusy(false);
    if (wrong) setRefusal(wrong);
    else onClose();
  };
  const isConflict = refusal?.code === 'LOADOUT_CHANGED';
  return (
    <Dialog
      title={`Save ${opened.name}`}
      onClose={onClose}
      isWide
      acts={
        <>
          <Button
            kind="primary"
            keys="mod+Enter"
            busy={isBusy && 'Saving…'}
            refused={
              plan === null
                ? 'What would be written is not known yet.'
                : plan.files.length === 0
                  ? 'Nothing differs from what is saved.'
                  : undefined
            }
            onPress={() => void save()}
          >
            Save
          </Button>
          {isConflict ? (
            <Button
              onPress={() => {
                onClose();
                disk.compare();
              }}
            >
              Compare
            </Button>
          ) : null}
          <Button onPress={onClose}>Cancel</Button>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it listens for the key of its button */}
      <div
        className="save-body"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && plan && plan.files.length > 0) void save();
        }}
      >
        {opened.home === 'new' ? (
          <div className="save-home">
            <span>It goes to</span>
            <Segments
              label="It goes to"
              of={[
                ['config', 'config.json of the project'],
                ['short', 'a file of its own, in the short form'],
                ['user', 'your own folder'],
              ]}
              chosen={home}
              onChoose={setHome}
            />
          </div>
        ) : (
          <p className="form-note">
            {opened.layer === 'project' ? 'It goes back to where it is, in this project.' : ''} Order, comments and
            fields that begin with x_ stay.
          </p>
        )}
        {refusal ? <RefusalBlock refusal={refusal} /> : null}
        {plan?.notes.map((note) => (
          <p key={note} className="form-note">
            <Foreign text={note} />
          </p>
        ))}
        {patches === undefined ? (
          refusal ? null : (
            <LoadingRows what="The difference" />
          )
        ) : patches.length === 0 ? (
          <p className="form-note">Nothing differs from what is saved.</p>
        ) : (
          <div className="diffs">
            {patches.map((patch) => (
              <Diff key={patch.path} patch={patch} />
            ))}
          </div>
        )}
      </div>
    </Dialog>
  );
}
