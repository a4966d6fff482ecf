// Starts a cast: who works, what it should do, what it may cost.
import { type ReactNode, type RefObject, useEffect, useMemo, useState } from 'react';
import { call, type Refusal } from '../api.ts';
import { commandOf } from '../command.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { AreaField, Choice, TextField } from '../parts/fields.tsx';
import { Foreign } from '../parts/text.tsx';
import { RefusalBlock, sentence } from '../parts/verdict.tsx';
import { castPath, go } from '../router.ts';
import { FieldInput, readInput } from '../shell/operation-form.tsx';
import { refreshAll, useIsOnline, useLook, useMay, useOperation } from '../workspace.ts';
import { faultsIn, givenInputs, InputFields, type LoadoutInput, missingInput, type Typed } from './inputs.tsx';

type Loadout = {
  readonly name: string;
  readonly file: string;
  readonly steps: readonly string[];
  readonly isUsual: boolean;
  readonly inputs?: readonly LoadoutInput[];
  readonly issue: { readonly code: string; readonly path: string; readonly message: string } | null;
};

/** They have a place of their own, or make no sense here. */
const OWN = new Set([
  ...['request', 'loadout', 'materia', 'link', 'detach', 'turns', 'file'],
  ...['input', 'inputFile', 'inputs'],
]);

export function Composer({
  ref,
  isFocused,
}: {
  ref: RefObject<HTMLTextAreaElement | null>;
  isFocused: boolean;
}): ReactNode {
  const operation = useOperation('cast.start');
  const adding = useOperation('quest.add');
  const may = useMay();
  const isOnline = useIsOnline();
  const { details } = useLook<{ readonly loadouts: readonly Loadout[] }>('loadout.list');
  const loadouts = details?.loadouts ?? [];
  const [chosen, setChosen] = useState('');
  const [request, setRequest] = useState('');
  const [budget, setBudget] = useState('');
  const [typed, setTyped] = useState<Typed>({});
  const [more, setMore] = useState<Readonly<Record<string, unknown>>>({});
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const loadout = loadouts.find(({ name }) => name === chosen) ?? loadouts.find((each) => each.isUsual) ?? loadouts[0];
  const fields = useMemo(
    () => Object.entries(operation?.fields ?? {}).filter(([name, field]) => !OWN.has(name) && field.hidden !== true),
    [operation],
  );
  useEffect(() => {
    if (isFocused) ref.current?.focus();
  }, [isFocused, ref]);
  // A refused field may be out of sight.
  useEffect(() => {
    if (refusal) document.querySelector<HTMLElement>('.composer-inputs [aria-invalid]')?.focus();
  }, [refusal]);
  const extra = readInput(fields, more);
  const inputs = loadout?.inputs ?? [];
  const given = givenInputs(inputs, typed);
  const faults = faultsIn(refusal, inputs);
  const input = {
    request: request.trim(),
    ...(loadout ? { loadout: loadout.name } : {}),
    ...(given.length > 0 ? { input: given } : {}),
    ...extra.input,
  };
  const missing = missingInput(inputs, typed);
  const unfit = !isOnline
    ? 'The line to the server is lost.'
    : request.trim() === ''
      ? 'Say first what the team should do.'
      : (extra.fault ?? undefined);
  const refused = unfit ?? (missing === null ? undefined : `Fill in ${missing}.`);
  const strange = Object.keys(extra.input).find((name) => adding && !(name in adding.fields));
  const unqueued = refused ?? (strange === undefined ? undefined : `A quest takes no ${strange}. Leave it out.`);
  const start = async (): Promise<void> => {
    if (refused !== undefined || isBusy) return;
    setBusy(true);
    setRefusal(null);
    const verdict = await call<{ readonly cast?: string }>('cast.start', { ...input, detach: true });
    if (!verdict.allow) {
      setBusy(false);
      return setRefusal(verdict);
    }
    const { cast } = verdict.details;
    if (cast !== undefined && budget !== '' && may('cast.budget')) {
      const limited = await call('cast.budget', { cast, cost: Number(budget) });
      if (!limited.allow) {
        setBusy(false);
        refreshAll();
        return setRefusal(limited);
      }
    }
    setBusy(false);
    setRequest('');
    refreshAll();
    if (cast !== undefined) go(castPath(cast));
  };
  const enqueue = async (): Promise<void> => {
    if (unqueued !== undefined || isBusy) return;
    setBusy(true);
    const set = [...listIn(input, 'set'), ...(budget === '' ? [] : [`budget.maxCost=${Number(budget)}`])];
    const verdict = await call('quest.add', { ...input, ...(set.length > 0 ? { set } : {}) });
    setBusy(false);
    setRefusal(verdict.allow ? null : verdict);
    if (!verdict.allow) return;
    setRequest('');
    refreshAll();
    go('/queue');
  };
  useKeys('Start a cast', [{ keys: 'mod+Enter', says: 'Cast', run: () => void start(), inFields: true }]);
  return (
    <section className="side-part" aria-labelledby="composer">
      <h2 id="composer">Start a cast</h2>
      {loadouts.length > 0 ? (
        <Choice
          label="Team"
          value={loadout?.name ?? ''}
          of={loadouts.map(({ name, issue }) => [name, issue ? `${name} (has a mistake)` : name])}
          hint={loadout ? <Steps loadout={loadout} /> : null}
          onChange={(name) => {
            setChosen(name);
            setRefusal(null);
          }}
        />
      ) : null}
      <AreaField
        ref={ref}
        label="What should it do?"
        value={request}
        onChange={setRequest}
        placeholder="Describe the result you want, or paste an issue."
      />
      <InputFields inputs={inputs} typed={typed} faults={faults} onChange={setTyped} />
      {loadout?.issue ? (
        <p className="composer-issue bad">
          <Foreign text={sentence(`${loadout.issue.path}: ${loadout.issue.message}`)} />
        </p>
      ) : null}
      {may('cast.budget') ? (
        <TextField label="Budget, optional" type="number" value={budget} onChange={setBudget} placeholder="5.00" />
      ) : null}
      {fields.length > 0 ? (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} className="composer-more">
          <summary>More</summary>
          <div>
            {fields.map(([name, field]) => (
              <FieldInput
                key={name}
                name={name}
                field={field}
                value={more[name]}
                onChange={(value) => setMore({ ...more, [name]: value })}
              />
            ))}
          </div>
        </details>
      ) : null}
      {refusal && faults.size === 0 ? <RefusalBlock refusal={refusal} /> : null}
      <div className="composer-acts">
        <Button
          kind="primary"
          keys="mod+Enter"
          busy={isBusy && 'Starting…'}
          refused={refused}
          onPress={() => void start()}
        >
          Cast
        </Button>
        {may('quest.add') ? (
          <Button refused={unqueued} onPress={() => void enqueue()}>
            Add to queue
          </Button>
        ) : null}
        <span className="grow" />
        <CopyCommand command={commandOf(operation, input)} />
      </div>
    </section>
  );
}

function listIn(input: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = input[name];
  return Array.isArray(list) ? list : [];
}

function Steps({ loadout: { steps } }: { loadout: Loadout }): ReactNode {
  return <Foreign text={steps.join(', ')} />;
}
