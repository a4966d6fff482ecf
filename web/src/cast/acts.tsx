// What a person can do with a cast now: each act with its command, its dialog where it needs one, and its refusal at the
// place where it was pressed.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { PageAct } from '../../../src/app/views/cast-page.ts';
import { call, type Refusal, type Verdict } from '../api.ts';
import { carries, commandOf } from '../command.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField, Check, TextField } from '../parts/fields.tsx';
import type { IconName } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { RefusalBlock, sentence, VerdictBlock } from '../parts/verdict.tsx';
import { go, inboxPath } from '../router.ts';
import { useIsOnline, useOperation, useWorkspace } from '../workspace.ts';

const ICONS: Readonly<Record<string, IconName>> = { pause: 'pause', answer: 'say', say: 'say', abort: 'close' };
const BUSY: Readonly<Record<string, string>> = {
  pause: 'Pausing…',
  continue: 'Starting…',
  abort: 'Stopping…',
  answer: 'Sending…',
  say: 'Sending…',
};
const OFFLINE = 'The server does not answer. The command still works.';

/** The acts that exist here and that the role may do: the others are not there at all. */
export function useActs(acts: readonly PageAct[]): readonly PageAct[] {
  const hello = useWorkspace('hello');
  const may = new Set(hello?.operations.filter((each) => each.may).map(({ name }) => name));
  return acts.filter(({ operation }) => operation === '' || may.has(operation));
}

/** The act that says something to a cast, for one of its items. */
export function sayTo(
  item: { readonly key: string; readonly number: number },
  acts: readonly PageAct[],
): PageAct | null {
  const say = acts.find(({ id }) => id === 'say');
  if (!say) return null;
  const cast = `${String(say.input.cast)}:${item.key}`;
  const asks = say.asks.map((each) =>
    each.field === 'text' ? { ...each, label: `What the next brief for item ${item.number} holds` } : each,
  );
  return {
    ...say,
    id: `say:${item.key}`,
    verb: `Say to item ${item.number}`,
    input: { cast },
    asks,
    command: `baton say ${cast} "…"`,
  };
}

/** Does it at once, or asks first. */
export function useAct(act: PageAct): {
  readonly isBusy: boolean;
  readonly refusal: Refusal | null;
  /** What was answered to the last act that was allowed. */
  readonly answer: Verdict | null;
  readonly run: (more?: Readonly<Record<string, unknown>>) => Promise<boolean>;
} {
  const [isBusy, setBusy] = useState(false);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const run = async (more: Readonly<Record<string, unknown>> = {}): Promise<boolean> => {
    if (act.operation === '') {
      go(inboxPath(String(act.input.approval)));
      return true;
    }
    setBusy(true);
    setVerdict(null);
    const answered = await call(act.operation, { ...act.input, ...more });
    setBusy(false);
    setVerdict(answered);
    return answered.allow;
  };
  return {
    isBusy,
    refusal: verdict?.allow === false ? verdict : null,
    answer: verdict?.allow === true ? verdict : null,
    run,
  };
}

export function ActButton({
  act,
  kind = 'plain',
  isBare = false,
  keys,
  isBig = false,
}: {
  act: PageAct;
  kind?: 'plain' | 'primary' | 'attention' | 'quiet';
  isBare?: boolean;
  keys?: string;
  isBig?: boolean;
}): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const { isBusy, refusal, run } = useAct(act);
  const isOnline = useIsOnline();
  const name = act.id.split(':')[0] ?? '';
  const needs = act.asks.length > 0 || act.confirm !== null;
  return (
    <span className="act" ref={carries(act.command)} data-copies="">
      <Button
        kind={kind}
        isBig={isBig}
        {...(ICONS[name] ? { icon: ICONS[name] } : {})}
        {...(keys ? { keys } : {})}
        busy={isBusy && !isAsking ? (BUSY[name] ?? 'Working…') : undefined}
        refused={isOnline ? undefined : OFFLINE}
        onPress={() => (needs ? setAsking(true) : void run())}
      >
        {act.verb}
        {needs && name !== 'answer' && name !== 'say' ? '…' : ''}
      </Button>
      {isBare ? null : <CopyCommand command={act.command} isBare />}
      {refusal && !isAsking ? <RefusalBlock refusal={refusal} /> : null}
      {isAsking ? <AskFirst act={act} onClose={() => setAsking(false)} /> : null}
    </span>
  );
}

