// The loadouts of the workspace, and the editor of the one that is open.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Verdict } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Header } from '../parts/pane.tsx';
import { Source } from '../parts/source.tsx';
import { Answered, Empty, LoadingRows, Problem } from '../parts/states.tsx';
import { Foreign, Name } from '../parts/text.tsx';
import { go, linkTo, useRoute } from '../router.ts';
import { plural } from '../words.ts';
import { refreshAll, useLook, useMay } from '../workspace.ts';
import { DraftLoadout } from './drafting.tsx';
import { Editor } from './editor.tsx';
import { type OpenedFile, openLoadout } from './opened.ts';

type LoadoutRow = {
  readonly name: string;
  readonly file: string;
  readonly steps: readonly string[];
  readonly isUsual: boolean;
  readonly isBundled?: boolean;
  readonly issue: { readonly code: string; readonly path: string; readonly message: string } | null;
};

export default function Loadouts({ name }: { name: string | undefined }): ReactNode {
  const list = useLook<{ readonly loadouts: readonly LoadoutRow[] }>('loadout.list');
  const names = list.details?.loadouts.map((row) => row.name) ?? [];
  if (name !== undefined) return <OneLoadout key={name} name={name} loadouts={names.filter((each) => each !== name)} />;
  return <List list={list} />;
}

function OneLoadout({ name, loadouts }: { name: string; loadouts: readonly string[] }): ReactNode {
  const isNew = useRoute().query.get('new') !== null;
  const [answer, setAnswer] = useState<Verdict<OpenedFile> | null>(null);
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whether it is new is asked once
  useEffect(() => {
    let isGone = false;
    void openLoadout(name, isNew).then((each) => {
      if (!isGone) setAnswer(each);
    });
    return () => {
      isGone = true;
    };
  }, [name, tries]);
  const retry = (): void => setTries(tries + 1);
  const opened = answer?.allow ? answer.details : null;
  if (opened?.document) return <Editor opened={{ ...opened, document: opened.document }} loadouts={loadouts} />;
  return (
    <>
      <Header title={<Foreign text={name} />} />
      <div className="page-missing">
        {answer === null ? (
          <LoadingRows what="The loadout" />
        ) : answer.allow ? (
          <Unreadable opened={answer.details} onRetry={retry} />
        ) : (
          <Problem refusal={answer} onRetry={retry} />
        )}
      </div>
    </>
  );
}

/** Its text has a mistake that has to be repaired in the file first. */
function Unreadable({
  opened: { file, faults, text },
  onRetry,
}: {
  opened: OpenedFile;
  onRetry: () => void;
}): ReactNode {
  return (
    <div className="loadout-unreadable">
      <Empty act={<Button onPress={onRetry}>Read it again</Button>}>
        <code>{file}</code> cannot be read. Repair it in the file.
      </Empty>
      <ul>
        {faults.map(({ line, column, message }) => (
          <li key={`${line} ${column} ${message}`}>
            Line {line}, column {column}: <Foreign text={message} />
          </li>
        ))}
      </ul>
      <Source text={text} title={file} label={file} />
    </div>
  );
}

function List({ list }: { list: ReturnType<typeof useLook<{ readonly loadouts: readonly LoadoutRow[] }>> }): ReactNode {
  const mayWrite = useMay()('loadout.save');
  const [isNew, setNew] = useState(false);
  const rows = useRef<HTMLUListElement>(null);
  const step = (by: number): void => {
    const links = [...(rows.current?.querySelectorAll<HTMLElement>('a') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
  };
  useKeys('Loadouts', [
    { keys: 'j', says: 'Next loadout', run: () => step(1) },
    { keys: 'ArrowDown', says: 'Next loadout', run: () => step(1) },
    { keys: 'k', says: 'The loadout before', run: () => step(-1) },
    { keys: 'ArrowUp', says: 'The loadout before', run: () => step(-1) },
    ...(mayWrite ? [{ keys: 'n', says: 'New loadout', run: () => setNew(true) }] : []),
  ]);
  return (
    <>
      <Header title="Loadouts">
        {mayWrite ? (
          <Button keys="n" onPress={() => setNew(true)}>
            New loadout
          </Button>
        ) : null}
      </Header>
      <div className="view-body loadouts">
        <Answered answer={list} what="The loadouts">
          {({ loadouts }) =>
            loadouts.length === 0 ? (
              <Empty act={mayWrite ? <Button onPress={() => setNew(true)}>New loadout</Button> : null}>
                No loadouts yet. Draw one, or describe it in a sentence.
              </Empty>
            ) : (
              <ul ref={rows} className="loadout-rows">
                {loadouts.map((row) => (
                  <li key={`${row.file} ${row.name}`}>
                    <a {...linkTo(`/loadouts/${encodeURIComponent(row.name)}`)} className="loadout-row">
                      <Icon name="loadouts" />
                      <span className="loadout-words">
                        <span className="loadout-line">
                          <Name text={row.name} className="loadout-name" />
                          {row.isUsual ? <span className="loadout-mark">used where none is named</span> : null}
                          {row.isBundled ? <span className="loadout-mark">comes with Baton</span> : null}
                        </span>
                        <span className={`loadout-below${row.issue ? ' bad' : ''}`}>
                          {row.issue ? <Foreign text={row.issue.message} /> : <Foreign text={row.steps.join(', ')} />}
                        </span>
                      </span>
                      <span className="quiet nowrap">{plural(row.steps.length, 'materia', 'materia')}</span>
                    </a>
                  </li>
                ))}
              </ul>
            )
          }
        </Answered>
      </div>
      {isNew ? (
        <NewLoadout names={list.details?.loadouts.map(({ name }) => name) ?? []} onClose={() => setNew(false)} />
      ) : null}
    </>
  );
}

function NewLoadout({ names, onClose }: { names: readonly string[]; onClose: () => void }): ReactNode {
  const [name, setName] = useState('');
  const wanted = name.trim();
  const refused =
    wanted === ''
      ? 'Write its name first.'
      : names.includes(wanted)
        ? `There is a loadout ${wanted} already.`
        : undefined;
  return (
    <Dialog
      title="New loadout"
      onClose={onClose}
      acts={
        <>
          <Button
            kind="primary"
            refused={refused}
            onPress={() => {
              onClose();
              go(`/loadouts/${encodeURIComponent(wanted)}?new=1`);
            }}
          >
            Draw it
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </>
      }
    >
      <TextField label="Name" value={name} onChange={setName} placeholder="such as bugfix" />
      <DraftLoadout
        name={wanted}
        onWritten={(loadout) => {
          onClose();
          refreshAll();
          go(`/loadouts/${encodeURIComponent(loadout)}`);
        }}
      />
    </Dialog>
  );
}
