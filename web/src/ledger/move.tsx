// Moves a task by hand. It asks for the reason, and says what is not checked.
import { type ReactNode, useState } from 'react';
import type { TaskStatus } from '../../../src/kernel/ledger/state.ts';
import { call, type Refusal } from '../api.ts';
import { commandOf } from '../command.ts';
import { useKeys } from '../keys.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField } from '../parts/fields.tsx';
import { Foreign } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { refreshAll, useIsOnline, useOperation } from '../workspace.ts';
import { movesOf, statusName, type Task } from './tasks.ts';

export function MoveDialog({
  task,
  to,
  onClose,
}: {
  task: Task;
  to: TaskStatus | null;
  onClose: () => void;
}): ReactNode {
  const operation = useOperation('task.move');
  const isOnline = useIsOnline();
  const [chosen, setChosen] = useState(to);
  const [reason, setReason] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const moves = movesOf(task);
  const status = chosen ?? moves[0] ?? null;
  const input = {
    ...{ task: task.task_id, status, reason: reason.trim(), run: task.run_id, expectedVersion: task.version },
  };
  const refused = !isOnline
    ? 'The line to the server is lost.'
    : status === null
      ? 'It cannot be moved.'
      : reason.trim() === ''
        ? 'Say why first.'
        : undefined;
  const move = async (): Promise<void> => {
    if (refused !== undefined || isBusy) return;
    setBusy(true);
    const verdict = await call('task.move', input);
    setBusy(false);
    refreshAll();
    if (verdict.allow) onClose();
    else setRefusal(verdict);
  };
  useKeys('Move', [{ keys: 'mod+Enter', says: 'Move', run: () => void move(), inFields: true }], { isModal: true });
  return (
    <Dialog
      title={
        <>
          Move “<Foreign text={task.title} />”
        </>
      }
      onClose={onClose}
      acts={
        <>
          <Button
            kind="primary"
            keys="mod+Enter"
            busy={isBusy && 'Moving…'}
            refused={refused}
            onPress={() => void move()}
          >
            {status === null ? 'Move' : `Move to ${statusName(status)}`}
          </Button>
          <Button onPress={onClose}>Close</Button>
          <CopyCommand command={commandOf(operation, input)} />
        </>
      }
    >
      {moves.length === 0 ? (
        <p>{statusName(task.status)} is final, or its cast works on it. Nothing can be moved by hand.</p>
      ) : (
        <fieldset className="moves">
          <legend className="quiet">From {statusName(task.status)} to</legend>
          {moves.map((each) => (
            <Button key={each} isPressed={each === status} onPress={() => setChosen(each)}>
              {statusName(each)}
            </Button>
          ))}
        </fieldset>
      )}
      {status === 'done' ? <p className="wait">No evidence is checked. The log says so, and who moved it.</p> : null}
      <AreaField label="Why?" rows={2} value={reason} onChange={setReason} />
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
    </Dialog>
  );
}