/** Names what happens, takes what is needed for it, and shows the command that does the same. */
function AskFirst({ act, onClose }: { act: PageAct; onClose: () => void }): ReactNode {
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const { isBusy, refusal, answer, run } = useAct(act);
  const operation = useOperation(act.operation);
  const input = { ...act.input, ...valuesOf(act, given) };
  const missing = act.asks.find(({ field, isRequired }) => isRequired && (given[field] ?? '').trim() === '');
  const isDanger = act.confirm !== null;
  const submit = async (): Promise<void> => {
    if (missing !== undefined || answer || !(await run(valuesOf(act, given)))) return;
    // Whether the agents at work could be interrupted is in the answer only.
    if (given.interrupt !== ON) onClose();
  };
  const { detach: _detach, ...said } = input as Readonly<Record<string, unknown>>;
  return (
    <Dialog
      title={`${act.verb}${act.item && !act.verb.includes('item') ? ` ${act.item}` : act.turn ? ` (turn ${act.turn})` : ''}`}
      onClose={onClose}
      acts={
        answer ? (
          <Button kind="primary" onPress={onClose}>
            Close
          </Button>
        ) : (
          <>
            <Button
              kind="primary"
              busy={isBusy ? 'Working…' : undefined}
              refused={missing ? `${missing.label} is needed.` : undefined}
              onPress={() => void submit()}
            >
              {act.verb}
            </Button>
            <Button onPress={onClose}>{isDanger ? 'Leave it' : 'Not now'}</Button>
            <CopyCommand command={commandOf(operation, said) ?? act.command} />
          </>
        )
      }
    >
      {act.confirm ? <p>{act.confirm}</p> : null}
      {act.asks.map(({ field, label, isRequired }) => {
        const set = (value: string): void => setGiven({ ...given, [field]: value });
        const shown = `${label.charAt(0).toUpperCase()}${label.slice(1)}${isRequired ? '' : ', if you like'}`;
        if (FLAGS.has(field))
          return (
            <Check key={field} label={label} isOn={given[field] === ON} onChange={(isOn) => set(isOn ? ON : '')} />
          );
        return NUMBERS.has(field) ? (
          <TextField
            key={field}
            label={FIELD_WORDS[field] ?? shown}
            type="number"
            value={given[field] ?? ''}
            onChange={set}
          />
        ) : (
          <AreaField
            key={field}
            label={shown}
            rows={field === 'answer' || field === 'text' ? 6 : 3}
            value={given[field] ?? ''}
            onChange={set}
          />
        );
      })}
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
      {answer ? (
        <div role="status">
          <VerdictBlock
            kind={answer.details.interrupts === undefined ? 'waits' : 'accepted'}
            title={<Foreign text={sentence(answer.reason)} />}
          />
        </div>
      ) : null}
    </Dialog>
  );
}

const ON = 'yes';
const FLAGS: ReadonlySet<string> = new Set(['interrupt']);
const NUMBERS: ReadonlySet<string> = new Set(['tokens', 'cost', 'minutes']);
const FIELD_WORDS: Readonly<Record<string, string>> = {
  tokens: 'At most so many tokens in all',
  cost: 'At most this cost in all',
  minutes: 'At most so many minutes of running',
};

function valuesOf(act: PageAct, given: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    act.asks.flatMap(({ field }) => {
      const value = given[field]?.trim() ?? '';
      if (value === '') return [];
      return [[field, NUMBERS.has(field) ? Number(value) : FLAGS.has(field) ? value === ON : value] as const];
    }),
  );
}

/** The acts that are not in the header: a list of verbs, each with its command. */
export function MoreActs({ acts, command }: { acts: readonly PageAct[]; command: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  useKeys('More acts', [{ keys: 'Escape', says: 'Close', run: () => setOpen(false) }], { isOff: !isOpen });
  useEffect(() => {
    if (!isOpen) return;
    list.current?.querySelector('button')?.focus();
    const outside = (event: MouseEvent): void => {
      const { target } = event;
      if (target instanceof Element && !target.closest('.more, dialog')) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [isOpen]);
  return (
    <span className="more">
      <Button icon="more" label="More" onPress={() => setOpen(!isOpen)} isPressed={isOpen} />
      {isOpen ? (
        <div ref={list} className="more-list" role="group" aria-label="More acts">
          {acts.map((act) => (
            <ActButton key={act.id} act={act} kind="quiet" />
          ))}
          <span className="act">
            <span className="more-says">Watch it in a terminal</span>
            <CopyCommand command={command} isBare />
          </span>
        </div>
      ) : null}
    </span>
  );
}
