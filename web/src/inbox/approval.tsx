// A request for permission. What is shown is what is sealed, and the decision names the seal that was shown.
import { Fragment, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import type { ApprovalView } from '../../../src/kernel/approval/state.ts';
import { useKeys } from '../keys.ts';
import { Button } from '../parts/button.tsx';
import { Diff } from '../parts/diff.tsx';
import { AreaField, TextField } from '../parts/fields.tsx';
import { Icon } from '../parts/glyphs.tsx';
import { Facts } from '../parts/pane.tsx';
import { type FilePatch, patchesIn } from '../parts/patches.ts';
import { LoadingRows } from '../parts/states.tsx';
import { Foreign, ForeignLines, Quote } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { titleOf } from '../shell/overview.ts';
import { clock, count, day, inLine, shortPath } from '../words.ts';
import { useLook, useMay } from '../workspace.ts';
import { CardFrame, type CardProps, DecisionBar, useDecision, useInert, useOffline } from './card.tsx';

const variablesOf = ({ env, envOther }: ApprovalView): readonly string[] =>
  env.map((name) => (envOther.includes(name) ? `${name} (another value for this server)` : name));

const TIERS: Readonly<Record<string, string>> = {
  T0: 'It only reads',
  T1: 'It checks something here',
  T2: 'It only simulates',
  T3: 'It changes state',
};

/** Eight digits that the card and the button both show. */
const sealDigits = (revision: string): string => {
  const digits = revision.replace(/^sha256:/, '').slice(0, 8);
  return `${digits.slice(0, 4)} ${digits.slice(4)}`;
};

export function ApprovalCard({ row, isGone }: CardProps): ReactNode {
  const list = useLook<{ readonly approvals: readonly ApprovalView[] }>('approvals.list', {}, [
    'approval.',
    'turn.',
    'cast.',
  ]);
  const { id } = row;
  const now = list.details?.approvals.find((each) => each.id === id) ?? null;
  // The card shows the request as it was opened. A newer one is offered, and never put in its place.
  const [shown, setShown] = useState<ApprovalView | null>(null);
  useEffect(() => {
    if (now && shown === null) setShown(now);
  }, [now, shown]);
  if (shown === null)
    return (
      <CardFrame row={row} title={<Foreign text={titleOf(row)} />} bar={null}>
        {list.refusal ? (
          <RefusalBlock refusal={list.refusal} />
        ) : list.isBusy || !list.details ? (
          <LoadingRows what="The request" />
        ) : (
          <p>This request no longer waits.</p>
        )}
      </CardFrame>
    );
  return (
    <Request
      key={shown.revision}
      {...{ row, view: shown, now, onTakeNew: () => setShown(now) }}
      isGone={isGone && now === null}
    />
  );
}

function Request({
  row,
  view,
  now,
  isGone,
  onTakeNew,
}: CardProps & { view: ApprovalView; now: ApprovalView | null; onTakeNew: () => void }): ReactNode {
  const decision = useDecision();
  const may = useMay();
  const offline = useOffline();
  const isInert = useInert(view.revision);
  const { cast, revision } = view;
  const changes = useChanges(cast);
  const bound = boundFiles(view, changes.files);
  const toRead = bound.filter(({ change }) => change?.patch !== undefined);
  const unreadable = bound.filter(({ change }) => change !== null && change.patch === undefined);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const [commandsSeen, setCommandsSeen] = useState<ReadonlySet<number>>(new Set());
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [isRejecting, setRejecting] = useState(false);
  const diff = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  const unread = toRead.filter(({ path }) => !seen.has(path));
  const lines = unread.reduce((sum, { change }) => sum + (change?.patch?.lines.length ?? 0), 0);
  const word = lastWord(view);
  const isGrave = /HIGH|CRITICAL/i.test(view.risk) || view.rollback === null || unreadable.length > 0;
  const mustType = isGrave && word !== '';
  const isUnknown = view.status === 'unknown';
  const isChanged = now !== null && now.revision !== revision && decision.verdict === null;
  const input = { id: view.id, revision, detach: true, ...(isUnknown ? { again: true } : {}) };
  const isEveryCommandSeen = view.commands.every((_, n) => commandsSeen.has(n));
  const refused = isChanged
    ? 'The request changed. Look at the new one first.'
    : offline !== undefined
      ? offline
      : changes.isReading
        ? 'The files it is bound to are being read.'
        : !isEveryCommandSeen
          ? 'Not every command was on the screen yet.'
          : mustType && typed.trim() !== word
            ? `Type the last word of the command: ${word}`
            : undefined;
  const readOn = useCallback(() => {
    diff.current?.scrollIntoView({ block: 'start' });
    diff.current?.querySelector<HTMLElement>('[tabindex]')?.focus();
  }, []);
  const yes = (): void => {
    if (unread.length > 0) return readOn();
    if (refused === undefined && !isInert && decision.busy === null)
      void decision.decide({ operation: 'approve', input });
  };
  const no = async (): Promise<void> => {
    const given = reason.trim() === '' ? {} : { reason: reason.trim() };
    await decision.decide({ operation: 'reject', input: { id: view.id, revision, detach: true, ...given } });
    setRejecting(false);
  };
  const isOpen = decision.verdict?.allow !== true && !isGone && may('approve');
  useKeys(
    'Request',
    isOpen
      ? [
          {
            keys: 'mod+Enter',
            says: isRejecting ? 'Reject' : 'Approve',
            run: () => (isRejecting ? void no() : yes()),
            inFields: true,
          },
          { keys: 'r', says: 'Reject with a reason', run: () => setRejecting(true) },
          { keys: 'd', says: 'To the files', run: readOn },
          ...(isRejecting
            ? [{ keys: 'Escape', says: 'Do not reject', run: () => setRejecting(false), inFields: true as const }]
            : []),
        ]
      : [],
  );
  const who = row.socket ?? view.requester;
  const single = view.commands.length === 1;
  return (
    <CardFrame
      row={row}
      title={
        <>
          <Foreign text={who} />{' '}
          {isUnknown
            ? 'may have run this. Did it?'
            : view.commands.length === 0
              ? 'asks for permission'
              : single
                ? 'asks to run this once'
                : `asks to run these ${view.commands.length} commands once`}
        </>
      }
      bar={
        <div ref={bar}>
          <DecisionBar
            {...{ row, isGone, decision, needs: 'approve' }}
            gone={goneWords(view, now)}
            copies={{ operation: 'approve', input: { id: view.id, again: isUnknown } }}
          >
            {isRejecting ? (
              <div className="bar-form">
                <AreaField
                  label="Why not? The agent reads it. It may stay empty."
                  rows={2}
                  value={reason}
                  onChange={setReason}
                  ref={focusIt}
                />
                <div className="bar-acts">
                  <Button
                    kind="primary"
                    isBig
                    keys="mod+Enter"
                    busy={decision.busy !== null && 'Rejecting…'}
                    refused={offline}
                    onPress={() => void no()}
                  >
                    {view.status === 'approved' ? 'Take it back' : 'Reject'}
                  </Button>
                  <Button isBig onPress={() => setRejecting(false)}>
                    Back
                  </Button>
                </div>
              </div>
            ) : view.status === 'approved' ? (
              <>
                <p className="bar-says">Approved by {view.approvedBy}. Not used yet.</p>
                <Button isBig onPress={() => setRejecting(true)}>
                  Take back
                </Button>
              </>
            ) : view.status === 'expired' ? (
              <p className="bar-says">Its time is over. The agent has to ask again.</p>
            ) : (
              <>
                {unread.length > 0 ? (
                  <p className="bar-why">
                    <Foreign text={who} /> wrote {unread.length === 1 ? 'this file' : 'these files'} in this cast. You
                    can approve after you have read {unread.length === 1 ? 'it' : 'them'}.
                  </p>
                ) : mustType ? (
                  <div className="bar-type">
                    <TextField
                      label={`${graveWhy(view, unreadable.length > 0)} Type the last word of the command to approve it.`}
                      value={typed}
                      onChange={setTyped}
                      isMono
                      placeholder={word}
                    />
                  </div>
                ) : null}
                <Button
                  className="bar-yes"
                  kind="primary"
                  isBig
                  keys="mod+Enter"
                  busy={decision.busy === 'approve' && 'Approving…'}
                  refused={unread.length > 0 ? undefined : (refused ?? (isInert ? 'In a moment.' : undefined))}
                  onPress={yes}
                >
                  {unread.length > 0 ? (
                    `Read the ${count(lines)} lines`
                  ) : (
                    <>
                      {isUnknown ? 'Run it once more' : single ? 'Approve this command once' : 'Approve once'}{' '}
                      <code className="seal">{sealDigits(revision)}</code>
                    </>
                  )}
                </Button>
                <Button className="bar-no" isBig keys="r" onPress={() => setRejecting(true)}>
                  {isUnknown ? 'Give it up' : 'Reject with a reason'}
                </Button>
              </>
            )}
          </DecisionBar>
        </div>
      }
    >
      {isChanged && now ? <Changed before={view} after={now} onTakeNew={onTakeNew} /> : null}
      <Commands view={view} onSeen={(n) => setCommandsSeen((old) => (old.has(n) ? old : new Set([...old, n])))} />
      <Facts
        rows={[
          ['Risk', <RiskWords key="r" view={view} />],
          ['Where', <Where key="w" view={view} isWorktree={changes.isWorktree} />],
          bound.length > 0 && [
            'Files bound',
            <Files key="f" folder={view.folder} bound={bound} seen={seen} onRead={readOn} />,
          ],
          view.env.length > 0 && ['Variables', <Foreign key="v" text={variablesOf(view).join(', ')} />],
          view.pathOther.length > 0 && [
            'Programs in',
            <span key="p" className="bad">
              <Foreign text={view.pathOther.join(', ')} /> (not in the search path of this server)
            </span>,
          ],
          [
            'Undo',
            view.rollback === null ? (
              <b key="u" className="bad">
                It cannot be undone.
              </b>
            ) : (
              <Fragment key="u">
                <code>
                  <Foreign text={view.rollback} />
                </code>{' '}
                <span className="quiet">not tried</span>
              </Fragment>
            ),
          ],
          view.verification !== null && ['Check', <Foreign key="c" text={view.verification} />],
          ['Your yes', `It holds once, for ${who} only, until ${day(view.until)} ${clock(view.until)}.`],
          ['If you say no', `${who} reads your reason and goes on without it.`],
        ]}
      />
      <Quote by={who} note="not sealed" text={inOwnWords(view)} />
      {toRead.length > 0 ? (
        <div ref={diff} className="diffs">
          {toRead.map(({ path, change }) =>
            change?.patch ? (
              <Diff
                key={path}
                patch={change.patch}
                onSeenAll={() => setSeen((old) => (old.has(path) ? old : new Set([...old, path])))}
              />
            ) : null,
          )}
        </div>
      ) : null}
    </CardFrame>
  );
}

/** What the rules found out about the command is no word of the agent. */
function inOwnWords({ operation, rationale, commands }: ApprovalView): string {
  const isFound = commands.some(({ because }) => because === rationale);
  return [operation, isFound ? '' : rationale].filter(Boolean).join('. ');
}

function focusIt(element: HTMLTextAreaElement | null): void {
  element?.focus();
}

function goneWords(view: ApprovalView, now: ApprovalView | null): string {
  if (now?.status === 'approved') return `Approved by ${now.approvedBy}. Not used yet.`;
  if (Date.parse(view.until) < Date.now()) return 'Its time is over. The agent has to ask again.';
  return 'This no longer waits: it was decided or withdrawn elsewhere.';
}

function graveWhy(view: ApprovalView, isUnreadable: boolean): string {
  if (view.rollback === null) return 'It cannot be undone.';
  return isUnreadable ? 'A file that it is bound to was changed and cannot be shown.' : 'Its risk is high.';
}

/** Both seals, so that the difference is plain. */
function Changed({
  before,
  after,
  onTakeNew,
}: {
  before: ApprovalView;
  after: ApprovalView;
  onTakeNew: () => void;
}): ReactNode {
  return (
    <div className="changed" role="alert">
      <p>
        <b>The request changed after you opened it.</b> You see seal <code>{sealDigits(before.revision)}</code>; now it
        is <code>{sealDigits(after.revision)}</code>
        {after.status === before.status ? '' : `, ${after.status}`}.
      </p>
      <Button onPress={onTakeNew}>Show the new one</Button>
    </div>
  );
}

/** The sealed commands in full. A list is approved as it is sealed, so each of it has to be on the screen. */
function Commands({ view, onSeen }: { view: ApprovalView; onSeen: (n: number) => void }): ReactNode {
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => {
      for (const { isIntersecting, target } of seen)
        if (isIntersecting && target instanceof HTMLElement) onSeen(Number(target.dataset.n));
    });
    for (const each of frame.current?.querySelectorAll('[data-n]') ?? []) watch.observe(each);
    return () => watch.disconnect();
  });
  if (view.commands.length === 0)
    return (
      <section className="sealed" aria-label="Permission in words">
        <div className="sealed-head">
          <Icon name="seal" />
          <b>Permission in words</b> <span>no command is named</span>
          <code className="seal">seal {sealDigits(view.revision)}</code>
        </div>
        <p className="sealed-words">
          <ForeignLines text={view.operation} />
        </p>
      </section>
    );
  return (
    <section ref={frame} className="sealed" aria-label="Exact command">
      <div className="sealed-head">
        <Icon name="seal" />
        <b>{view.commands.length === 1 ? 'Exact command' : `Exact commands, ${view.commands.length}`}</b>{' '}
        <span className="sealed-how">sealed, byte for byte</span>
        <code className="seal">seal {sealDigits(view.revision)}</code>
      </div>
      {view.commands.map(({ command, because, status }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sealed list has its order
        <div key={n} className="sealed-command">
          <code>
            <CommandWords command={command} because={because} />
          </code>
          {status === 'waits' ? null : <span className="quiet small"> {status}</span>}
          <span data-n={n} className="sealed-end" />
        </div>
      ))}
      {(view.leftOut ?? []).map((line) => (
        <p key={line} className="sealed-left">
          Left out, because it names no command: <Foreign text={line} />
        </p>
      ))}
    </section>
  );
}

