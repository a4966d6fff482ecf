// A file that changed underneath is never written over: both versions are merged, and a person decides what both changed.
import { type ReactNode, useEffect, useState } from 'react';
import { type EditorDocument, writtenAt } from '../../../src/editor/document.ts';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import type { Refusal } from '../api.ts';
import { Banner } from '../parts/banner.tsx';
import { Button, Segments } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { LoadingRows } from '../parts/states.tsx';
import { Foreign, ForeignLines } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { clockSeconds, plural } from '../words.ts';
import type { Clash } from './opened.ts';

/** The banner of a file that changed underneath. */
export function ChangedBanner({
  changedAt,
  compare,
  file,
}: {
  changedAt: string | null;
  compare: () => void;
  file: string;
}): ReactNode {
  if (changedAt === null) return null;
  return (
    <Banner
      kind="lost"
      title={`${file.split('/').at(-1) ?? file} changed at ${clockSeconds(changedAt)}.`}
      act={<Button onPress={compare}>Compare</Button>}
    >
      Saving waits until both versions are merged.
    </Banner>
  );
}

export function MergeDialog({
  file,
  read,
  onMerge,
  onClose,
}: {
  file: string;
  /** Null where nothing clashes any more. */
  read: () => Promise<Refusal | null>;
  onMerge: (clash: Clash, document: EditorDocument) => void;
  onClose: () => void;
}): ReactNode {
  const [clash, setClash] = useState<Clash | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [theirs, setTheirs] = useState<ReadonlySet<number>>(new Set());
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is read once
  useEffect(() => {
    void read().then((answer) => {
      if (answer?.code === 'LOADOUT_CHANGED') setClash(answer.details as unknown as Clash);
      else if (answer) setRefusal(answer);
      else onClose();
    });
  }, []);
  const merge = (): void => {
    if (!clash?.merged) return;
    const { merged, conflicts } = clash;
    let both: Json | undefined = { config: merged.config, files: merged.files };
    for (const at of theirs) {
      const conflict = conflicts[at];
      if (conflict) both = writtenAt(both, conflict.path, conflict.theirs === null ? undefined : conflict.theirs);
    }
    const { config, files } = both as { config: JsonObject; files: Readonly<Record<string, string>> };
    onMerge(clash, { ...merged, config, files });
  };
  return (
    <Dialog
      title="Two versions of one file"
      onClose={onClose}
      isWide
      acts={
        <>
          <Button
            kind="primary"
            refused={
              clash?.merged ? undefined : clash ? 'The file cannot be read, so nothing can be merged.' : 'It is read…'
            }
            onPress={merge}
          >
            Merge both
          </Button>
          <Button onPress={onClose}>Not now</Button>
        </>
      }
    >
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
      {clash === null ? (
        refusal ? null : (
          <LoadingRows what="Both versions" />
        )
      ) : (
        <>
          <p className="form-note">
            <code>{file}</code> was changed after you opened it. What only one side changed is taken from that side.{' '}
            {clash.conflicts.length === 0
              ? 'Nothing was changed by both.'
              : `${plural(clash.conflicts.length, 'place')} ${clash.conflicts.length === 1 ? 'was' : 'were'} changed by both; choose for each.`}
          </p>
          {clash.conflicts.map(({ path, base, ours, theirs: other }, at) => (
            <fieldset key={path.join('.')} className="conflict">
              <legend>
                <code>
                  <Foreign text={path.join('.')} />
                </code>
              </legend>
              <div className="conflict-sides">
                <Side title="Before" value={base} />
                <Side title="Yours" value={ours} />
                <Side title="Theirs" value={other} />
              </div>
              <Segments
                label={`Which one for ${path.join('.')}`}
                of={[
                  ['ours', 'Take yours'],
                  ['theirs', 'Take theirs'],
                ]}
                chosen={theirs.has(at) ? 'theirs' : 'ours'}
                onChoose={(side) => {
                  const next = new Set(theirs);
                  if (side === 'theirs') next.add(at);
                  else next.delete(at);
                  setTheirs(next);
                }}
              />
            </fieldset>
          ))}
        </>
      )}
    </Dialog>
  );
}

function Side({ title, value }: { title: string; value: Json }): ReactNode {
  const text = typeof value === 'string' ? value : value === null ? 'not there' : JSON.stringify(value, null, 2);
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <pre className="try-text" tabIndex={0} role="region" aria-label={title}>
        <ForeignLines text={text} />
      </pre>
    </figure>
  );
}
