// A conversation of a person with an agent: what was said, the words that come next, and the end of it. Also what was said in any
// other turn.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { CastPage, PageAct, PageSocket } from '../../../src/app/views/cast-page.ts';
import type { TurnRow } from '../../../src/app/views/turn-rows.ts';
import type { Text } from '../api.ts';
import { carries, commandOf } from '../command.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField } from '../parts/fields.tsx';
import { useText } from '../parts/source.tsx';
import { Foreign, ForeignLines } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { clock, inLine } from '../words.ts';
import { useIsOnline, useOperation } from '../workspace.ts';
import { useAct } from './acts.tsx';
import { nameOf } from './shown.ts';
import { beginning, type TurnStory } from './turn-story.ts';

/** What was said in the turn: a person at the right, the agent at the left. */
export function Exchange({ story: { said } }: { story: TurnStory }): ReactNode {
  const list = useRef<HTMLOListElement>(null);
  // What was said last is read first.
  useEffect(() => {
    if (said.length > 1) list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }, [said.length]);
  if (said.length === 0) return null;
  return (
    <ol ref={list} className="chat" aria-label="What was said" aria-live="polite">
      {said.map(({ seq, from, at, by, text }) => (
        <li key={seq} className={`said said-${from}`}>
          <span className="said-by">
            {from === 'agent' ? 'agent' : from === 'runtime' ? 'Baton' : inLine(by.replace(/^user:/, ''))}, {clock(at)}
          </span>
          <Words text={text} />
        </li>
      ))}
    </ol>
  );
}

/** The whole text. How it begins is there at once. */
function Words({ text }: { text: Text }): ReactNode {
  const read = useText(text);
  const shown = read.is === 'text' ? read.text : beginning(text);
  return (
    <p>
      <ForeignLines text={shown} />
      {read.is === 'text' || read.is === 'reading' ? null : <span className="quiet"> The rest is gone.</span>}
    </p>
  );
}

/** The act of a conversation that says something, and the one that ends it. */
export function talkIn(acts: readonly PageAct[]): { readonly talk: PageAct; readonly finish: PageAct | null } | null {
  const talk = acts.find(({ id }) => id.startsWith('talk:'));
  return talk ? { talk, finish: acts.find(({ id }) => id.startsWith('finish:')) ?? null } : null;
}

type ComposerProps = {
  readonly page: CastPage;
  readonly row: TurnRow;
  readonly story: TurnStory;
  readonly socket: PageSocket | undefined;
  readonly talk: PageAct;
  readonly finish: PageAct | null;
};

const OFFLINE = 'The server does not answer. The command still works.';

/** Below what was said: the next words, and the way on. */
export function Composer({ page, row, story, socket, talk, finish }: ComposerProps): ReactNode {
  const [text, setText] = useState('');
  const [isEnding, setEnding] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { isBusy, refusal, run } = useAct(talk);
  const isOnline = useIsOnline();
  const operation = useOperation('cast.talk');
  const name = nameOf(page, row.socket);
  const words = text.trim();
  const send = async (): Promise<void> => {
    if (words === '' || isBusy) return;
    if (await run({ text: words })) setText('');
    field.current?.focus();
  };
  useKeys('Conversation', [{ keys: 'mod+Enter', says: 'Send', run: () => void send(), inFields: true }], {
    isOff: isEnding,
  });
  const { detach: _detach, ...input } = talk.input;
  const command = commandOf(operation, { ...input, ...(words === '' ? {} : { text: words }) }) ?? talk.command;
  return (
    <section className="composer" aria-label={`Talk with ${name}`}>
      <AreaField ref={field} label={`Say something to ${name}`} rows={3} value={text} onChange={setText} />
      <div className="waits-acts" ref={carries(command)} data-copies="">
        <Button
          kind="primary"
          keys="mod+Enter"
          busy={isBusy ? 'Sending…' : undefined}
          refused={isOnline ? (words === '' ? 'Write something first.' : undefined) : OFFLINE}
          onPress={() => void send()}
        >
          Send
        </Button>
        {finish ? (
          <Button refused={isOnline ? undefined : OFFLINE} onPress={() => setEnding(true)}>
            Hand on…
          </Button>
        ) : null}
        <CopyCommand command={command} isBare />
      </div>
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
      {isEnding && finish ? (
        <HandOn {...{ page, row, story, socket, talk, finish }} onClose={() => setEnding(false)} />
      ) : null}
    </section>
  );
}

const DRAFT = 'Show me your final answer as you would hand it on, in its final form. Do not hand it on yet.';

/** Ends the conversation. Before that it shows where the handoff goes, what it must hold and what the agent said last. */
function HandOn({
  page,
  row,
  story,
  socket,
  talk,
  finish,
  onClose,
}: ComposerProps & { readonly finish: PageAct; readonly onClose: () => void }): ReactNode {
  const end = useAct(finish);
  const draft = useAct(talk);
  const name = nameOf(page, row.socket);
  const last = story.said.findLast(({ from }) => from === 'agent');
  const targets = [
    ...new Set(page.graph.edges.filter(({ from }) => from === row.socket).map(({ to }) => nameOf(page, to))),
  ];
  const refusal = end.refusal ?? draft.refusal;
  return (
    <Dialog
      title="Hand on"
      onClose={onClose}
      acts={
        <>
          <Button
            kind="primary"
            busy={end.isBusy ? 'Working…' : undefined}
            onPress={() => void end.run().then((isDone) => (isDone ? onClose() : undefined))}
          >
            Hand on
          </Button>
          <Button
            busy={draft.isBusy ? 'Asking…' : undefined}
            onPress={() => void draft.run({ text: DRAFT }).then((isDone) => (isDone ? onClose() : undefined))}
          >
            Show it to me first
          </Button>
          <Button kind="quiet" onPress={onClose}>
            Not now
          </Button>
          <CopyCommand command={finish.command} />
        </>
      }
    >
      <p>
        <Foreign text={`${name} is asked for its final answer.`} />{' '}
        {targets.length > 0 ? <Foreign text={`It goes to ${targets.join(' or ')}.`} /> : 'It ends the cast.'} The
        conversation ends with it.
      </p>
      {last ? (
        <figure className="last-said">
          <figcaption>
            <Foreign text={`${name} said last:`} />
          </figcaption>
          <Words text={last.text} />
        </figure>
      ) : null}
      {socket ? <Asked socket={socket} /> : null}
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
    </Dialog>
  );
}

/** What the contract of a socket asks of its output. */
export function Asked({ socket }: { socket: PageSocket }): ReactNode {
  if (socket.asks.length === 0) return null;
  return (
    <section className="asked">
      <h3>The contract asks for</h3>
      <dl>
        {socket.asks.map(({ name, type, why }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{type}</dd>
            <dd>{why}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