/** The words of a command, as a shell reads them. They wrap between arguments and are never cut. */
function CommandWords({ command, because }: { command: string; because: string }): ReactNode {
  const words = wordsIn(command);
  return words.map((word, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a command has its order
    <Fragment key={n}>
      <span className={n > 0 && isRisky(word, because, words) ? 'arg risky' : 'arg'}>
        <ForeignLines text={word} />
      </span>{' '}
    </Fragment>
  ));
}

export function wordsIn(command: string): readonly string[] {
  return command.match(/(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\])+/g) ?? [command];
}

/** Parts that the reason of the risk names, where it does not name the whole command. */
function isRisky(word: string, because: string, all: readonly string[]): boolean {
  const named = all.filter((each) => because.split(/[\s,;:`"()]+/).includes(each));
  // Where it names options, they are what matters.
  const options = named.filter((each) => each.startsWith('-'));
  return named.length < all.length && (options.length > 0 ? options : named).includes(word);
}

function lastWord({ commands }: ApprovalView): string {
  return wordsIn(commands.at(-1)?.command ?? '').at(-1) ?? '';
}

function RiskWords({ view: { risk, commands } }: { view: ApprovalView }): ReactNode {
  const highest = commands.toSorted((a, b) => b.tier.localeCompare(a.tier))[0];
  const tone = /HIGH|CRITICAL/i.test(risk) ? 'bad' : /MEDIUM/i.test(risk) ? 'wait' : '';
  return (
    <>
      <b className={tone}>{risk.charAt(0).toUpperCase() + risk.slice(1).toLowerCase()}.</b>{' '}
      {highest ? (
        <>
          {TIERS[highest.tier] ?? 'It runs'}: <Foreign text={highest.because} />.{' '}
          <span className="tier">{highest.tier}</span>
        </>
      ) : (
        'Nothing but words says what is done.'
      )}
    </>
  );
}

function Where({ view, isWorktree }: { view: ApprovalView; isWorktree: boolean }): ReactNode {
  return (
    <>
      {isWorktree
        ? 'In the worktree of this cast. Your own folder is not touched.'
        : 'In your own folder, not in a worktree.'}{' '}
      {view.scope ? (
        <span className="second" title={inLine(view.folder)}>
          Scope: <Foreign text={view.scope} />
        </span>
      ) : null}
    </>
  );
}

type Bound = {
  readonly path: string;
  readonly digest: string;
  /** Null where the cast did not change it. */
  readonly change: { readonly patch: FilePatch | undefined } | null;
};

function boundFiles({ files }: ApprovalView, changes: ReadonlyMap<string, FilePatch | undefined>): readonly Bound[] {
  return Object.entries(files).map(([path, digest]) => {
    const changed = [...changes.keys()].find((each) => path === each || path.endsWith(`/${each}`));
    return { path, digest, change: changed === undefined ? null : { patch: changes.get(changed) } };
  });
}

function Files({
  folder,
  bound,
  seen,
  onRead,
}: {
  folder: string;
  bound: readonly Bound[];
  seen: ReadonlySet<string>;
  onRead: () => void;
}): ReactNode {
  return (
    <ul className="bound">
      {bound.map(({ path, digest, change }) => (
        <li key={path}>
          <Icon name="file" size={14} />
          <code title={inLine(path)}>
            <Foreign text={shortPath(path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path, 56)} />
          </code>
          {change === null ? (
            <span className="quiet">not changed by this cast</span>
          ) : (
            <span className="wait">written in this cast</span>
          )}
          {change?.patch ? (
            <button type="button" className="link" onClick={onRead}>
              {seen.has(path) ? 'read' : `${count(change.patch.lines.length)} lines, shown below`}
            </button>
          ) : (
            <code className="quiet">{digest.replace(/^sha256:/, '').slice(0, 8)}</code>
          )}
        </li>
      ))}
    </ul>
  );
}

type DiffAnswer = {
  readonly branch: string | null;
  readonly files: readonly { readonly path: string }[];
  readonly patch?: string;
};

/** What the cast changed so far, file by file. */
function useChanges(cast: string | null): {
  readonly files: ReadonlyMap<string, FilePatch | undefined>;
  readonly isReading: boolean;
  readonly isWorktree: boolean;
} {
  const answer = useLook<DiffAnswer>(cast === null ? null : 'cast.diff', { cast: cast ?? '', patch: true });
  const patches = patchesIn(answer.details?.patch ?? '');
  const files = new Map(
    (answer.details?.files ?? []).map(({ path }) => [path, patches.find((each) => each.path === path)]),
  );
  const isReading = cast !== null && answer.details === undefined && answer.refusal === undefined;
  return { files, isReading, isWorktree: typeof answer.details?.branch === 'string' };
}
