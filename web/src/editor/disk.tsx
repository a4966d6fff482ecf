// The files of the open draft: what is on disk, what others changed there, and every act that writes.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { copyOf } from '../../../src/editor/clip.ts';
import { type EditorDocument, nameOf, type Point } from '../../../src/editor/document.ts';
import type { TrialRecording } from '../../../src/editor/trial-script.ts';
import { call, type Refusal } from '../api.ts';
import { go } from '../router.ts';
import { refreshAll, useMay } from '../workspace.ts';
import { allSockets, type Draft } from './draft.ts';
import { DuplicateDialog } from './duplicate.tsx';
import { MergeDialog } from './merge.tsx';
import { type Clash, type Digests, type Opened, openLoadout, type Saved } from './opened.ts';

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
