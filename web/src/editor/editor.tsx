// The editor of one loadout: list of materia, picture, form and checks, over one draft.
import { lazy, type ReactNode, Suspense, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { checkDocument, type LocatedIssue } from '../../../src/editor/check.ts';
import type { EditorDocument } from '../../../src/editor/document.ts';
import type { UtilityNames } from '../../../src/kernel/graph/check-materia.ts';
import { type Key, useKeys } from '../keys.ts';
import { Banner } from '../parts/banner.tsx';
import { Button, Segments } from '../parts/button.tsx';
import { Header, Pane } from '../parts/pane.tsx';
import { Empty, LoadingRows } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { sentence } from '../parts/verdict.tsx';
import { go, useRoute, withQuery } from '../router.ts';
import { useOffered } from '../shell/palette-rows.ts';
import { plural } from '../words.ts';
import { useMay } from '../workspace.ts';
import { Canvas, type CanvasHandle } from './canvas.tsx';
import { Checks, faultsOf, flagsOf, ownerWord, partsOf } from './checks.tsx';
import { useDisk } from './disk.tsx';
import { allSockets, copySockets, Draft, readClip, removeOrEmpty, useDraft, wayRef } from './draft.ts';
import { drawnOf } from './drawn.ts';
import { EXPORTS, exportAs } from './export.ts';
import { Form } from './form.tsx';
import type { Tab } from './form-fields.ts';
import { MateriaList, rowsOf } from './materia-list.tsx';
import { ChangedBanner } from './merge.tsx';
import { NewMateria } from './new-materia.tsx';
import { checkThere, type Opened, useOffers } from './opened.ts';
import { Pick, type Picked } from './pick.tsx';
import { SaveDialog } from './save.tsx';
import { startsFor } from './starts.ts';
import { TrustPart } from './trust-part.tsx';
import { BriefPreview, TryIt } from './try-it.tsx';
import { useTrial } from './use-trial.ts';
import './editor.css';

const FACES = [
  ['picture', 'Picture'],
  ['json', 'JSON'],
  ['short', 'Short form'],
] as const;
type Face = (typeof FACES)[number][0];

/** The libraries that read texts come with the first one that is opened. */
const FaceText = lazy(() => import('./faces.tsx'));

type Overlay = 'add' | 'connect' | 'new' | 'save' | 'export' | null;

export function Editor({ opened, loadouts }: { opened: Opened; loadouts: readonly string[] }): ReactNode {
  const { query } = useRoute();
  const [draft] = useState(() => new Draft(opened.document));
  const state = useDraft(draft);
  const { document, selection, said } = state;
  const mayWrite = useMay()('loadout.save');
  const isReadOnly = opened.readOnly !== null || !mayWrite;
  const face = FACES.find(([name]) => name === query.get('face'))?.[0] ?? 'picture';
  const beside = query.get('beside');
  const second = FACES.find(([name]) => name === beside && name !== face)?.[0] ?? null;
  const [tab, setTab] = useState<Tab>('Agent');
  const [overlay, setOverlay] = useState<Overlay>(null);
  const [connectFrom, setConnectFrom] = useState<string | null>(null);
  const [shownIssue, setShownIssue] = useState<number | null>(null);
  const [broken, setBroken] = useState<Face | null>(null);
  const canvas = useRef<CanvasHandle>(null);
  const search = useRef<HTMLInputElement>(null);
  const drawn = useMemo(() => drawnOf(document), [document]);
  const checkedDocument = useDeferredValue(document);
  const issues = useChecks(checkedDocument, opened);
  const isSound = !issues.some(({ level }) => level === 'error');
  const flags = useMemo(() => flagsOf(issues, drawn), [issues, drawn]);
  const faults = useMemo(() => faultsOf(issues), [issues]);
  const trial = useTrial(document);
  const offers = useOffers();
  const disk = useDisk(opened, draft);
  const changed = document !== state.history.saved && draft.isChanged;
  const steps = changed ? draft.steps : 0;
  const nameIn = (id: string): string => drawn.sockets.find((socket) => socket.id === id)?.name ?? id;
  const [only] = selection.sockets;

  // A new loadout begins with its starts: Enter takes the first.
  useEffect(() => {
    if (opened.home === 'new')
      globalThis.document.querySelector<HTMLElement>('.canvas-empty button')?.focus({ preventScroll: true });
  }, [opened.home]);

  // What is typed and not saved is not lost by a slip.
  useEffect(() => {
    if (!changed) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [changed]);

  const showIssue = (at: number): void => {
    const issue = issues[at];
    if (!issue) return;
    setShownIssue(at);
    const [part] = partsOf(issue, drawn);
    if (part === undefined) draft.select({});
    else if (part.startsWith('loop:')) draft.select({ loop: part.slice('loop:'.length) });
    else draft.select(part.includes(':') ? { way: part } : { sockets: [part] });
    const { field, sockets } = issue.place;
    if (field) setTab(tabOf(`${ownerWord(field.of)}.${field.path.join('.')}`));
    const [socket] = sockets;
    if (socket !== undefined) canvas.current?.focus(socket);
  };
  const next = (): void => {
    if (issues.length > 0) showIssue(((shownIssue ?? -1) + 1) % issues.length);
  };
  const nudge = (dx: number, dy: number): void => {
    if (isReadOnly || selection.sockets.length === 0) return;
    const places = canvas.current?.places() ?? {};
    const moved = selection.sockets.flatMap((id) => {
      const at = places[id];
      return at ? [[id, { x: at.x + dx, y: at.y + dy }] as const] : [];
    });
    draft.edit({ edit: 'layout.move', to: { ...(drawn.places ? {} : places), ...Object.fromEntries(moved) } });
  };
  const copy = (): void => {
    const count = copySockets(document, selection.sockets);
    if (count > 0) draft.say([`${plural(count, 'socket')} copied. Paste them here or in another loadout.`]);
  };
  const paste = (): void => {
    const clip = readClip();
    if (!clip) draft.say(['Nothing is copied yet.'], true);
    else
      draft.edit({ edit: 'paste', clip, ...(drawn.places ? { at: canvas.current?.middle() ?? { x: 0, y: 0 } } : {}) });
  };
  const remove = (): void => {
    if (selection.way !== null) {
      const edge = wayRef(selection.way);
      draft.edit('exit' in edge ? { edit: 'exit.remove', exit: edge.exit } : { edit: 'edge.remove', edge });
    } else if (selection.sockets.length > 0) removeOrEmpty(draft, selection.sockets);
    else if (selection.loop !== null) draft.edit({ edit: 'loop.break', loop: selection.loop });
  };
  const setFace = (next: Face): void =>
    go(withQuery({ face: next === 'picture' ? undefined : next, beside: undefined }));
  const twoFaces = (): void => {
    const other = face === 'picture' ? 'json' : 'picture';
    go(withQuery({ beside: second ? undefined : other }), { replace: true });
  };
  const focusSelected = (): void => {
    const id = only ?? drawn.sockets[0]?.id;
    if (id !== undefined) {
      draft.select({ sockets: [id] });
      canvas.current?.focus(id);
    }
  };
  const focusForm = (): void => {
    const form = globalThis.document.querySelector<HTMLElement>(
      '.editor-form :is(input, select, textarea, button[role="tab"][aria-selected="true"])',
    );
    form?.focus();
  };

  const keys: readonly Key[] = [
    { keys: '/', says: 'Find materia', run: () => search.current?.focus() },
    { keys: '0', says: 'Fit the picture', run: () => canvas.current?.fit() },
    { keys: '+', says: 'Nearer', run: () => canvas.current?.zoom(1) },
    { keys: '-', says: 'Farther', run: () => canvas.current?.zoom(-1) },
    { keys: '.', says: 'To the selected socket', run: focusSelected },
    { keys: 'f', says: 'To the form', run: focusForm },
    { keys: 'F8', says: 'Next issue', run: next, inFields: true },
    { keys: 'mod+\\', says: 'Two faces side by side', run: twoFaces, inFields: true },
    { keys: 'mod+a', says: 'Select all sockets', run: () => draft.select({ sockets: allSockets(document) }) },
    { keys: 'mod+c', says: 'Copy the sockets', run: copy },
    { keys: 't', says: 'Try it', run: () => trial.toggle() },
    { keys: 'Escape', says: 'Select nothing', run: () => draft.select({}) },
    ...(isReadOnly
      ? []
      : ([
          { keys: 'a', says: 'Add a socket', run: () => setOverlay('add') },
          {
            keys: 'o',
            says: 'Connect to…',
            run: () => {
              if (only === undefined) return draft.say(['Select the socket that it leads from first.'], true);
              setConnectFrom(only);
              setOverlay('connect');
            },
          },
          {
            keys: 'e',
            says: 'Next condition of the edge',
            run: () => {
              const way = selection.way ?? drawn.ways.find(({ from }) => from === only)?.id;
              if (way === undefined) return draft.say(['Select an edge first.'], true);
              if (selection.way === null) draft.select({ way });
              else draft.edit({ edit: 'edge.cycle', edge: wayRef(way) });
            },
          },
          {
            keys: 'l',
            says: 'Make a loop of the selection',
            run: () => {
              if (selection.sockets.length === 0) draft.say(['Select the sockets of the loop first.'], true);
              else draft.edit({ edit: 'loop.make', sockets: selection.sockets });
            },
          },
          {
            keys: 'x',
            says: 'Swap the materia of two sockets',
            run: () => {
              const [from, to, more] = selection.sockets;
              if (from === undefined || to === undefined || more !== undefined)
                draft.say(['Select two sockets first.'], true);
              else draft.edit({ edit: 'materia.move', from, to });
            },
          },
          { keys: 'Backspace', says: 'Empty it; what is empty goes', run: remove },
          { keys: 'Delete', says: 'Empty it; what is empty goes', run: remove },
          {
            keys: 'mod+x',
            says: 'Cut the sockets',
            run: () => {
              if (selection.sockets.length === 0) return;
              copy();
              draft.edit({ edit: 'socket.remove', sockets: selection.sockets });
            },
          },
          { keys: 'mod+v', says: 'Paste the sockets', run: paste },
          {
            keys: 'mod+d',
            says: 'Duplicate',
            run: () => {
              if (selection.sockets.length > 0) draft.edit({ edit: 'duplicate', sockets: selection.sockets });
            },
          },
          { keys: 'shift+a', says: 'Arrange', run: () => draft.edit({ edit: 'layout.clear' }) },
          { keys: 'mod+z', says: 'Undo', run: draft.undo, inFields: true },
          { keys: 'mod+shift+z', says: 'Redo', run: draft.redo, inFields: true },
          { keys: 'mod+y', says: 'Redo', run: draft.redo, inFields: true },
          { keys: 'mod+s', says: 'Save…', run: () => setOverlay('save'), inFields: true },
          { keys: 'alt+ArrowLeft', says: 'Move it left', run: () => nudge(-20, 0) },
          { keys: 'alt+ArrowRight', says: 'Move it right', run: () => nudge(20, 0) },
          { keys: 'alt+ArrowUp', says: 'Move it up', run: () => nudge(0, -20) },
          { keys: 'alt+ArrowDown', says: 'Move it down', run: () => nudge(0, 20) },
        ] satisfies readonly Key[])),
  ];
  useKeys('Editor', keys);

  const offered = useMemo(
    () => [
      ...drawn.sockets.map(({ id, name }) => ({
        ...{ id: `socket:${id}`, says: name, beside: id, icon: 'loadouts' as const },
        run: () => {
          draft.select({ sockets: [id] });
          canvas.current?.focus(id);
        },
      })),
      ...EXPORTS.map(([format, says]) => ({
        ...{ id: `export:${format}`, says: `Export as ${says}`, icon: 'download' as const },
        run: () => void exportAs(draft.read().document, format),
      })),
      { id: 'editor:try', says: 'Try this loadout', keys: 't', icon: 'play' as const, run: () => trial.toggle() },
      ...(isReadOnly
        ? []
        : [{ id: 'editor:save', says: 'Save this loadout…', keys: 'mod+s', run: () => setOverlay('save') }]),
    ],
    [drawn, draft, isReadOnly, trial.toggle],
  );
  useOffered(offered);

  const picks = (): readonly Picked[] => [
    ...rowsOf(document).map(({ id, name, group, below }) => ({ id, says: name, beside: `${group}, ${below}` })),
    { id: '', says: 'An empty socket', beside: 'fill it later' },
  ];
  const targets = (): readonly Picked[] => [
    ...drawn.sockets.map(({ id, name }) => ({ id, says: name, beside: id })),
    { id: 'end', says: 'end', beside: 'the cast is complete' },
  ];
  const picture = (
    <Canvas
      ref={canvas}
      {...{ draft, state, drawn, flags, isReadOnly }}
      isStale={broken !== null}
      here={trial.here}
      onAdd={() => setOverlay('add')}
      onLoadout={(name, at) => void disk.insert(name, at)}
      onConnectTo={(from) => {
        setConnectFrom(from);
        setOverlay('connect');
      }}
    >
      {drawn.sockets.length === 0 && !isReadOnly ? (
        <div className="canvas-empty">
          <Empty
            act={startsFor(document).map(({ says, edit }) => (
              <Button key={says} onPress={() => draft.edit(edit)}>
                {says}
              </Button>
            ))}
          >
            An empty loadout. Begin with one of these, drag a materia here, or press A.
          </Empty>
        </div>
      ) : null}
    </Canvas>
  );
  const textFace = (which: Face): ReactNode => (
    <Suspense key={which} fallback={<LoadingRows what="The text" />}>
      <FaceText
        {...{ draft, state, isReadOnly, opened }}
        face={which === 'json' ? 'json' : 'short'}
        onBroken={(is) => setBroken(is ? which : null)}
      />
    </Suspense>
  );
  const shownFace = (which: Face): ReactNode => (which === 'picture' ? picture : textFace(which));

  return (
    <>
      <Header
        title={<Foreign text={document.name} />}
        beside={steps > 0 ? plural(steps, 'unsaved edit') : opened.home === 'new' ? 'not saved yet' : undefined}
        below={
          <>
            <code title={opened.file}>{shortFile(opened.file)}</code>,{' '}
            {opened.layer === 'bundled' ? 'comes with Baton' : 'this project'}
          </>
        }
      >
        <Segments label="Face" of={FACES} chosen={face} onChoose={setFace} />
        <Button
          kind="quiet"
          icon="columns"
          label="Two faces side by side"
          isPressed={second !== null}
          onPress={twoFaces}
        />
        {isReadOnly ? null : (
          <>
            <Button
              kind="quiet"
              icon="undo"
              label="Undo"
              refused={state.history.past.length === 0 ? 'There is nothing to undo.' : undefined}
              onPress={draft.undo}
            />
            <Button
              kind="quiet"
              icon="redo"
              label="Redo"
              refused={state.history.future.length === 0 ? 'There is nothing to redo.' : undefined}
              onPress={draft.redo}
            />
          </>
        )}
        <Button kind="quiet" icon="download" label="Export the picture" onPress={() => setOverlay('export')} />
        <Button icon="play" keys="t" isPressed={trial.isOpen} onPress={() => trial.toggle()}>
          Try it
        </Button>
        {isReadOnly ? null : (
          <Button
            kind="primary"
            keys="mod+s"
            refused={disk.changedAt !== null ? 'The file was changed. Decide that first.' : undefined}
            onPress={() => setOverlay('save')}
          >
            Save…
          </Button>
        )}
      </Header>
      {opened.readOnly !== null ? (
        <Banner
          kind="plain"
          title={
            opened.layer === 'bundled'
              ? 'This loadout comes with Baton and is read-only.'
              : 'This loadout is read-only here.'
          }
          act={mayWrite ? <Button onPress={disk.duplicate}>Duplicate</Button> : null}
        >
          {opened.layer === 'bundled' ? 'A copy of your own can be changed.' : sentence(opened.readOnly)}
        </Banner>
      ) : null}
      <ChangedBanner changedAt={disk.changedAt} compare={disk.compare} file={opened.file} />
      <div className={`view-body editor${second ? ' editor-two' : ''}`}>
        {trial.isOpen ? (
          <TryIt trial={trial} onSocket={(id) => draft.select({ sockets: [id] })} onSave={disk.saveTest} />
        ) : face === 'picture' || second === 'picture' ? (
          <MateriaList
            {...{ document, loadouts, isReadOnly }}
            searchRef={search}
            onAdd={(materia) => canvas.current?.add(materia)}
            onNew={() => setOverlay('new')}
            onAddLoadout={(name) => void disk.insert(name)}
          />
        ) : null}
        <div className="editor-middle">
          <div className="editor-faces">
            <div className="editor-face">{shownFace(face)}</div>
            {second ? <div className="editor-face">{shownFace(second)}</div> : null}
            {said ? (
              <div key={said.n} className={`editor-said${said.isRefused ? ' editor-refused' : ''}`} role="status">
                {said.sentences.map((sentence) => (
                  <p key={sentence}>
                    <Foreign text={sentence} />
                  </p>
                ))}
              </div>
            ) : null}
          </div>
          <Checks
            {...{ draft, document, drawn, issues, isReadOnly }}
            at={shownIssue}
            onShow={showIssue}
            onNext={next}
            onBoundary={(socket) => {
              draft.select({ sockets: [socket] });
              setTab('Trust');
            }}
          />
        </div>
        <Pane name="editor" label="Form" width={336}>
          <div className="editor-form">
            <Form
              {...{ draft, state, drawn, isReadOnly, tab, faults, offers }}
              locked={Object.keys(opened.identities)}
              onTab={setTab}
              trustOf={(materia) => <TrustPart materia={materia} identity={opened.identities[materia] ?? null} />}
              brief={(socket) => <BriefPreview {...{ document, socket, isSound }} name={nameIn(socket)} />}
              placesOf={() => canvas.current?.places() ?? {}}
            />
          </div>
        </Pane>
      </div>
      {overlay === 'add' ? (
        <Pick
          title={selection.way !== null ? 'Insert into this edge' : only ? `Add after ${nameIn(only)}` : 'Add a socket'}
          of={picks()}
          onClose={() => setOverlay(null)}
          onPick={(id) => canvas.current?.add(id === '' ? undefined : id)}
        />
      ) : null}
      {overlay === 'connect' && connectFrom !== null ? (
        <Pick
          title={`Connect ${nameIn(connectFrom)} to`}
          of={targets()}
          onClose={() => setOverlay(null)}
          onPick={(to) => draft.edit({ edit: 'edge.add', from: connectFrom, to })}
        />
      ) : null}
      {overlay === 'export' ? (
        <Pick
          title="Export the picture"
          of={EXPORTS.map(([id, says]) => ({ id, says, beside: `${document.name}.${id === 'mermaid' ? 'mmd' : id}` }))}
          onClose={() => setOverlay(null)}
          onPick={(format) => void exportAs(document, format as 'svg')}
        />
      ) : null}
      {overlay === 'new' ? <NewMateria draft={draft} document={document} onClose={() => setOverlay(null)} /> : null}
      {disk.overlay}
      {overlay === 'save' ? <SaveDialog {...{ opened, disk }} onClose={() => setOverlay(null)} /> : null}
    </>
  );
}

/** The tab of the form on which a field is. */
function tabOf(field: string): Tab {
  if (/\.edges\b/.test(field)) return 'Edges';
  if (/\.(parse|contract|strict|schema|assign|advance|foreach|generator)\b/.test(field)) return 'Contract';
  if (/\.(limits|lockScope|checkers|timeoutMs|cwd|sandbox|fallbacks)\b/.test(field)) return 'Limits';
  if (/\.(identity|lockState)\b/.test(field)) return 'Trust';
  return 'Agent';
}

/** The issues of the draft: at once what the page can tell by itself, and after a moment what only the server knows. */
function useChecks(document: EditorDocument, { utilities }: Opened): readonly LocatedIssue[] {
  const own = useMemo(() => checkDocument(document, { utilities: utilities as UtilityNames }), [document, utilities]);
  const [more, setMore] = useState<{ readonly of: EditorDocument; readonly issues: readonly LocatedIssue[] } | null>(
    null,
  );
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(() => {
      void checkThere(document).then((issues) => {
        if (issues && !isGone) setMore({ of: document, issues });
      });
    }, CHECK_MS);
    return () => {
      clearTimeout(timer);
      isGone = true;
    };
  }, [document]);
  return more?.of === document ? more.issues : own;
}

const CHECK_MS = 400;

/** From the folder of the workspace, as people name it. */
function shortFile(file: string): string {
  const at = file.lastIndexOf('.baton/');
  return at < 0 ? (file.split('/').at(-1) ?? file) : file.slice(at);
}
