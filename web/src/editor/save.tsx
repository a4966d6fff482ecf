// Saving: what would be written is shown first. A file that changed underneath is never written over; both versions are merged.
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { copyOf } from '../../../src/editor/clip.ts';
import { type EditorDocument, nameOf, type Point } from '../../../src/editor/document.ts';
import type { TrialRecording } from '../../../src/editor/trial-script.ts';
import { writtenAt } from '../../../src/editor/write-in.ts';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { call, type Refusal } from '../api.ts';
import { Banner } from '../parts/banner.tsx';
import { Button, Segments } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Diff } from '../parts/diff.tsx';
import { TextField } from '../parts/fields.tsx';
import { LoadingRows } from '../parts/states.tsx';
import { Foreign, ForeignLines } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { go } from '../router.ts';
import { clockSeconds, plural } from '../words.ts';
import { refreshAll, useMay } from '../workspace.ts';
import { allSockets, type Draft } from './draft.ts';
import { patchOf } from './line-diff.ts';
import { type Digests, type Opened, openLoadout } from './opened.ts';

type Write = { readonly path: string; readonly before: string | null; readonly after: string };
type Conflict = {
  readonly path: readonly string[];
  readonly base: Json;
  readonly ours: Json;
  readonly theirs: Json;
};
type Clash = {
  readonly merged: EditorDocument | null;
  readonly conflicts: readonly Conflict[];
  readonly now: { readonly document: EditorDocument | null; readonly digests: Digests } | null;
};
type Saved = {
  readonly files: readonly Write[];
  readonly notes: readonly string[];
  readonly saved: boolean;
  readonly digests?: Digests;
  readonly document?: EditorDocument | null;
};

export type Home = 'config' | 'short' | 'user';

/** `force` replaces a test of that name. */
export type SaveTrial = (name: string, recording: TrialRecording, force: boolean) => Promise<Refusal | null>;

export type Disk = {
  /** When the file was seen changed; saving waits until that is decided. */
  readonly changedAt: string | null;
  readonly compare: () => void;
  readonly overlay: ReactNode;
  readonly duplicate: () => void;
  readonly insert: (name: string, at?: Point) => Promise<void>;
  readonly preview: (home: Home) => Promise<Saved | Refusal>;
  readonly save: (home: Home) => Promise<Refusal | null>;
  readonly saveTest: SaveTrial | undefined;
};

const LOOK_MS = 8_000;

export function useDisk(opened: Opened, draft: Draft): Disk {
  const may = useMay();
  const base = useRef({ document: opened.document, digests: opened.digests });
  const [changedAt, setChangedAt] = useState<string | null>(null);
  const [open, setOpen] = useState<'merge' | 'duplicate' | null>(null);
  const isNew = useRef(opened.home === 'new');

  // What others write is seen soon, and at once when the window gets the focus.
  useEffect(() => {
    const see = async (): Promise<void> => {
      if (isNew.current || globalThis.document.hidden) return;
      const answer = await openLoadout(opened.name);
      if (!answer.allow || isSame(answer.details.digests, base.current.digests)) return;
      const { document, digests } = answer.details;
      if (!draft.isChanged && document) {
        base.current = { document, digests };
        draft.restart(document);
        draft.say(['The file was changed by somebody else. You see it as it is now.']);
      } else setChangedAt((before) => before ?? new Date().toISOString());
    };
    const timer = setInterval(() => void see(), LOOK_MS);
    const focused = (): void => void see();
    addEventListener('focus', focused);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', focused);
    };
  }, [opened.name, draft]);

  const post = (home: Home, preview: boolean) =>
    call<Saved>('loadout.save', {
      document: { document: draft.read().document, digests: base.current.digests },
      base: { document: base.current.document },
      ...(isNew.current ? (home === 'user' ? { layer: 'user' } : { as: home }) : {}),
      ...(preview ? { preview: true } : {}),
    });
  const took = (clash: Clash, document: EditorDocument): void => {
    if (!clash.now) return;
    base.current = { document: clash.now.document ?? base.current.document, digests: clash.now.digests };
    draft.edit({ edit: 'replace', document });
    draft.settle();
    setChangedAt(null);
    setOpen(null);
    draft.say(['Both versions are merged. Look at it, then save.']);
  };
  return {
    changedAt,
    compare: () => setOpen('merge'),
    duplicate: () => setOpen('duplicate'),
    insert: async (name, at) => {
      const answer = await openLoadout(name);
      const document = answer.allow ? answer.details.document : null;
      if (!document) return draft.say([answer.allow ? `${name} cannot be read.` : answer.reason], true);
      draft.edit({ edit: 'paste', clip: copyOf(document, allSockets(document)), ...(at ? { at } : {}) });
    },
    preview: async (home) => {
      const answer = await post(home, true);
      if (answer.allow) return answer.details;
      if (answer.code === 'LOADOUT_CHANGED') setChangedAt((before) => before ?? new Date().toISOString());
      return answer;
    },
    save: async (home) => {
      const answer = await post(home, false);
      if (!answer.allow) {
        if (answer.code === 'LOADOUT_CHANGED') setChangedAt((before) => before ?? new Date().toISOString());
        return answer;
      }
      const document = draft.read().document;
      base.current = {
        document: answer.details.document ?? document,
        digests: answer.details.digests ?? base.current.digests,
      };
      isNew.current = false;
      draft.saved(document);
      draft.say([answer.reason]);
      refreshAll();
      if (new URLSearchParams(location.search).has('new'))
        go(`/loadouts/${encodeURIComponent(opened.name)}`, { replace: true });
      return null;
    },
    saveTest: may('loadout.record')
      ? async (test, recording, force) => {
          const { document } = draft.read();
          const sockets = new Set([...recording.path, ...recording.answers.map(({ socket }) => socket)]);
          const steps = Object.fromEntries([...sockets].map((id) => [id, nameOf(document, id)]));
          const input = { test: { ...recording, steps, test }, ...(force ? { force } : {}) };
          const answer = await call('loadout.record', input);
          return answer.allow ? null : answer;
        }
      : undefined,
    overlay:
      open === 'merge' ? (
        <MergeDialog
          file={opened.file}
          read={async () => {
            const answer = await post('config', true);
            return answer.allow ? null : answer;
          }}
          onMerge={took}
          onClose={() => setOpen(null)}
        />
      ) : open === 'duplicate' ? (
        <DuplicateDialog name={opened.name} onClose={() => setOpen(null)} />
      ) : null,
  };
}

function isSame(one: Digests, other: Digests): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => (one[name] ?? null) === (other[name] ?? null));
}

/** The banner of a file that changed underneath. */
export function ChangedBanner({ disk, file }: { disk: Disk; file: string }): ReactNode {
  if (disk.changedAt === null) return null;
  return (
    <Banner
      kind="lost"
      title={`${file.split('/').at(-1) ?? file} changed at ${clockSeconds(disk.changedAt)}.`}
      act={<Button onPress={disk.compare}>Compare</Button>}
    >
      Saving waits until both versions are merged.
    </Banner>
  );
}

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

function MergeDialog({
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

function DuplicateDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
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
