// Any operation as a form: its fields, the command that does the same, and its verdict at the place of the act.
import { type ReactNode, useState } from 'react';
import { call, type Field, type Json, look, type Operation, type Verdict } from '../api.ts';
import { commandOf } from '../command.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField, Check, Choice, TextField } from '../parts/fields.tsx';
import { Source } from '../parts/source.tsx';
import { Foreign } from '../parts/text.tsx';
import { sentence, VerdictBlock } from '../parts/verdict.tsx';
import { castPath, go } from '../router.ts';
import { refreshAll, useIsOnline } from '../workspace.ts';

export function OperationForm({
  operation,
  given = {},
  onClose,
}: {
  operation: Operation;
  given?: Readonly<Record<string, unknown>>;
  onClose: () => void;
}): ReactNode {
  const { name, means, act, cli } = operation;
  const fields = Object.entries(operation.fields).filter(([, field]) => field.hidden !== true);
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>(() => ({ ...given }));
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isOnline = useIsOnline();
  const read = readInput(fields, values);
  const missing = fields.find(([each, { required }]) => required === true && isUnsaid(values[each]));
  // Driving goes on in the server; an answer that comes only at the end of the cast helps nobody here.
  const input = { ...read.input, ...('detach' in operation.fields && act !== 'look' ? { detach: true } : {}) };
  const run = async (): Promise<void> => {
    setBusy(true);
    const answer = act === 'look' ? await look(name, input) : await call(name, input);
    setBusy(false);
    setVerdict(answer);
    if (act !== 'look') refreshAll();
  };
  const cast = verdict?.allow === true ? verdict.details.cast : undefined;
  const refused = !isOnline
    ? 'The line to the server is lost.'
    : missing
      ? `Fill in ${missing[0]}.`
      : read.fault === null
        ? undefined
        : read.fault;
  return (
    <Dialog
      title={sentence(means)}
      onClose={onClose}
      isWide
      acts={
        <>
          <Button kind="primary" busy={isBusy && 'Working…'} refused={refused} onPress={() => void run()}>
            {act === 'look' ? 'Look' : `Do it: ${cli ?? name}`}
          </Button>
          {typeof cast === 'string' ? (
            <Button
              onPress={() => {
                onClose();
                go(castPath(cast));
              }}
            >
              Open the cast
            </Button>
          ) : null}
          <Button onPress={onClose}>Close</Button>
          <CopyCommand command={commandOf(operation, values)} />
        </>
      }
    >
      {fields
        .filter(([each]) => each !== 'detach')
        .map(([each, field]) => (
          <FieldInput
            key={each}
            name={each}
            field={field}
            value={values[each]}
            onChange={(value) => setValues({ ...values, [each]: value })}
          />
        ))}
      {verdict ? <Shown verdict={verdict} /> : null}
    </Dialog>
  );
}

function Shown({ verdict }: { verdict: Verdict }): ReactNode {
  const hasDetails = Object.keys(verdict.details).length > 0;
  return (
    <div role="status">
      <VerdictBlock
        kind={verdict.allow ? 'accepted' : 'refused'}
        title={<Foreign text={sentence(verdict.reason)} />}
        code={verdict.allow ? null : verdict.code}
      />
      {hasDetails ? (
        <Source text={JSON.stringify(verdict.details, null, 2)} title="details" label="the details" />
      ) : null}
    </div>
  );
}

export function FieldInput({
  name,
  field,
  value,
  onChange,
}: {
  name: string;
  field: Field;
  value: unknown;
  onChange: (value: unknown) => void;
}): ReactNode {
  const label = `${name}${field.required === true ? '' : ', optional'}`;
  const text = typeof value === 'string' ? value : '';
  const hint = field.means;
  const shown = { label, value: text, onChange, ...(hint === undefined ? {} : { hint }) };
  const example =
    field.example === undefined || typeof field.example === 'object' ? {} : { placeholder: String(field.example) };
  if (field.type === 'flag') return <Check label={hint ?? name} isOn={value === true} onChange={onChange} />;
  if (field.type === 'choice' && Array.isArray(field.of)) {
    const none = field.required === true ? 'Choose one' : 'Not said';
    return (
      <Choice {...shown} of={[['', none], ...(field.of as readonly string[]).map((each) => [each, each] as const)]} />
    );
  }
  if (field.type === 'json') return <AreaField {...shown} isMono rows={6} placeholder="{ }" />;
  if (field.type === 'list') return <AreaField {...shown} rows={3} placeholder="one on each line" />;
  if (field.type === 'count' || field.type === 'number') return <TextField {...shown} {...example} type="number" />;
  return <TextField {...shown} {...example} />;
}

function isUnsaid(value: unknown): boolean {
  return value === undefined || value === '' || value === false;
}

export function readInput(
  fields: readonly (readonly [string, Field])[],
  values: Readonly<Record<string, unknown>>,
): { readonly input: Readonly<Record<string, unknown>>; readonly fault: string | null } {
  const input: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const value = values[name];
    if (isUnsaid(value)) continue;
    if (typeof value !== 'string') input[name] = value;
    else if (field.type === 'count' || field.type === 'number') input[name] = Number(value);
    else if (field.type === 'list') input[name] = value.split('\n').filter((line) => line !== '');
    else if (field.type === 'json') {
      try {
        input[name] = JSON.parse(value) as Json;
      } catch (error) {
        return { input, fault: `${name} is no JSON: ${error instanceof Error ? error.message : 'unreadable'}` };
      }
    } else input[name] = value;
  }
  return { input, fault: null };
}
